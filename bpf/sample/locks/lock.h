/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Waits for Java monitors, as the agent tells of them when they have ended (jvmagent/locks.h). */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_H

#include "wire.h"

/* Thirteen days, and of so many waits one is told: what is multiplied stays within 64 bits, whatever a process says. */
#define LOCK_MOST_NS	 (1ULL << 50)
#define LOCK_MOST_CHANCE 1024
/* Samples are in order when they come no later than that. */
#define LOCK_TOLD_NS 100000000ULL

/* As hostprof_lock() is told it. */
struct lock_call {
	wire_u64 class_id, length_ns, chance, identity, kind;
};

/* enum locks_kind of jvmagent/locks.h; WIRE_CAUSE_NONE: there is none such. */
static inline enum wire_cause lock_cause(wire_u64 kind)
{
	if (kind == 0)
		return WIRE_CAUSE_MONITOR_ENTER;
	return kind == 1 ? WIRE_CAUSE_OBJECT_WAIT : WIRE_CAUSE_NONE;
}

/*
 * When the wait was over that began at BEGIN_NS, of which is told at NOW_NS: the agent has a little to do in between, for which its own lock
 * may be waited for. NOW_NS, where it is not to be believed.
 */
static inline wire_u64 lock_end_ns(const struct lock_call *call, wire_u64 begin_ns, wire_u64 now_ns)
{
	wire_u64 end_ns = begin_ns + call->length_ns;

	return begin_ns && end_ns >= begin_ns && end_ns <= now_ns && now_ns - end_ns < LOCK_TOLD_NS
		       ? end_ns
		       : now_ns;
}

/* Is it one that the agent may have made? */
static inline bool lock_is_valid(const struct lock_call *call)
{
	return call->length_ns && call->length_ns <= LOCK_MOST_NS && call->chance &&
	       call->chance <= LOCK_MOST_CHANCE && lock_cause(call->kind) != WIRE_CAUSE_NONE;
}

#endif
