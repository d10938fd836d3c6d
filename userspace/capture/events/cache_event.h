/* SPDX-License-Identifier: Apache-2.0 */
/* Caches' events by the names that perf gives them: L1-dcache-load-misses, LLC-loads, … */
#ifndef HOSTPROF_CAPTURE_EVENTS_CACHE_EVENT_H
#define HOSTPROF_CAPTURE_EVENTS_CACHE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct cache_event {
	char name[32];
	uint64_t config; /* of a perf event of PERF_TYPE_HW_CACHE */
};

/* Event NUMBER, from 0 on; false: there are no more. */
bool cache_event_get(unsigned int number, struct cache_event *ret_event);

/* -EINVAL: NAME is none of them. Capitals and small letters are one. */
int cache_event_parse(const char *name, uint64_t *ret_config);

#endif
