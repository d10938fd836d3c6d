/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Threads that left their cpu before sampling began: nobody will say that they did. A program that is shown all
 * threads tells userspace of them, and opens their books as if they had left when sampling began; what comes then is
 * as for others. Asked again at the end, it tells of long waits that chance has left out when they began, too. Their user
 * stacks are not walked here: they are no task's that runs.
 */
#ifndef HOSTPROF_BPF_SAMPLE_OFFCPU_PARKED_H
#define HOSTPROF_BPF_SAMPLE_OFFCPU_PARKED_H

#include "sample/offcpu_thread.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

struct parked_room {
	struct wire_parked parked; /* its words[] are the next member */
	wire_u64 words[WIRE_MAX_KERNEL_FRAMES];
};

#pragma clang diagnostic pop

/* One thread asks, once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct parked_room);
} parked_rooms SEC(".maps");

/* As bpf_get_current_ancestor_cgroup_id() has it. */
static __always_inline bool parked_is_in_cgroup(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp), *above = NULL;

	if (!settings.cgroup_id)
		return true;
	if (!bpf_core_field_exists(cgroup->ancestors) ||
	    settings.cgroup_level > (wire_u32)BPF_CORE_READ(cgroup, level))
		return false;
	bpf_probe_read_kernel(&above, sizeof(above), &cgroup->ancestors[0] + settings.cgroup_level);
	return BPF_CORE_READ(above, kn, id) == settings.cgroup_id;
}

/* As target_wanted() has it for the current task. One that runs tells of itself when it leaves. */
static __always_inline bool parked_is_wanted(struct task_struct *task)
{
	if (!sampling || !offcpu_is_followed(task) || task->exit_state || task->on_cpu)
		return false;
	if ((wire_u32)task->tgid == settings.self_tgid || !parked_is_in_cgroup(task))
		return false;
	return !settings.filter_tgids || target_has(task->tgid, task->group_leader->start_time);
}

static __always_inline void parked_read_regs(struct task_struct *task, struct wire_parked *parked)
{
	const void *regs = (const void *)bpf_task_pt_regs(task);

	parked->has_regs = 1;
	if (!bpf_probe_read_kernel(parked->regs, sizeof(parked->regs), regs))
		return;
	__builtin_memset(parked->regs, 0xff, sizeof(parked->regs));
	parked->has_regs = 0;
}

static __always_inline void parked_read_memory(struct task_struct *task, struct wire_parked *parked)
{
	struct mm_struct *mm = task->mm;

	parked->stack_top = parked->exec_pages = 0;
	if (!mm)
		return;
	parked->stack_top = BPF_CORE_READ(mm, start_stack);
	parked->exec_pages = BPF_CORE_READ(mm, exec_vm);
}

/* Why it waits, and where it is. */
static __noinline int parked_fill(struct task_struct *task, struct wire_parked *parked,
				  wire_u64 since_ns)
{
	struct offcpu_entry entry;

	parked->tgid = task->tgid;
	parked->tid = task->pid;
	parked->exec_id = task->self_exec_id;
	parked->since_ns = since_ns;
	parked->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	parked->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	bpf_probe_read_kernel(parked->comm, sizeof(parked->comm), task->comm);
	parked_read_regs(task, parked);
	parked_read_memory(task, parked);
	entry.first = parked->regs[WIRE_PARKED_DI];
	entry.number = parked->regs[WIRE_PARKED_ORIG_AX];
	entry.cs = parked->regs[WIRE_PARKED_CS];
	parked->state = offcpu_state(false, task->__state);
	parked->cause = offcpu_find_cause(task, parked->state, &entry);
	return 0;
}

static __always_inline wire_u32 parked_read_stack(struct task_struct *task,
						  struct parked_room *room)
{
	long bytes = 0;

	if (!settings.exclude_kernel)
		bytes = bpf_get_task_stack(task, room->words, sizeof(room->words), 0);
	return bytes > 0 ? bytes : 0;
}

/*
 * As offcpu_leave() does it. It may be back already: its book is there (BPF_NOEXIST), or is not true and goes. One that comes
 * back just now finds the book, or is noticed when it leaves again (offcpu_return_late()).
 */
static __noinline int parked_note(struct task_struct *task, const struct wire_parked *parked)
{
	struct wire_offcpu fresh = { .start_ns = task->start_time,
				     .out_ns = parked->since_ns,
				     .run_ns = task->se.sum_exec_runtime,
				     .fate = WIRE_OFFCPU_SENT,
				     .state = parked->state,
				     .cause = parked->cause };
	wire_u32 tid = task->pid;

	if (bpf_map_update_elem(&offcpu_threads, &tid, &fresh, BPF_NOEXIST))
		return 0;
	if (task->on_cpu)
		bpf_map_delete_elem(&offcpu_threads, &tid);
	return 0;
}

/* Its stack is wanted now, whatever chance has said when it left. */
static __always_inline void parked_take(struct wire_offcpu *thread, wire_u64 since_ns)
{
	if (thread->out_ns != since_ns)
		return;
	thread->halved = 0;
	thread->fate = WIRE_OFFCPU_SENT;
}

/* Of a long wait that was not walked, when it began; 0: there is none. */
static __always_inline wire_u64 parked_unseen_since(const struct wire_offcpu *thread)
{
	wire_u64 out_ns = thread->out_ns;

	if (!out_ns || thread->fate != WIRE_OFFCPU_THINNED ||
	    offcpu_length(out_ns, bpf_ktime_get_ns()) < offcpu_step_ns)
		return 0;
	return out_ns;
}

/* What does not fit into what is read at once is shown again (bpf_seq_read() in kernel/bpf/bpf_iter.c). */
static __noinline int parked_tell(struct task_struct *task, struct seq_file *seq)
{
	wire_u32 zero = 0, bytes;
	struct parked_room *room = bpf_map_lookup_elem(&parked_rooms, &zero);
	struct wire_offcpu *thread = offcpu_find(task);
	wire_u64 since_ns = thread ? parked_unseen_since(thread) : sampling_since_ns;

	if (!room || !since_ns || (!thread && task->start_time >= since_ns))
		return 0;
	parked_fill(task, &room->parked, since_ns);
	bytes = parked_read_stack(task, room);
	UNWIND_OPAQUE(bytes);
	if (bytes > sizeof(room->words))
		return 0;
	room->parked.kernel_frames = bytes / sizeof(room->words[0]);
	bytes += sizeof(room->parked);
	room->parked.size = bytes;
	if (bpf_seq_write(seq, room, bytes))
		return 0;
	if (thread)
		parked_take(thread, since_ns);
	else
		parked_note(task, &room->parked);
	return 0;
}

#endif
