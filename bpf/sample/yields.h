/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Virtual threads that have left their carriers: since when, and what is to be known of it when they are back. */
#ifndef HOSTPROF_BPF_SAMPLE_YIELDS_H
#define HOSTPROF_BPF_SAMPLE_YIELDS_H

/* On the host a test has declared all of this, counters and helpers. */
#ifdef __bpf__

#include "sample/maps.h"

/* One that has gone for good leaves its entry to who comes next. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* WIRE_YIELDS of each event that wants them */
	__type(key, struct wire_yield_key);
	__type(value, struct wire_yield);
} yields SEC(".maps");

/*
 * The JVMs whose virtual threads' waits are seen, by tgid: since when nobody has left its carrier unseen. Who comes back of whom
 * nobody knows has been without one since before that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_JVMS);
	__type(key, wire_u32);
	__type(value, wire_u64);
} yields_since SEC(".maps");

/* Entries, or more: one that made room is not subtracted. */
wire_u64 yields_inside;
/* With no more entries than this none has ever made room. */
const volatile wire_u64 yields_sure;
/* There were more. */
bool yields_made_room;

#endif

/* In process TGID somebody may have left its carrier of whom nothing is noted. When sampling has ended that changes nothing. */
static __always_inline void yields_missed(wire_u32 tgid)
{
	wire_u64 *since_ns = bpf_map_lookup_elem(&yields_since, &tgid);

	if (since_ns && sampling)
		*since_ns = bpf_ktime_get_ns();
}

/* Since when somebody has waited in process TGID who was never seen to leave, 0: nobody knows. */
static __always_inline wire_u64 yields_unseen_since(wire_u32 tgid)
{
	wire_u64 *since_ns = bpf_map_lookup_elem(&yields_since, &tgid);

	if (!since_ns || yields_made_room)
		return 0;
	return *since_ns > sampling_since_ns ? *since_ns : sampling_since_ns;
}

static __always_inline void yields_count(wire_s64 more)
{
	if (__sync_fetch_and_add(&yields_inside, more) + more > yields_sure)
		yields_made_room = true;
}

/* The virtual thread ID of process TGID leaves its carrier. */
static __always_inline void yield_note(enum wire_yield_use use, wire_u32 tgid, wire_u64 id,
				       const struct wire_yield *yield)
{
	struct wire_yield_key key = { .id = id, .tgid = tgid, .use = use };

	if (!bpf_map_update_elem(&yields, &key, yield, BPF_NOEXIST))
		yields_count(1);
	else if (bpf_map_update_elem(&yields, &key, yield, BPF_ANY))
		yields_missed(tgid);
}

/*
 * -e offcpu, wall: who comes back by KEY at NOW_NS has waited since before it was followed, and maybe for a monitor (below). False: nobody knows
 * since when.
 */
static __always_inline bool yield_is_older(const struct wire_yield_key *key, wire_u64 now_ns,
					   struct wire_yield *ret)
{
	struct wire_yield older = {}, again = { .begin_ns = now_ns,
						.cause = WIRE_CAUSE_MONITOR_ENTER,
						.was_back = 1 };

	if (key->use == WIRE_YIELD_OF_WAIT)
		older.begin_ns = yields_unseen_since(key->tgid);
	*ret = older;
	if (older.begin_ns)
		yield_note(key->use, key->tgid, key->id, &again);
	return older.begin_ns;
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

	if (!yield && !yield_is_older(&key, now_ns, ret)) {
		counter_add(waits ? WIRE_COUNTER_OFFCPU_VIRTUAL_UNSEEN
				  : WIRE_COUNTER_LOCK_YIELDS_UNSEEN,
			    1);
		return false;
	}
	counter_add(waits ? WIRE_COUNTER_OFFCPU_VIRTUAL : WIRE_COUNTER_LOCK_YIELDS, 1);
	if (!yield)
		return true;
	*ret = *yield;
	if (yield->cause == WIRE_CAUSE_MONITOR_ENTER) {
		yield->begin_ns = now_ns;
		yield->was_back = 1;
	} else if (!bpf_map_delete_elem(&yields, &key)) {
		yields_count(-1);
	}
	return true;
}

#endif
