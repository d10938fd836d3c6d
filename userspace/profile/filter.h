/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of a stack a view shows. Kernel frames are the leaf side of a stack, user frames the
 * root side, so both parts are ranges of the stack and nothing is copied.
 */
#ifndef HOSTPROF_PROFILE_FILTER_H
#define HOSTPROF_PROFILE_FILTER_H

#include <stdbool.h>

#include "profile/profile.h"

struct profile_filter {
	bool all_user;	 /* only what is not kernel; a thread's end marks stay */
	bool all_kernel; /* only kernel frames; both set: everything */
};

/* The part of STACK that is shown, borrowed from it; len 0 when none is: leave the sample out. */
struct profile_stack profile_filter_stack(const struct profile *p,
					  const struct profile_filter *filter,
					  struct profile_stack stack);

/*
 * The event that a view of one event shows: WANTED, or the first one when it is PROFILE_NONE.
 * PROFILE_NONE when the profile has no such event.
 */
uint32_t profile_filter_event(const struct profile *p, uint32_t wanted);

#endif
