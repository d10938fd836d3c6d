// SPDX-License-Identifier: Apache-2.0
/* That rings are emptied while nobody takes, and up to what; libbpf is the test's. */
#include "pump_world.h"

static void without_a_thread(void **state)
{
	(void)state;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	make(2, 8);
	make(1, 13);
	make(1, 1);
	make(3, 4096);
	for (int i = 0; i < 3; i++) { /* the two queues take turns */
		take();
		expect_all();
	}
}

static void while_nobody_takes(void **state)
{
	(void)state;
	start();
	make(5, 1000);
	assert_false(has_news(0));
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(consumed(), 5);
	assert_true(f.signals_blocked);
	/* What came since is taken with it. */
	make(2, 500);
	take();
	expect_all();
	assert_false(has_news(0));
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	take();
	expect_all();
}

static bool consumes_soon(int before, int ms)
{
	for (int i = 0; i < ms && f.consumes == before; i++)
		usleep(1000);
	return f.consumes > before;
}

/* Until it has seen that he waits. */
static void rest(void)
{
	int before;

	ring_pump_taker_waits(f.pump, true);
	do {
		before = f.consumes;
		wake();
	} while (consumes_soon(before, 300));
}

/* He is woken himself; at work he is relieved after some milliseconds, for as long as he is. */
static void while_the_taker_waits(void **state)
{
	struct pollfd rings;
	int before;

	(void)state;
	scheduler.policy = POLICY;
	start();
	rings = (struct pollfd){ .fd = ring_pump_rings_fd(f.pump), .events = POLLIN };
	for (int round = 0; round < 2; round++) {
		rest();
		before = f.consumes;
		make(2, 100);
		wake();
		assert_false(consumes_soon(before, 250));
		assert_int_equal(poll(&rings, 1, 0), 1);
		/* Soon done. */
		ring_pump_taker_waits(f.pump, false);
		take();
		ring_pump_taker_waits(f.pump, true);
		before = f.consumes;
		wake();
		assert_false(consumes_soon(before, 50));
		ring_pump_taker_waits(f.pump, false);
		make(3, 100);
		for (int i = 0; i < 3; i++) {
			before = f.consumes;
			wake();
			assert_true(consumes_soon(before, SOON_MS));
		}
		assert_true(has_news(SOON_MS));
		take();
		expect_all();
	}
}

/* Then both look, so that no ring fills up while he is waited for. */
static void a_flood_while_the_taker_waits(void **state)
{
	int before;

	(void)state;
	scheduler.policy = POLICY;
	start();
	for (int i = 0; i < 3; i++) {
		before = f.consumes;
		make(1, MIB);
		wake();
		assert_true(consumes_soon(before, SOON_MS));
		assert_true(has_news(SOON_MS));
		ring_pump_taker_waits(f.pump, true);
	}
	take();
	expect_all();
	rest();
}

/* He may wait for a cpu as long as anybody: both look. */
static void a_taker_who_does_not_go_first(void **state)
{
	int before;

	(void)state;
	start();
	ring_pump_taker_waits(f.pump, true);
	for (int i = 0; i < 3; i++) {
		before = f.consumes;
		make(1, 100);
		wake();
		assert_true(consumes_soon(before, SOON_MS));
		usleep(10000);
	}
	assert_true(has_news(SOON_MS));
	take();
	expect_all();
}

/* A wake-up for records that were taken meanwhile is no news. */
static void nothing_there(void **state)
{
	int before;

	(void)state;
	start();
	before = f.consumes;
	wake();
	assert_true(consumes_soon(before, SOON_MS));
	assert_false(has_news(50));
}

/* The rest waits in the rings, and is there when it is asked for. */
static void no_more_than_has_room(void **state)
{
	const unsigned int fit = RING_PUMP_BYTES / MIB;

	(void)state;
	start();
	make(3 * fit, MIB);
	wake();
	assert_true(has_news(SOON_MS));
	wake();
	usleep(50000);
	assert_in_range(consumed(), fit - 1, fit);
	take();
	expect_all();
	/* It goes on as before. */
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	take();
	expect_all();
}

static void a_record_that_is_larger(void **state)
{
	(void)state;
	start();
	make(1, LONGEST);
	make(2, 24);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(consumed(), 1);
	take();
	expect_all();
}

/* Before anything was taken: the thread waits for room, and is not waited for. */
static void ends_while_it_waits(void **state)
{
	(void)state;
	start();
	make(20, MIB);
	wake();
	assert_true(has_news(SOON_MS));
	wake();
	usleep(20000);
}

static void as_urgent_as_who_starts_it(void **state)
{
	(void)state;
	scheduler.policy = POLICY;
	scheduler.nice = -3;
	start();
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(scheduler.policy_set, SCHED_RR);
	assert_int_equal(scheduler.priority_set, PRIORITY);
	assert_int_equal(scheduler.nice_set, -3);
}

static void as_nice_as_who_starts_it(void **state)
{
	(void)state;
	scheduler.nice = -10;
	start();
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(scheduler.policy_set, 0);
	assert_int_equal(scheduler.nice_set, -10);
}

static void rings_that_cannot_be_had(void **state)
{
	(void)state;
	f.no_rings = true;
	assert_int_equal(ring_pump_add(f.pump, 3), -ENOMEM);
	take();
	f.no_rings = false;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	assert_int_equal(f.added, 0);
	assert_int_equal(ring_pump_add(f.pump, 4), 0);
	assert_int_equal(ring_pump_add(f.pump, 77), -E2BIG);
	assert_int_equal(f.added, 2);
}

static void no_descriptor_left(void **state)
{
	struct rlimit old, none;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	getrlimit(RLIMIT_NOFILE, &old);
	for (unsigned int room = 0; room < 3; room++) {
		int next = dup(0);

		close(next);
		none = (struct rlimit){ (rlim_t)next + room, old.rlim_max };
		setrlimit(RLIMIT_NOFILE, &none);
		assert_int_equal(ring_pump_start(f.pump, &err), -EMFILE);
		setrlimit(RLIMIT_NOFILE, &old);
		ring_pump_free(f.pump);
		assert_false(f.is_open);
		f.pump = ring_pump_new();
		assert_int_equal(ring_pump_add(f.pump, 3), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_thread),
		TEST(while_nobody_takes),
		TEST(while_the_taker_waits),
		TEST(a_flood_while_the_taker_waits),
		TEST(a_taker_who_does_not_go_first),
		TEST(nothing_there),
		TEST(no_more_than_has_room),
		TEST(a_record_that_is_larger),
		TEST(ends_while_it_waits),
		TEST(as_urgent_as_who_starts_it),
		TEST(as_nice_as_who_starts_it),
		TEST(rings_that_cannot_be_had),
		TEST(no_descriptor_left),
	};

	return cmocka_run_group_tests_name("ring_pump", tests, NULL, NULL);
}
