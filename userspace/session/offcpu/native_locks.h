/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -e nativelock: of the waits for a futex those for a mutex or a read-write lock. Which one a futex is of the names of frames tell, so that
 * all of them come, and the others are left out when their frames have names.
 */
#ifndef HOSTPROF_SESSION_NATIVE_LOCKS_H
#define HOSTPROF_SESSION_NATIVE_LOCKS_H

#include "profile/profile.h"
#include "wire.h"

struct native_locks {
	uint64_t others[WIRE_CAUSE_COUNT]; /* samples that were left out, by what they are of */
};

/* Is SAMPLE, whose frames are STACK, one of a lock? If not, it is counted. */
bool native_locks_want(struct native_locks *locks, const struct profile *profile,
		       const struct wire_sample *sample, uint32_t stack);

/* FN is told of each reason for which samples were left out. */
void native_locks_for_each(const struct native_locks *locks,
			   void (*fn)(const char *reason, uint64_t samples, void *data),
			   void *data);

#endif
