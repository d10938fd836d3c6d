/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Virtual threads that have left their carriers: since when, and what is to be known of it when they are back. */
#ifndef HOSTPROF_BPF_SAMPLE_YIELDS_H
#define HOSTPROF_BPF_SAMPLE_YIELDS_H

#include "sample/maps.h"

/* One that has gone for good leaves its entry to who comes next. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* WIRE_YIELDS of each event that wants them */
	__type(key, struct wire_yield_key);
	__type(value, struct wire_yield);
} yields SEC(".maps");

/* The virtual thread ID of process TGID leaves its carrier. */
static __always_inline void yield_note(enum wire_yield_use use, wire_u32 tgid, wire_u64 id,
				       const struct wire_yield *yield)
{
	struct wire_yield_key key = { .id = id, .tgid = tgid, .use = use };

	bpf_map_update_elem(&yields, &key, yield, BPF_ANY);
}

/*
 * It is back at NOW_NS. False: nobody has seen it leave. Who wants a monitor that was taken again meanwhile is gone once more, and its frames have
 * never left the heap (ThawBase::handle_preempted_continuation() in share/runtime/continuationFreezeThaw.cpp, JDK 24 on): if so, that wait begins now.
 */
static __always_inline bool yield_take(enum wire_yield_use use, wire_u32 tgid, wire_u64 id,
				       wire_u64 now_ns, struct wire_yield *ret)
{
	struct wire_yield_key key = { .id = id, .tgid = tgid, .use = use };
	struct wire_yield *yield = bpf_map_lookup_elem(&yields, &key);
	bool waits = use == WIRE_YIELD_OF_WAIT;

	if (!yield) {
		counter_add(waits ? WIRE_COUNTER_OFFCPU_VIRTUAL_UNSEEN
				  : WIRE_COUNTER_LOCK_YIELDS_UNSEEN,
			    1);
		return false;
	}
	counter_add(waits ? WIRE_COUNTER_OFFCPU_VIRTUAL : WIRE_COUNTER_LOCK_YIELDS, 1);
	*ret = *yield;
	if (yield->cause == WIRE_CAUSE_MONITOR_ENTER) {
		yield->begin_ns = now_ns;
		yield->was_back = 1;
	} else {
		bpf_map_delete_elem(&yields, &key);
	}
	return true;
}

#endif
