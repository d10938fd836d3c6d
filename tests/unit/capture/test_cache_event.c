// SPDX-License-Identifier: Apache-2.0
/* Caches' events: each name is one event, and the numbers are the kernel's. */
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/macros.h"
#include "capture/events/cache_event.h"

#define CONFIG(cache, op, result)                                         \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static void names(void **state)
{
	static const struct {
		const char *name;
		uint64_t config;
	} events[] = {
		{ "L1-dcache-loads", CONFIG(L1D, READ, ACCESS) },
		{ "L1-dcache-load-misses", CONFIG(L1D, READ, MISS) },
		{ "L1-dcache-stores", CONFIG(L1D, WRITE, ACCESS) },
		{ "L1-icache-load-misses", CONFIG(L1I, READ, MISS) },
		{ "LLC-loads", CONFIG(LL, READ, ACCESS) },
		{ "LLC-store-misses", CONFIG(LL, WRITE, MISS) },
		{ "llc-prefetch-misses", CONFIG(LL, PREFETCH, MISS) },
		{ "dTLB-load-misses", CONFIG(DTLB, READ, MISS) },
		{ "iTLB-load-misses", CONFIG(ITLB, READ, MISS) },
		{ "branch-loads", CONFIG(BPU, READ, ACCESS) },
		{ "node-prefetches", CONFIG(NODE, PREFETCH, ACCESS) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		uint64_t config = 1;

		assert_int_equal(cache_event_parse(events[i].name, &config), 0);
		if (config != events[i].config)
			fail_msg("%s: %#llx", events[i].name, (unsigned long long)config);
	}
}

static void no_such(void **state)
{
	static const char *const bad[] = { "",
					   "L1-dcache",
					   "L1-dcache-",
					   "L1-icache-stores",
					   "iTLB-stores",
					   "branch-prefetches",
					   "LLC-loads ",
					   "LLC-load-miss" };
	uint64_t config = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (cache_event_parse(bad[i], &config) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(config, 42);
}

static void all_of_them(void **state)
{
	struct cache_event event, other;
	unsigned int count = 0;

	(void)state;
	for (; cache_event_get(count, &event); count++) {
		uint64_t config;

		assert_int_equal(cache_event_parse(event.name, &config), 0);
		assert_int_equal(config, event.config);
		for (unsigned int i = 0; i < count; i++) {
			assert_true(cache_event_get(i, &other));
			assert_true(other.config != event.config);
		}
	}
	assert_int_equal(count, 4 * 6 + 4 + 2 + 2);
	assert_false(cache_event_get(count, &event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(no_such),
		cmocka_unit_test(all_of_them),
	};

	return cmocka_run_group_tests_name("cache_event", tests, NULL, NULL);
}
