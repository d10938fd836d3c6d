// SPDX-License-Identifier: Apache-2.0
/* Cpus that go and come between two looks, and a host that sleeps; time is the test's. */
#include "capture_parts.h"

#include "fake_clock.h"

#define MS NSEC_PER_MSEC

static struct capture_stats stats_now(void)
{
	struct capture_stats stats;

	capture_get_stats(f.capture, &stats);
	return stats;
}

/* A second passes, and hostprof looks. */
static void look_after(uint64_t ns)
{
	struct err err = { 0 };

	fake_advance(ns);
	f.log[0] = '\0';
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	assert_int_equal(err.code, 0);
}

/* The events of CPU stop. */
static void flicker(unsigned int cpu)
{
	f.sidebands[cpu]->stopped_ns = clock_now_ns();
}

static unsigned int gaps_told;

static void on_side(const struct side_event *event, void *data)
{
	(void)data;
	assert_true(event->kind == SIDE_LOST || event->kind == SIDE_EXIT);
	if (event->kind != SIDE_LOST)
		return;
	assert_int_equal(event->lost, 0);
	assert_int_equal(event->time_ns, clock_now_ns());
	gaps_told++;
}

static void on_miss(const struct wire_miss *miss, void *data)
{
	(void)miss, (void)data;
}

static void on_sample(const struct wire_sample *sample, void *data)
{
	(void)sample, (void)data;
}

static void on_invalid(const void *record, size_t len, void *data)
{
	(void)record, (void)len, (void)data;
}

static unsigned int gaps_of_a_drain(void)
{
	const struct capture_handler handler = {
		.miss = on_miss, .sample = on_sample, .side = on_side, .invalid = on_invalid
	};

	gaps_told = 0;
	capture_drain(f.capture, &handler);
	return gaps_told;
}

static int begin(void **state)
{
	fake_begin();
	fake_slept_ns = 0;
	setup(state);
	open_capture();
	return 0;
}

/* All that is asked for is in processes: the side-band is all that a cpu has. */
static int begin_with_probes(void **state)
{
	fake_begin();
	fake_slept_ns = 0;
	setup(state);
	f.only_probes = true;
	open_capture();
	return 0;
}

/* Events that the kernel stops are no process's: one of each cpu goes on, one does not. */
static void too_fast(void **state)
{
	uint64_t now_ns = clock_now_ns();

	(void)state;
	f.throttles[0] = (struct side_event){ .kind = SIDE_THROTTLE, .time_ns = now_ns };
	f.throttles[1] = (struct side_event){ .kind = SIDE_UNTHROTTLE, .time_ns = now_ns + 4 * MS };
	f.throttles[2] =
		(struct side_event){ .kind = SIDE_THROTTLE, .time_ns = now_ns + 2 * MS, .pid = 2 };
	assert_int_equal(gaps_of_a_drain(), 0);
	memset(f.throttles, 0, sizeof(f.throttles));
	fake_advance(10 * MS);
	assert_int_equal(stats_now().throttled_times, 2);
	assert_int_equal(stats_now().throttled_ns, 12 * MS);
	/* What began before there was anybody to tell. */
	f.throttles[0] =
		(struct side_event){ .kind = SIDE_UNTHROTTLE, .time_ns = now_ns + 10 * MS };
	f.throttles[1] =
		(struct side_event){ .kind = SIDE_UNTHROTTLE, .time_ns = now_ns + 10 * MS };
	gaps_of_a_drain();
	fake_advance(10 * MS);
	assert_int_equal(stats_now().throttled_times, 2);
	assert_int_equal(stats_now().throttled_ns, 12 * MS);
}

/* --- */

static void nothing_happens(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		look_after(1000 * MS);
		assert_string_equal(f.log, "");
	}
	look_after(0);
	assert_string_equal(f.log, "");
	assert_int_equal(stats_now().unobserved_ns, 0);
	assert_int_equal(stats_now().unobserved_times, 0);
	assert_int_equal(stats_now().suspended_ns, 0);
	assert_int_equal(gaps_of_a_drain(), 0);
}

/* It was online at each look, but the events are dead. */
static void off_and_on_between_two_looks(void **state)
{
	(void)state;
	look_after(1000 * MS);
	fake_advance(300 * MS);
	flicker(2);
	look_after(700 * MS);
	assert_string_equal(f.log, "ring 2\nclose 2\nside 2\nopen 2\n");
	assert_int_equal(stats_now().unobserved_ns, 700 * MS);
	assert_int_equal(stats_now().unobserved_times, 1);
	/* The books of processes have a gap, which is told once. */
	assert_int_equal(gaps_of_a_drain(), 1);
	assert_int_equal(gaps_of_a_drain(), 0);
	look_after(1000 * MS);
	assert_string_equal(f.log, "");
	flicker(0);
	look_after(1000 * MS);
	assert_string_equal(f.log, "ring 0\nclose 0\nside 0\nopen 0\n");
	assert_int_equal(stats_now().unobserved_ns, 1700 * MS);
	assert_int_equal(stats_now().unobserved_times, 2);
}

