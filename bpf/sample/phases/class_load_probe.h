/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of class_load.h. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_PROBE_H
#define HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_PROBE_H

#include "sample/phases/class_load.h"
#include "sample/trigger.h"

/* Of all classes that are loaded on a cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} class_load_paces SEC(".maps");

/* False: nothing is to be told. */
static __always_inline bool class_load_fill(struct trigger *trigger, struct class_load_seen *seen)
{
	wire_u32 zero = 0;
	struct wire_pace *pace = bpf_map_lookup_elem(&class_load_paces, &zero);

	trigger->time_ns = bpf_ktime_get_ns();
	seen->chance = pace ? class_load_chance(pace, trigger->time_ns, bpf_get_prandom_u32()) : 1;
	trigger->weight = seen->chance;
	trigger->class_load = seen;
	return seen->chance;
}

#endif
