/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs says of a PMU: its number, and where its fields lie in perf_event_attr.config, config1 and config2. */
#ifndef HOSTPROF_CAPTURE_EVENTS_PMU_FIELD_H
#define HOSTPROF_CAPTURE_EVENTS_PMU_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define PMU_SYSFS   "/sys/bus/event_source/devices"
#define PMU_CONFIGS 3

struct pmu_field {
	unsigned int config; /* 0: config, 1: config1, 2: config2 */
	uint64_t mask;	     /* its bits there; the value's lowest in the lowest */
};

/* Letters, digits and "_.-": nothing that leads elsewhere in sysfs. */
bool pmu_is_word(const char *text);

/* The file NAME of PMU's folder, up to 4 KiB; a negative errno. */
int pmu_read(const char *pmu, const char *name, struct strbuf *out);

/* perf_event_attr's type of PMU; -ENOENT: there is no such. */
int pmu_type(const char *pmu, uint32_t *ret_type);

/* -ENOENT: PMU has no such field; -EBADMSG: its format is no known one. */
int pmu_field_find(const char *pmu, const char *name, struct pmu_field *ret_field);

/* "config:0-7,32-35", "config1:3": what a file of PMU's folder `format` says. -EBADMSG: it is none. */
int pmu_field_parse(const char *text, struct pmu_field *ret_field);

/* The highest value that FIELD has room for. */
uint64_t pmu_field_limit(const struct pmu_field *field);

/* VALUE, up to that, takes the place of what FIELD has in CONFIGS. */
void pmu_field_put(const struct pmu_field *field, uint64_t value, uint64_t configs[PMU_CONFIGS]);

#endif
