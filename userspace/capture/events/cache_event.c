// SPDX-License-Identifier: Apache-2.0
/* Names as `perf list` prints them; numbers by linux/perf_event.h, "Generalized hardware cache events". */
#include "capture/events/cache_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

#define LOAD	 (1U << PERF_COUNT_HW_CACHE_OP_READ)
#define STORE	 (1U << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1U << PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* Code is not written, and what translates or predicts for it not prefetched either. */
static const struct {
	const char *name;
	uint8_t id;
	uint8_t ops;
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, LOAD | STORE | PREFETCH },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, LOAD | PREFETCH },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, LOAD | STORE | PREFETCH },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, LOAD | STORE | PREFETCH },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, LOAD },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, LOAD },
	{ "node", PERF_COUNT_HW_CACHE_NODE, LOAD | STORE | PREFETCH },
};

static const struct {
	const char *accesses, *misses;
} ops[] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "loads", "load-misses" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "stores", "store-misses" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetches", "prefetch-misses" },
};

/* Each cache has so many, be they there or not. */
#define PER_CACHE (2 * (unsigned int)ARRAY_SIZE(ops))

/* NUMBER counts those that are there. */
bool cache_event_get(unsigned int number, struct cache_event *ret_event)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(caches) * PER_CACHE; i++) {
		unsigned int cache = i / PER_CACHE, op = i % PER_CACHE / 2, miss = i % 2;

		if (!(caches[cache].ops & 1U << op) || number--)
			continue;
		snprintf(ret_event->name, sizeof(ret_event->name), "%s-%s", caches[cache].name,
			 miss ? ops[op].misses : ops[op].accesses);
		ret_event->config = caches[cache].id | op << 8 | miss << 16;
		return true;
	}
	return false;
}

int cache_event_parse(const char *name, uint64_t *ret_config)
{
	struct cache_event event;

	for (unsigned int i = 0; cache_event_get(i, &event); i++) {
		if (strcasecmp(event.name, name) != 0)
			continue;
		*ret_config = event.config;
		return 0;
	}
	return -EINVAL;
}
