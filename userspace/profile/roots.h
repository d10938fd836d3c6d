/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what whole stacks begin with plausible? A check of the unwinder's word: the names of a process's
 * outermost frames, and which of them a thread can begin with. What is missing in the midst of a stack
 * it does not see, and of frames without a name only whether they are a file's code.
 */
#ifndef HOSTPROF_PROFILE_ROOTS_H
#define HOSTPROF_PROFILE_ROOTS_H

#include "profile/profile.h"

struct root_sum {
	uint64_t
		stacks; /* samples whose stack has user frames and no "[unwind: reason]" at its root */
	uint64_t starts; /* of these, such that begin with what a thread can begin with */
};

/* Of each event and process. */
struct profile_roots {
	struct root_sum *sums; /* owned */
	uint32_t events, processes;
};

void profile_roots_init(struct profile_roots *roots, const struct profile *p);
void profile_roots_release(struct profile_roots *roots);
struct root_sum profile_roots_get(const struct profile_roots *roots, uint32_t event,
				  uint32_t process);

#endif
