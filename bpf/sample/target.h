/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Which processes are sampled. A target is a pid and, once known, its start time, so that a pid
 * that is used again is not taken for it; it stays one until its task is freed, since a process
 * burns CPU time while it exits.
 */
#ifndef HOSTPROF_BPF_SAMPLE_TARGET_H
#define HOSTPROF_BPF_SAMPLE_TARGET_H

/* On the host a test has declared settings, targets, the kernel's structs and helpers. */
#ifdef __bpf__
#include "sample/maps.h"
#endif

/* Is what a map has of a pid this process's? KNOWN: its start time, 0 until it is first seen. */
static __always_inline bool target_is_same(wire_u64 *known, wire_u64 start_ns)
{
	if (*known == 0)
		*known = start_ns;
	return *known == start_ns;
}

static __always_inline bool target_has(wire_u32 tgid, wire_u64 start_ns)
{
	wire_u64 *known = bpf_map_lookup_elem(&targets, &tgid);

	return known && target_is_same(known, start_ns);
}

static __always_inline void target_fork(struct task_struct *parent, wire_u32 tgid,
					wire_u64 start_ns)
{
	if (target_has(parent->tgid, parent->group_leader->start_time))
		bpf_map_update_elem(&targets, &tgid, &start_ns, BPF_ANY);
}

static __always_inline void target_forget(wire_u32 tgid, wire_u64 start_ns)
{
	wire_u64 *known = bpf_map_lookup_elem(&targets, &tgid);

	if (known && (*known == 0 || *known == start_ns))
		bpf_map_delete_elem(&targets, &tgid);
}

/* Is this task asked for? */
static __always_inline bool target_wanted(struct task_struct *task)
{
	if (task->pid == 0)
		return settings.include_idle;
	if ((wire_u32)task->tgid == settings.self_tgid)
		return false;
	if (settings.cgroup_id &&
	    bpf_get_current_ancestor_cgroup_id(settings.cgroup_level) != settings.cgroup_id)
		return false;
	return !settings.filter_tgids || target_has(task->tgid, task->group_leader->start_time);
}

/* Is the current process the one that COOKIE says? A breakpoint is the cpu's: others have other things at its address. */
static __always_inline bool target_is_meant(wire_u64 cookie)
{
	wire_u32 tgid = WIRE_COOKIE_TGID(cookie);

	return !tgid || tgid == bpf_get_current_pid_tgid() >> 32;
}

/* And what it did then? IN_USER: it ran user code. */
static __always_inline bool target_mode_wanted(struct task_struct *task, bool in_user)
{
	return task->pid == 0 || !(in_user ? settings.exclude_user : settings.exclude_kernel);
}

/* And where? Asked when the sample's weight is known: a thread's clock goes on, on whichever cpu it is. */
static __always_inline bool target_cpu_wanted(void)
{
	wire_u32 cpu = bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1);

	return !settings.filter_cpus || (cpus_wanted[cpu / 64] >> cpu % 64 & 1);
}

#endif