/* Too little to be sure: the next look tells, and nothing is forgotten. */
static void just_before_a_look(void **state)
{
	(void)state;
	fake_advance(950 * MS);
	flicker(2);
	look_after(50 * MS);
	assert_string_equal(f.log, "");
	look_after(1000 * MS);
	assert_non_null(strstr(f.log, "open 2\n"));
	assert_int_equal(stats_now().unobserved_ns, 1050 * MS);
}

/* Seen offline: it runs nothing meanwhile; when it came back nobody knows. */
static void off_for_long(void **state)
{
	(void)state;
	look_after(1000 * MS);
	f.online[2] = false;
	flicker(2);
	look_after(1000 * MS);
	assert_string_equal(f.log, "close 2\n");
	look_after(5000 * MS);
	assert_int_equal(stats_now().unobserved_ns, 0);
	f.online[2] = true;
	look_after(1000 * MS);
	assert_string_equal(f.log, "ring 2\nside 2\nopen 2\n");
	assert_int_equal(stats_now().unobserved_ns, 1000 * MS);
	assert_int_equal(gaps_of_a_drain(), 1);
	look_after(1000 * MS);
	assert_string_equal(f.log, "");
}

/* After a suspend all events are opened anew, whatever they say. */
static void the_host_sleeps(void **state)
{
	(void)state;
	look_after(1000 * MS);
	fake_slept_ns = 3600 * NSEC_PER_SEC;
	look_after(20 * MS);
	assert_non_null(strstr(f.log, "open 0\n"));
	assert_non_null(strstr(f.log, "open 2\n"));
	assert_in_range(stats_now().suspended_ns, 3599 * NSEC_PER_SEC, 3601 * NSEC_PER_SEC);
	assert_int_equal(stats_now().unobserved_ns, 0);
	look_after(1000 * MS);
	assert_string_equal(f.log, "");
}

/* Such a cpu comes and goes as any. */
static void only_a_side_band(void **state)
{
	nothing_happens(state);
	f.online[2] = false;
	look_after(1000 * MS);
	look_after(1000 * MS);
	assert_string_equal(f.log, "");
	f.online[2] = true;
	look_after(1000 * MS);
	assert_string_equal(f.log, "ring 2\nside 2\nopen 2\n");
	assert_int_equal(gaps_of_a_drain(), 1);
	look_after(1000 * MS);
	assert_string_equal(f.log, "");
}

#define TEST(fn)   cmocka_unit_test_setup_teardown(fn, begin, teardown)
#define PROBED(fn) cmocka_unit_test_setup_teardown(fn, begin_with_probes, teardown)

/* It counts before and after samples are taken, too; the second cpu goes, and what it has counted stays. */
static void what_no_sample_was_made_of(void **state)
{
	struct capture_event_figures event;
	struct capture_stats stats;
	struct err err;

	(void)state;
	open_capture();
	f.counted[0] = 100;
	f.counted[2] = 200;
	capture_start(f.capture);
	f.counted[0] = 1100;
	f.counted[2] = 5200;
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.events[0].counted, 0); /* not yet */
	f.online[2] = false;
	assert_int_equal(capture_update_cpus(f.capture, &err), 0);
	f.counted[0] = 2100;
	capture_stop(f.capture);
	f.counted[0] = 9999;
	f.overflows = 4;
	f.seen = 400; /* on each of all cpus: 32 times 100 */
	capture_get_stats(f.capture, &stats);
	event = stats.events[0];
	assert_int_equal(event.counted, 2000 + 5000);
	assert_int_equal(event.enabled_ns, 14000);
	assert_int_equal(event.running_ns, 7000);
	/* Three cpus may be in the midst of a period. */
	assert_int_equal(event.unseen, 7000 - CPUS * 400 - 3 * 100);
	f.seen = 900;
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.events[0].unseen, 0);
	f.overflows = f.seen = 0;
	capture_get_stats(f.capture, &stats);
	assert_int_equal(stats.events[0].unseen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_happens),
		TEST(off_and_on_between_two_looks),
		TEST(just_before_a_look),
		TEST(off_for_long),
		TEST(the_host_sleeps),
		TEST(too_fast),
		PROBED(only_a_side_band),
		cmocka_unit_test_setup_teardown(what_no_sample_was_made_of, setup, teardown),
	};

	return cmocka_run_group_tests_name("capture_cpus", tests, NULL, NULL);
}
