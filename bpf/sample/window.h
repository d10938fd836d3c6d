/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * --begin, --end: what a process does counts from when it has come to one function until it comes to another one. A sample whose
 * weight is what its thread ran since the last one is weighed before this is asked: time outside of the window is nobody's.
 */
#ifndef HOSTPROF_BPF_SAMPLE_WINDOW_H
#define HOSTPROF_BPF_SAMPLE_WINDOW_H

#include "wire.h"

/* Of a process that has come to either function. */
struct window {
	wire_u64 start_ns; /* the process's; another one of its pid has another */
	wire_u64 is_open;
};

/* KNOWN: what there is of the pid, NULL: nothing. Without a function for its begin the window is open from the start. */
static inline bool window_is_open(const struct window *known, wire_u64 start_ns, bool has_begin)
{
	if (!known || known->start_ns != start_ns)
		return !has_begin;
	return known->is_open;
}

#ifdef __bpf__

#include "sample/target.h"

const volatile bool window_has_begin;
const volatile bool window_has_end;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_TARGETS);
	__type(key, wire_u32);
	__type(value, struct window);
} windows SEC(".maps");

static __always_inline bool window_wanted(struct task_struct *task)
{
	wire_u32 tgid = task->tgid;

	if (!window_has_begin && !window_has_end)
		return true;
	return window_is_open(bpf_map_lookup_elem(&windows, &tgid),
			      BPF_CORE_READ(task, group_leader, start_time), window_has_begin);
}

/* The current process has come to the function that does that. */
static __always_inline void window_set(bool opens)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct window window = { .is_open = opens };
	wire_u32 tgid = task->tgid;

	if (!sampling || !target_wanted(task))
		return;
	window.start_ns = BPF_CORE_READ(task, group_leader, start_time);
	bpf_map_update_elem(&windows, &tgid, &window, BPF_ANY);
}

static __always_inline void window_forget(wire_u32 tgid, wire_u64 start_ns)
{
	struct window *window;

	if (!window_has_begin && !window_has_end)
		return;
	window = bpf_map_lookup_elem(&windows, &tgid);
	if (window && window->start_ns == start_ns)
		bpf_map_delete_elem(&windows, &tgid);
}

#endif
#endif
