/* SPDX-License-Identifier: Apache-2.0 */
/* What -e names: parsing "cpu", "cycles", "page-faults", … into a perf event. */
#ifndef HOSTPROF_CAPTURE_EVENT_H
#define HOSTPROF_CAPTURE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CAPTURE_MAX_FREQ_HZ 20000

struct capture_event {
	char name[32]; /* as typed: "cpu" */
	char unit[16]; /* of the weight: "nanoseconds" or "count" */
	uint32_t type; /* perf_event_attr.type */
	uint64_t config;
	uint64_t period;  /* fixed period in the event's unit; 0: by frequency */
	uint32_t freq_hz; /* what was asked for; of use with period 0 */
	bool fell_back;	  /* a PMU event was asked for and there is no PMU: this is cpu-clock */
};

/*
 * One event by name, sampled FREQ_HZ times a second. "cpu" is cpu-clock with a fixed period of
 * 1e9 / FREQ_HZ ns; what the kernel counts itself (page-faults, …) has a fixed period too, whatever
 * FREQ_HZ is. A hardware event where there is no PMU becomes cpu-clock with fell_back set
 * (the caller says so). -EINVAL names the known events.
 */
int capture_event_parse(const char *name, uint32_t freq_hz, struct capture_event *ret_event,
			struct err *err);

/* cpu-clock or task-clock: a timer of fixed period, weights in ns. */
bool capture_event_is_clock(const struct capture_event *event);

/* Is there a hardware PMU for cycles, cache-misses, rNNN, …? Many virtual machines have none. */
bool capture_has_pmu(void);

#endif
