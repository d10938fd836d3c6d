// SPDX-License-Identifier: Apache-2.0
/* What is asked of perf_event_open(): the system calls are the test's. */
#include "fake_perf.h"

/* What the kernel says of them goes to another's ring, whose clock is theirs. */
static void what_counters_have_counted(void **state)
{
	struct perf_event_open four[] = { { FIRST_FD, -1, 0 },
					  { FIRST_FD + 1, -1, 1 },
					  { FIRST_FD + 2, -1, 2 },
					  { FIRST_FD + 3, -1, 2 } };
	const struct perf_events opened = { .open = { four, 4, 4 } };
	const struct perf_events_options options = all();
	struct perf_event_counts counts[3] = { { 0 } };

	(void)state;
	for (int i = 0; i < 3; i++)
		perf_events_add_counts(&opened, &options, 1, counts);
	perf_events_add_counts(&opened, &options, -1, counts);
	assert_int_equal(counts[0].enabled_ns, 0); /* a clock */
	assert_int_equal(counts[1].counted, 2 * (FIRST_FD + 1));
	assert_int_equal(counts[1].enabled_ns, 20);
	assert_int_equal(counts[1].running_ns, 10);
	assert_int_equal(counts[2].counted, 2 * (FIRST_FD + 2)); /* one cannot be read */
}

static void they_share_a_ring(void **state)
{
	struct perf_event_open two[] = { { 100, -1, 0 }, { 101, -1, 0 } };
	const struct perf_events opened = { .open = { two, 2, 2 } };

	(void)state;
	perf_events_set_output(&opened, 7);
	assert_string_equal(seen.log, "output 1007\noutput 1017\n");
}

/* Each event as it was asked for; a clock as its timers. */
static void each_as_it_was_asked_for(void **state)
{
	static const unsigned int of[OPENED] = { 0, 0, 0, 0, 1, 2 };
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	assert_int_equal(perf_events_open(&options, 3, &opened, &err), 0);
	assert_int_equal(opened.open.len, OPENED);
	assert_int_equal(seen.opened, OPENED);
	for (unsigned int i = 0; i < OPENED; i++) {
		assert_int_equal(seen.attrs[i].size, sizeof(struct perf_event_attr));
		assert_int_equal(seen.attrs[i].type, events[of[i]].type);
		assert_int_equal(seen.attrs[i].config, events[of[i]].config);
		assert_false(seen.attrs[i].disabled); /* the program says when sampling begins */
		assert_false(seen.attrs[i].exclude_user);
		assert_false(seen.attrs[i].exclude_kernel);
		assert_true(seen.attrs[i].use_clockid);
		assert_int_equal(seen.attrs[i].clockid, CLOCK_MONOTONIC);
		assert_int_equal(seen.cpus[i], 3);
		assert_int_equal(opened.open.items[i].fd, FIRST_FD + i);
		assert_int_equal(opened.open.items[i].link, LINK_FD + i);
		assert_int_equal(seen.cookies[i], of[i]); /* tells the program which it was */
		assert_int_equal(seen.attrs[i].freq, of[i] == 1);
	}
	for (unsigned int i = 0; i < WIRE_CLOCK_TIMERS; i++)
		assert_int_equal(seen.attrs[i].sample_period,
				 perf_events_timer_period(PERIOD, i, 0));
	assert_int_equal(seen.attrs[4].sample_freq, 997);
	assert_int_equal(seen.attrs[5].sample_period, 64);
	perf_events_release(&opened);
}

/* 0 is a descriptor, and a link, like any other. */
static void descriptors_from_zero(void **state)
{
	static const char *const closed[] = { "close 6000\nclose 0\nclose 6001\nclose 1\n",
					      "close 0\nclose 5000\nclose 1\nclose 5001\n" };
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.events = &events[1];
	options.count = 2;
	for (int links = 0; links < 2; links++) {
		memset(&seen, 0, sizeof(seen));
		seen.fd_from = links ? 0 : FIRST_FD;
		seen.link_from = links ? LINK_FD : 0;
		assert_int_equal(perf_events_open(&options, 3, &opened, &err), 0);
		assert_int_equal(links ? opened.open.items[0].link : opened.open.items[0].fd, 0);
		perf_events_release(&opened);
		seen.fd_from = seen.link_from = 0;
		assert_string_equal(seen.log, closed[links]);
	}
}

