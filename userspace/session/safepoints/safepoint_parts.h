/* SPDX-License-Identifier: Apache-2.0 */
/* A safepoint's sample is up to three of a profile. */
#ifndef HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PARTS_H
#define HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PARTS_H

#include "profile/profile.h"
#include "wire.h"

/*
 * Adds WHOLE, which is SAMPLE's, to P: its operation, which counts, and what it took until the threads had stopped, and until they went on
 * again, each with the time of its end.
 */
void safepoint_parts_add(struct profile *p, const struct wire_sample *sample,
			 const struct profile_sample *whole);

#endif
