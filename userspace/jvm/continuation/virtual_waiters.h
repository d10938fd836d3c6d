/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a JVM's virtual threads wait without a carrier, and what for, as their objects say. */
#ifndef HOSTPROF_JVM_CONTINUATION_VIRTUAL_WAITERS_H
#define HOSTPROF_JVM_CONTINUATION_VIRTUAL_WAITERS_H

#include <stdbool.h>

#include "base/vec.h"
#include "jvm/continuation/virtual_layout.h"
#include "wire.h"

/* A thread's object reaches no farther, in any JVM that is understood. */
#define VIRTUAL_OBJECT_BYTES 512

/* Addresses of objects; 0: null. */
struct virtual_waiter {
	uint32_t place; /* by which the reader's caller orders them */
	uint64_t object, cont, name;
	uint64_t id;
	enum wire_cause
		cause; /* WIRE_CAUSE_PARK, or WIRE_CAUSE_MONITOR_ENTER, also of Object.wait() */
};

struct virtual_waiters {
	VEC(struct virtual_waiter) items;
	uint32_t chance; /* one of so many was looked at */
	uint32_t pauses; /* of the heap (heap_pause.h), while all of this was read */
};

/* How many bytes of an object virtual_waiter_take() wants. */
uint32_t virtual_waiter_bytes(const struct virtual_layout *layout);

/* The one whose object, at ADDRESS, has these bytes. False: it is no virtual thread, or does not wait without a carrier. */
bool virtual_waiter_take(const struct virtual_layout *layout, uint64_t address,
			 const uint8_t *object, struct virtual_waiter *ret);

/*
 * WAITERS are replaced. DRAW and errors are as virtual_list_read() has them, and what came until then is there with -E2BIG and -ETIMEDOUT; -EAGAIN: something moved
 * meanwhile.
 */
int virtual_waiters_find(const struct virtual_layout *layout, uint32_t draw, uint64_t deadline_ns,
			 struct virtual_waiters *waiters);

#endif