/* The program must see every tick of a clock. */
static void clocks_leave_nothing_out(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.exclude_user = true;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_false(seen.attrs[0].exclude_user);
	assert_true(seen.attrs[4].exclude_user);
	assert_true(seen.attrs[5].exclude_user);
	assert_false(seen.attrs[4].exclude_kernel);
	perf_events_release(&opened);
	setup(NULL);
	options.exclude_user = false;
	options.exclude_kernel = true;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_false(seen.attrs[0].exclude_kernel);
	assert_true(seen.attrs[4].exclude_kernel);
	assert_true(seen.attrs[5].exclude_kernel);
	assert_false(seen.attrs[4].exclude_user);
	perf_events_release(&opened);
}

static void all_or_none(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened = { .open = VEC_INIT };
	struct err err = { 0 };

	(void)state;
	seen.fail_at = 5;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), -EMFILE);
	assert_non_null(strstr(err.text, "'cycles' on cpu 1"));
	assert_string_equal(seen.log, "close 6000\nclose 5000\nclose 6001\nclose 5001\n"
				      "close 6002\nclose 5002\nclose 6003\nclose 5003\n");
	assert_int_equal(opened.open.len, 0);
	setup(NULL);
	seen.no_link = true;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), -EACCES);
	assert_non_null(strstr(err.text, "'cpu' on cpu 1"));
	assert_string_equal(seen.log, "close 5000\n");
}

