/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The JVMs that tell what they do for themselves, as far as they are known. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_PHASE_JVM_H
#define HOSTPROF_BPF_SAMPLE_PHASES_PHASE_JVM_H

#include "sample/target.h"

/* By tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_JVMS);
	__type(key, wire_u32);
	__type(value, struct wire_phases);
} phase_jvms SEC(".maps");

/* NULL: it is not known, or is another process by now. */
static __always_inline struct wire_phases *phase_find_jvm(struct task_struct *task)
{
	wire_u64 start_ns = task->group_leader->start_time;
	wire_u32 tgid = task->tgid;
	struct wire_phases *jvm = bpf_map_lookup_elem(&phase_jvms, &tgid);

	return jvm && target_is_same(&jvm->start_ns, start_ns) ? jvm : NULL;
}

#endif
