// SPDX-License-Identifier: Apache-2.0
/* Events on hosts that have hardware counters, and on others: what /sys says is the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/event.h"

static const char *pmu; /* its name in /sys; NULL: none */

/* gcov asks for directories, too. */
int access(const char *path, int mode)
{
	static const char devices[] = "/sys/bus/event_source/devices/";

	if (strncmp(path, devices, strlen(devices)) != 0)
		return faccessat(AT_FDCWD, path, mode, 0);
	return pmu && !strcmp(path + strlen(devices), pmu) ? 0 : -1;
}

static struct capture_event parse(const char *name)
{
	struct capture_event event;
	struct err err = { 0 };

	assert_int_equal(capture_event_parse(name, 1000, &event, &err), 0);
	assert_string_equal(event.name, name);
	return event;
}

static void with_counters(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		{ "r1a2", PERF_TYPE_RAW, 0x1a2 },
		{ "LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002 },
		{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	};

	(void)state;
	pmu = "cpu";
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct capture_event event = parse(events[i].name);

		assert_int_equal(event.type, events[i].type);
		assert_int_equal(event.config, events[i].config);
		assert_int_equal(event.freq_hz, 1000);
		assert_int_equal(event.period, 0);
		assert_string_equal(event.unit, "count");
		assert_false(event.fell_back);
		assert_false(capture_event_is_clock(&event));
	}
	pmu = "cpu_core"; /* of two kinds of cores */
	assert_int_equal(parse("cycles").type, PERF_TYPE_HARDWARE);
}

static void without(void **state)
{
	struct capture_event event;

	(void)state;
	pmu = "breakpoint";
	event = parse("r1a2");
	assert_true(event.fell_back);
	assert_true(capture_event_is_clock(&event));
	assert_int_equal(event.period, 1000000);
	assert_string_equal(event.unit, "nanoseconds");
	assert_false(parse("page-faults").fell_back);
}

/* Time says nothing of a cache; and a period of what is not counted none of a clock. */
static void caches_without(void **state)
{
	struct capture_event event = { .type = 77 };
	struct err err = { 0 };

	(void)state;
	pmu = NULL;
	assert_int_equal(capture_event_parse("LLC-load-misses", 99, &event, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "no hardware counter"));
	assert_int_equal(event.type, 77);
	assert_int_equal(capture_event_parse("cycles=500", 1000, &event, &err), 0);
	assert_true(event.fell_back);
	assert_int_equal(event.period, 1000000);
	pmu = "cpu";
	assert_int_equal(capture_event_parse("dTLB-loads=500", 1000, &event, &err), 0);
	assert_int_equal(event.period, 500);
	assert_int_equal(event.freq_hz, 0);
}

static void fixed_periods(void **state)
{
	static const struct {
		const char *name;
		uint64_t period;
	} events[] = {
		{ "page-faults", 64 },	 { "minor-faults", 64 },     { "major-faults", 1 },
		{ "cpu-migrations", 4 }, { "context-switches", 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(parse(events[i].name).period, events[i].period);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_counters),
		cmocka_unit_test(without),
		cmocka_unit_test(caches_without),
		cmocka_unit_test(fixed_periods),
	};

	return cmocka_run_group_tests_name("event_pmu", tests, NULL, NULL);
}
