/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A process by its pid, though it does not run now: the kernel's ring of all processes (task_struct.tasks, which for_each_process() of
 * include/linux/sched/signal.h goes around) is gone around from that of the caller, who holds the RCU lock.
 */
#ifndef HOSTPROF_BPF_KERNEL_PROCESS_LIST_H
#define HOSTPROF_BPF_KERNEL_PROCESS_LIST_H

#include "wire.h"

/* A host of more is not gone around: nothing else runs on the cpu meanwhile. */
#define PROCESS_LIST_MOST 16384

struct process_search {
	struct task_struct *begin, *at;
	wire_u32 tgid;
	bool found;
};

static long process_list_step(wire_u32 i, struct process_search *search)
{
	struct task_struct *task = search->at;
	void *next = BPF_CORE_READ(task, tasks.next);

	(void)i;
	if (!next)
		return 1;
	task = next - bpf_core_field_offset(struct task_struct, tasks);
	search->at = task;
	search->found = (wire_u32)BPF_CORE_READ(task, tgid) == search->tgid;
	return search->found || task == search->begin;
}

/* Its first thread; NULL: there is none, or it is not found. */
static __always_inline struct task_struct *process_list_find(wire_u32 tgid)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct process_search search = { .tgid = tgid };

	search.begin = search.at = BPF_CORE_READ(current, group_leader);
	bpf_loop(PROCESS_LIST_MOST, process_list_step, &search, 0);
	return search.found ? search.at : NULL;
}

#endif
