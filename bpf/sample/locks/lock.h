/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Waits for Java monitors, as the agent tells of them when they have ended (jvmagent/locks.h). */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_H

#include "wire.h"

/* Thirteen days, and of so many waits one is told: what is multiplied stays within 64 bits, whatever a process says. */
#define LOCK_MOST_NS	 (1ULL << 50)
#define LOCK_MOST_CHANCE 1024

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

/* Is it one that the agent may have made? */
static inline bool lock_is_valid(const struct lock_call *call)
{
	return call->length_ns && call->length_ns <= LOCK_MOST_NS && call->chance &&
	       call->chance <= LOCK_MOST_CHANCE && lock_cause(call->kind) != WIRE_CAUSE_NONE;
}

#endif
