/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of one event are in all. */
#ifndef HOSTPROF_PROFILE_EVENT_SUM_H
#define HOSTPROF_PROFILE_EVENT_SUM_H

#include "profile/profile.h"

struct event_sum {
	uint64_t samples;
	uint64_t weight;  /* in the event's unit */
	uint64_t objects; /* of events that have them */
};

/* Of the samples that P has now; nothing of an event that has none there. */
struct event_sum event_sum_of(const struct profile *p, uint32_t event);

#endif
