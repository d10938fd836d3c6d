/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait without a carrier when a recording ends: nobody will say how long they have. What is known of each becomes a sample as of one
 * that has come back just then, and a miss with its frames from the heap, for the unwinder to walk.
 */
#ifndef HOSTPROF_SESSION_UNMOUNTED_H
#define HOSTPROF_SESSION_UNMOUNTED_H

#include "base/vec.h"
#include "capture/capture.h"
#include "jvm/continuation/virtual_parked.h"
#include "process/process.h"
#include "session/probes/virtual_yields.h"
#include "wire.h"

/* One of them, as it was found. */
struct unmounted_wait {
	struct wire_sample *sample; /* owned; without its length */
	struct wire_miss *miss;	    /* owned; NULL: it was told */
	uint64_t begin_ns;
	double stands_for; /* so many */
};

struct unmounted {
	VEC(struct unmounted_wait) waits;
	uint64_t not_listed; /* JVMs of which not all could be read */
	int error;	     /* why; the first one */
	/* How many the samples stand for, and of those whom capture_sum_unmounted() has how many, and for how long they wait. */
	double told, counted, counted_ns;
	struct capture_unmounted all; /* those at the end */
};

/* What was told of them stays. */
void unmounted_release(struct unmounted *unmounted);

/* Of the process that samples know as OF; it waits since BEGIN_NS. */
void unmounted_put(struct unmounted *unmounted, const struct process *process,
		   const struct wire_process *of, const struct virtual_parked *parked,
		   double stands_for, uint64_t begin_ns);

/* Sampling ends in a moment: who waits in the JVMs that YIELDS has is read. */
void unmounted_look(struct unmounted *unmounted, struct capture *capture,
		    const struct virtual_yields *yields);

/*
 * Sampling has ended at END_NS, and all that is in the rings was taken out: who was read, and is not back, has waited until then. FN is told of each that EVENT, the INDEX-th, wants; SAMPLE is
 * borrowed, MISS the callee's.
 */
void unmounted_end(struct unmounted *unmounted, const struct capture *capture,
		   const struct capture_event *event, uint8_t index, uint64_t end_ns,
		   void (*fn)(const struct wire_sample *sample, struct wire_miss *miss, void *data),
		   void *data);

#endif
