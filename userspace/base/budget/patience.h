/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much longer than usual calls of one thread may take, one after the other. The event loop waits for a broker that is in a process's
 * memory: who changes what is mapped has that locked, and may lose its cpu then. On a host with 17 busy JVMs on 2 cpus a read waits 20 to
 * 90 ms for it, some times in a minute. That is nobody's fault; but who is always that slow has only so much of the loop's time, of which
 * there is a store for all together.
 */
#ifndef HOSTPROF_BASE_BUDGET_PATIENCE_H
#define HOSTPROF_BASE_BUDGET_PATIENCE_H

#include <stdint.h>

/* Of one call; what is saved at most; and of how much time one such nanosecond comes. */
#define PATIENCE_CALL_NS  125000000ULL
#define PATIENCE_STORE_NS 300000000ULL
#define PATIENCE_PART	  20

/* All 0 is full. */
struct patience {
	uint64_t spent_ns; /* of the store, at BEGAN_NS */
	uint64_t began_ns; /* of the last call */
};

/* How much longer than usual the call may take that begins at NOW_NS. */
uint64_t patience_begin(struct patience *patience, uint64_t now_ns);
/* It has ended; usual are USUAL_NS. */
void patience_end(struct patience *patience, uint64_t now_ns, uint64_t usual_ns);

#endif
