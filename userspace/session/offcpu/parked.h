/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that were off the cpus when sampling began: what is known of each becomes an open sample, as if it had left
 * just then, and a miss with its stack, for the unwinder to walk. Stacks are read one by one, when there is time.
 */
#ifndef HOSTPROF_SESSION_PARKED_H
#define HOSTPROF_SESSION_PARKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire.h"

struct parked {
	VEC(struct wire_parked *) threads; /* owned, from `next` on */
	size_t next;			   /* who was not taken yet */
	uint64_t gone;			   /* who was back before his stack was read */
	int error;			   /* why not all are known; the first one */
};

void parked_release(struct parked *parked);

/* A copy. */
void parked_put(struct parked *parked, const struct wire_parked *thread);
bool parked_is_left(const struct parked *parked);
/* The caller's; NULL: that were all. */
struct wire_parked *parked_take(struct parked *parked);

/* What is asked of the recording. */
struct parked_wanted {
	uint8_t event;
	bool exclude_user;
};

/*
 * The sample of THREAD with its kernel frames (malloc'd); its reason says why it has no user frames, UNWIND_NO_ROWS: they
 * are to be walked.
 */
struct wire_sample *parked_sample(const struct wire_parked *thread,
				  const struct parked_wanted *wanted);
/* What walks begin with, and as much of the stack as there is now (malloc'd). Whether the thread has run since then the caller knows. */
struct wire_miss *parked_miss(const struct wire_parked *thread);

#endif