/* Each program runs wherever its event fires: one for the host, with its own program and cookie. */
static void those_of_no_cpu_are_there_once(void **state)
{
	struct perf_events_options options = probes();
	struct perf_events opened;
	struct err err;

	(void)state;
	assert_int_equal(perf_events_open_shared(&options, 5, &opened, &err), 0);
	assert_int_equal(opened.open.len, 2);
	assert_int_equal(seen.opened, 2);
	assert_int_equal(seen.cpus[0], 5);
	assert_int_equal(seen.attrs[0].type, 8);
	assert_int_equal(seen.attrs[0].config, 1);
	assert_string_equal((const char *)(uintptr_t)seen.attrs[0].config1, "/lib/libx.so");
	assert_int_equal(seen.attrs[0].config2, 0x1230);
	assert_false(seen.attrs[0].exclude_kernel); /* frames are left out, samples not */
	assert_int_equal(seen.attrs[1].type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(seen.attrs[1].config, 314);
	assert_int_equal(seen.attrs[1].config1, 0);
	assert_int_equal(seen.attrs[1].sample_period, 0); /* perf makes no sample of it */
	assert_int_equal(seen.attrs[1].freq, 0);
	assert_int_equal(seen.cookies[0], 1);
	assert_int_equal(seen.cookies[1], 2);
	perf_events_release(&opened);
	setup(NULL);
	options.prog_fds[WIRE_TRIGGER_PERF] = PROG_FD;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_int_equal(opened.open.len, WIRE_CLOCK_TIMERS);
	perf_events_release(&opened);
}

/* A window's edges have programs of their own, and are no events: nothing is counted of them. */
static void edges_of_a_window(void **state)
{
	static const struct capture_event begin = { .name = "uprobe:f",
						    .trigger = WIRE_TRIGGER_UPROBE,
						    .probe = { .path = "/lib/liby.so",
							       .offset = 0x40 } };
	struct capture_event end = begin;
	struct perf_events_options options = all();
	struct perf_event_counts counts[WIRE_MAX_EVENTS + 1] = { 0 };
	struct perf_events opened;
	struct err err;

	(void)state;
	end.probe.offset = 0x80;
	options.count = 1;
	options.window = (struct capture_window){ &begin, &end };
	options.prog_fds[WIRE_TRIGGER_WINDOW_BEGIN] = PROG_FD;
	options.prog_fds[WIRE_TRIGGER_WINDOW_END] = PROG_FD;
	assert_int_equal(perf_events_open_shared(&options, 5, &opened, &err), 0);
	assert_int_equal(opened.open.len, 2);
	assert_int_equal(seen.attrs[0].config2, 0x40);
	assert_int_equal(seen.attrs[1].config2, 0x80);
	assert_int_equal(seen.attrs[0].sample_period, 1);
	perf_events_add_counts(&opened, &options, 1, counts);
	assert_int_equal(counts[0].counted + counts[WIRE_MAX_EVENTS].counted, 0);
	perf_events_release(&opened);
	/* One of them alone, whose program cannot be attached. */
	setup(NULL);
	seen.no_link = true;
	options.window.begin = NULL;
	assert_true(perf_events_open_shared(&options, 5, &opened, &err) < 0);
	assert_int_equal(seen.opened, 1);
	assert_int_equal(seen.attrs[0].config2, 0x80);
	assert_string_equal(seen.log, "close 5000\n");
}

static void a_probe_that_cannot_be(void **state)
{
	struct perf_events_options options = probes();
	struct perf_events opened = { .open = VEC_INIT };
	struct err err = { 0 };

	(void)state;
	seen.fail_at = 2;
	assert_int_equal(perf_events_open_shared(&options, 0, &opened, &err), -EMFILE);
	assert_non_null(strstr(err.text, "cannot probe 'sched:sched_switch'"));
	assert_string_equal(seen.log, "close 6000\nclose 5000\n");
	assert_int_equal(opened.open.len, 0);
}

static void released_once(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.count = 1;
	perf_events_open(&options, 0, &opened, &err);
	perf_events_release(&opened);
	perf_events_release(&opened);
	assert_string_equal(seen.log, "close 6000\nclose 5000\nclose 6001\nclose 5001\n"
				      "close 6002\nclose 5002\nclose 6003\nclose 5003\n");
}

static uint64_t period(unsigned int number, uint32_t random)
{
	return perf_events_timer_period(PERIOD, number, random);
}

static void test_rates_make_the_clocks(void **state)
{
	const uint32_t randoms[] = { 0, 0x8000, 0xffff, 0xffff1234 };

	(void)state;
	for (size_t r = 0; r < sizeof(randoms) / sizeof(randoms[0]); r++) {
		double rate = 0;

		for (unsigned int i = 0; i < WIRE_CLOCK_TIMERS; i++)
			rate += 1e9 / (double)period(i, randoms[r]);
		assert_true(rate > 0.985 * 1e9 / PERIOD && rate < 1.015 * 1e9 / PERIOD);
	}
}

/* In twenty periods of one timer no other one keeps its place, whatever chance adds. */
static void test_no_two_are_in_step(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < WIRE_CLOCK_TIMERS; a++)
		for (unsigned int b = a + 1; b < WIRE_CLOCK_TIMERS; b++)
			assert_true(period(b, 0) > period(a, 0xffff) * 21 / 20);
}

static void test_chance_moves_a_period(void **state)
{
	(void)state;
	assert_int_equal(period(2, 0), period(2, 0x10000));
	assert_true(period(2, 0xffff) > period(2, 0) + period(2, 0) / 70);
	assert_true(period(2, 0xffff) < period(2, 0) + period(2, 0) / 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_counters_have_counted),
		TEST(they_share_a_ring),
		TEST(each_as_it_was_asked_for),
		TEST(descriptors_from_zero),
		TEST(clocks_leave_nothing_out),
		TEST(all_or_none),
		TEST(those_of_no_cpu_are_there_once),
		TEST(a_probe_that_cannot_be),
		TEST(edges_of_a_window),
		TEST(released_once),
		TEST(test_rates_make_the_clocks),
		TEST(test_no_two_are_in_step),
		TEST(test_chance_moves_a_period),
	};

	return cmocka_run_group_tests_name("perf_events", tests, NULL, NULL);
}
