/* SPDX-License-Identifier: Apache-2.0 */
/* "cpu/event=0x3c,umask=0x1/" and "cpu/mem-loads/": events of a PMU, by what it says of itself in sysfs. */
#ifndef HOSTPROF_CAPTURE_EVENTS_PMU_EVENT_H
#define HOSTPROF_CAPTURE_EVENTS_PMU_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/events/pmu_field.h"

struct pmu_event {
	uint32_t type; /* perf_event_attr's */
	uint64_t configs[PMU_CONFIGS];
	uint64_t period; /* as a term says it; 0: none does */
};

/* Is there a slash, as in no other event's name? */
bool pmu_event_is_name(const char *name);

/*
 * NAME is "PMU/TERM,…/": FIELD=VALUE, FIELD (1), the name of an event of this PMU, config=, config1=, config2= or period=. -EINVAL: it
 * is of another form, a value has no room in its field, or the PMU has neither such a field nor such an event; -ENOENT: no such PMU.
 */
int pmu_event_parse(const char *name, struct pmu_event *ret_event, struct err *err);

/* Call FN for "PMU/NAME/" of each event that PMUs of this machine name. */
void pmu_event_for_each(void (*fn)(const char *name, void *data), void *data);

#endif
