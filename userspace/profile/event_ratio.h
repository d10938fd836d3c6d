/* SPDX-License-Identifier: Apache-2.0 */
/* What two hardware events of one recording say together: instructions per cycle, misses per load. */
#ifndef HOSTPROF_PROFILE_EVENT_RATIO_H
#define HOSTPROF_PROFILE_EVENT_RATIO_H

#include "base/strbuf.h"
#include "profile/profile.h"

/*
 * Call FN for each pair that has one, by the sums of their weights in P: "1.25 instructions per cycle", "4.21 % of cache-references are
 * cache-misses", "0.83 LLC-load-misses per 1,000 instructions". Nothing of what counts time, as an event does that was asked for and is
 * sampled by the clock.
 */
void event_ratios_for_each(const struct profile *p, void (*fn)(const char *sentence, void *data),
			   void *data);

#endif
