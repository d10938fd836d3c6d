/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Misses that wait for the sample they belong to. It is the next record of the same ring, but a
 * drain may end between the two.
 */
#ifndef HOSTPROF_UNWIND_MISS_JOIN_H
#define HOSTPROF_UNWIND_MISS_JOIN_H

#include <stdint.h>

#include "base/vec.h"
#include "wire.h"

struct miss_join {
	VEC(struct wire_miss *) waiting; /* owned; in order of arrival */
	size_t bytes;			 /* of these */
	uint64_t orphans;		 /* misses whose sample never came */
};

void miss_join_release(struct miss_join *join);

/* Keeps a copy. */
void miss_join_put(struct miss_join *join, const struct wire_miss *miss);
/* The miss of SAMPLE, which is marked WIRE_SAMPLE_RESUMED; the caller's. NULL: it was lost. */
struct wire_miss *miss_join_take(struct miss_join *join, const struct wire_sample *sample);
/* Drop those from before TIME_NS: their samples are lost. */
void miss_join_expire(struct miss_join *join, uint64_t time_ns);

#endif
