// SPDX-License-Identifier: Apache-2.0
/* Events that are several perf events, those of PMUs, and which cpus have them. */
#include "fake_perf.h"

/* Two addresses of two processes are two breakpoints; what one process has the program asks. */
static void a_breakpoint_of_each_process(void **state)
{
	static const struct capture_event watched = {
		.name = "mem:counter:w",
		.type = PERF_TYPE_BREAKPOINT,
		.period = 1,
		.breakpoint = { .access = 2,
				.len = 4,
				.count = 2,
				.places = { { 0x555500001230, 17 }, { 0x555500004560, 0 } } },
	};
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err = { 0 };

	(void)state;
	options.events = &watched;
	options.count = 1;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), 0);
	assert_int_equal(seen.opened, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen.attrs[i].type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(seen.attrs[i].bp_type, 2);
		assert_int_equal(seen.attrs[i].bp_len, 4);
		assert_int_equal(seen.attrs[i].sample_period, 1);
		assert_int_equal(seen.attrs[i].freq, 0);
	}
	assert_int_equal(seen.attrs[0].bp_addr, 0x555500001230);
	assert_int_equal(seen.attrs[1].bp_addr, 0x555500004560);
	assert_int_equal(seen.cookies[0], 17ULL << 32);
	assert_int_equal(seen.cookies[1], 0);
	perf_events_release(&opened);
	setup(NULL);
	seen.fail_at = 2;
	seen.error = ENOSPC;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), -ENOSPC);
	assert_non_null(strstr(err.hint, "4 breakpoints"));
	assert_string_equal(seen.log, "close 6000\nclose 5000\n");
}

/* Each place of a USDT probe is a uprobe, with its own semaphore. */
static void places_of_a_usdt_probe(void **state)
{
	static const struct capture_event usdt = {
		.name = "usdt:libx.so:p:n",
		.period = 1,
		.trigger = WIRE_TRIGGER_UPROBE,
		.usdt = { .name = "n",
			  .type = 8,
			  .path = "/lib/libx.so",
			  .count = 3,
			  .places = { { 0x10, 0x4000 }, { 0x20, 0x4000 }, { 0x30, 0 } } },
	};
	struct perf_events_options options = probes();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.events = &usdt;
	options.count = 1;
	assert_int_equal(perf_events_open_shared(&options, 0, &opened, &err), 0);
	assert_int_equal(seen.opened, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(seen.attrs[i].type, 8);
		assert_int_equal(seen.attrs[i].config, i < 2 ? 0x4000ULL << 32 : 0);
		assert_string_equal((const char *)(uintptr_t)seen.attrs[i].config1, "/lib/libx.so");
		assert_int_equal(seen.attrs[i].config2, 0x10 * (i + 1));
		assert_int_equal(seen.cookies[i], 0);
	}
	perf_events_release(&opened);
}

static void a_probe_of_the_kernel(void **state)
{
	static const struct capture_event kprobe = {
		.name = "kretprobe:vfs_read",
		.period = 1,
		.trigger = WIRE_TRIGGER_KPROBE,
		.kprobe = { .function = "vfs_read", .type = 6, .config = 1, .plus = 0x11 },
	};
	struct perf_events_options options = { .events = &kprobe,
					       .count = 1,
					       .prog_fds = { [WIRE_TRIGGER_KPROBE] = PROG_FD } };
	struct perf_events opened;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(perf_events_open_shared(&options, 0, &opened, &err), 0);
	assert_int_equal(seen.attrs[0].type, 6);
	assert_int_equal(seen.attrs[0].config, 1);
	assert_string_equal((const char *)(uintptr_t)seen.attrs[0].kprobe_func, "vfs_read");
	assert_int_equal(seen.attrs[0].probe_offset, 0x11);
	perf_events_release(&opened);
	setup(NULL);
	seen.fail_at = 1;
	seen.error = ENOENT;
	assert_int_equal(perf_events_open_shared(&options, 0, &opened, &err), -ENOENT);
	assert_non_null(strstr(err.hint, "no such function"));
}

/* Fields of a PMU may be in three words. */
static void a_pmus_event(void **state)
{
	static const struct capture_event event = { .name = "pmu/x/",
						    .type = 12,
						    .config = 0x1c2,
						    .more_configs = { 0x33, 0x44 },
						    .period = 5000 };
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err = { 0 };

	(void)state;
	options.events = &event;
	options.count = 1;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_int_equal(seen.attrs[0].type, 12);
	assert_int_equal(seen.attrs[0].config, 0x1c2);
	assert_int_equal(seen.attrs[0].config1, 0x33);
	assert_int_equal(seen.attrs[0].config2, 0x44);
	assert_int_equal(seen.attrs[0].sample_period, 5000);
	perf_events_release(&opened);
	setup(NULL);
	seen.fail_at = 1;
	seen.error = EINVAL;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), -EINVAL);
	assert_non_null(strstr(err.hint, "counts it without samples"));
	setup(NULL);
	seen.fail_at = 1;
	seen.error = EOPNOTSUPP;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.hint, "does not count that"));
}

/* A thread's run time is its clock's, wherever it passes; a counter's events are the cpu's. */
static void cpus_that_are_not_sampled(void **state)
{
	bool has[] = { false, false, true };
	const struct cpu_list cpus = { has, 3 };
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.cpus = &cpus;
	for (unsigned int cpu = 1; cpu < 4; cpu++) {
		setup(NULL);
		assert_int_equal(perf_events_open(&options, cpu, &opened, &err), 0);
		assert_int_equal(opened.open.len, cpu == 2 ? OPENED : WIRE_CLOCK_TIMERS);
		perf_events_release(&opened);
	}
	options = probes();
	options.cpus = &cpus;
	setup(NULL);
	assert_int_equal(perf_events_open_shared(&options, 0, &opened, &err), 0);
	assert_int_equal(opened.open.len, 2);
	perf_events_release(&opened);
}

/* As it would be sampled, and nothing is left of it. */
static void tried(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(perf_event_try(&events[1], 3, &err), 0);
	assert_int_equal(seen.cpus[0], 3);
	assert_int_equal(seen.attrs[0].sample_freq, 997);
	assert_int_equal(seen.links, 0);
	assert_string_equal(seen.log, "close 5000\n");
	setup(NULL);
	seen.fail_at = 1;
	seen.error = ENOENT;
	assert_int_equal(perf_event_try(&events[1], 3, &err), -ENOENT);
	assert_non_null(strstr(err.text, "'cycles' on cpu 3"));
	assert_string_equal(seen.log, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_breakpoint_of_each_process), TEST(places_of_a_usdt_probe),
		TEST(a_probe_of_the_kernel),	    TEST(a_pmus_event),
		TEST(cpus_that_are_not_sampled),    TEST(tried),
	};

	return cmocka_run_group_tests_name("perf_places", tests, NULL, NULL);
}
