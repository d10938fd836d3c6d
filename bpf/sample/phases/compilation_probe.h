/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of compilation.h: CompileBroker::invoke_compiler_on_method() has a probe at its begin and one at its end, in builds for Linux from JDK 11 on. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_PROBE_H
#define HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_PROBE_H

#include "sample/locks/park.h"
#include "sample/phases/compilation.h"
#include "sample/phases/phase_jvm.h"
#include "sample/thin.h"
#include "sample/trigger.h"

/* Shorter ones are not wanted. */
const volatile wire_u64 jit_least_ns;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct compilation_book);
} compilation_books SEC(".maps");

/* Of all compiler threads of a cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} jit_paces SEC(".maps");

/* A thread leaves its cpu, and another one is back. */
static __always_inline void compilation_switch(struct task_struct *from, struct task_struct *to)
{
	wire_u64 now_ns = bpf_ktime_get_ns();
	struct compilation_book *book = bpf_task_storage_get(&compilation_books, from, 0, 0);

	if (book)
		compilation_leave(book, now_ns);
	book = bpf_task_storage_get(&compilation_books, to, 0, 0);
	if (book)
		compilation_return(book, now_ns);
}

/* Of how many such it is one; 0: it is left out. */
static __always_inline wire_u32 compilation_chance(wire_u64 length_ns, wire_u64 now_ns)
{
	wire_u32 zero = 0;
	struct wire_pace *pace = bpf_map_lookup_elem(&jit_paces, &zero);

	return pace ? park_choose(pace, length_ns, now_ns, bpf_get_prandom_u32()) : 1;
}

/* False: nothing is to be told. */
static __always_inline bool compilation_fill(struct trigger *trigger, struct compilation_seen *seen)
{
	struct compilation_book *book =
		bpf_task_storage_get(&compilation_books, trigger->task, 0, 0);
	wire_u64 length_ns;

	if (!book)
		return false;
	trigger->time_ns = bpf_ktime_get_ns();
	length_ns = compilation_end(book, trigger->time_ns, &seen->run_ns);
	if (!length_ns || length_ns < jit_least_ns)
		return false;
	seen->chance = compilation_chance(length_ns, trigger->time_ns);
	trigger->weight = length_ns * seen->chance;
	seen->jvm = phase_find_jvm(trigger->task);
	trigger->compilation = seen;
	return seen->chance;
}

static __always_inline void compilation_note_begin(struct task_struct *task)
{
	struct compilation_book *book =
		bpf_task_storage_get(&compilation_books, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (book)
		compilation_begin(book, bpf_ktime_get_ns());
}

#endif
