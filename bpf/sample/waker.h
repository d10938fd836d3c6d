/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Who wakes a thread: the kernel's side of waking.h. All of it runs with that thread's lock held, and interrupts off. */
#ifndef HOSTPROF_BPF_SAMPLE_WAKER_H
#define HOSTPROF_BPF_SAMPLE_WAKER_H

#include "sample/offcpu_thread.h"
#include "sample/waking.h"

/*
 * Where the preempt count is, in bytes from `runqueues` on, among the variables that each cpu has (userspace/capture/preempt_count.h); 0: not
 * known. A __ksym would say so, too, but only where the kernel keeps the names of its data (CONFIG_KALLSYMS_ALL); and one that is not
 * there, as the variable's name changes, is searched for in all modules, which takes more rights than we ask for.
 */
const volatile wire_s64 waker_count_at;

/* TASK is woken. Its book, when that is what ends its wait; else NULL. */
static __always_inline struct wire_offcpu *waker_note(struct task_struct *task)
{
	struct wire_offcpu *thread;

	if (!sampling || !offcpu_is_followed(task))
		return NULL;
	thread = offcpu_find(task);
	if (!thread || !thread->out_ns || thread->woken_ns)
		return NULL;
	thread->woken_ns = bpf_ktime_get_ns();
	return thread;
}

static __always_inline bool waker_has_room(wire_u64 now_ns)
{
	wire_u32 one = 1;
	struct offcpu_rate *rate = bpf_map_lookup_elem(&offcpu_rates, &one);

	return rate && waking_has_room(rate, now_ns);
}

/*
 * Of the cpu on which TASK runs, by its run queue, one of the same variables. Not known, it is that of who may be in an
 * interrupt's second half.
 */
static __always_inline wire_u32 waker_preempt_count(struct task_struct *task)
{
	wire_u32 count = WAKING_SOFTIRQ;

	if (waker_count_at && bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		bpf_probe_read_kernel(&count, sizeof(count),
				      (const char *)BPF_CORE_READ(task, se.cfs_rq, rq) +
					      waker_count_at);
	return count;
}

/* Is it the current TASK itself? */
static __always_inline enum wire_waker waker_find(struct task_struct *task)
{
	return waking_kind(task->pid == 0, task->pid ? waker_preempt_count(task) : 0);
}

#endif
