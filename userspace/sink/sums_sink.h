/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of each event over a whole run, for who does not read the recording back. */
#ifndef HOSTPROF_SINK_SUMS_SINK_H
#define HOSTPROF_SINK_SUMS_SINK_H

#include "base/vec.h"
#include "profile/event_sum.h"
#include "profile/sink.h"

struct event_sums_row {
	char *name, *unit; /* owned */
	struct event_sum sum;
};

/* In the order of the profile's events. Zero-initialised: none yet. */
struct event_sums {
	VEC(struct event_sums_row) rows;
};

void event_sums_release(struct event_sums *sums);

/* Add the samples that P has now. */
void event_sums_add(struct event_sums *sums, const struct profile *p);

/* SUMS is borrowed for as long as the sink is used; it stands before a sink that takes the samples. */
struct sink sums_sink(struct event_sums *sums);

#endif
