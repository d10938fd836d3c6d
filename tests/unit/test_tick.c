// SPDX-License-Identifier: Apache-2.0
/* Weights of ticks: their sum is the time that went by, late and dropped ones included. */
#include "test.h"

#include "tick.h"

#define PERIOD 100000ULL

static struct tick_weight take(struct tick *tick, uint64_t expiry, uint64_t now, uint64_t steal)
{
	struct tick_input in = {
		.expiry_ns = expiry, .now_ns = now, .steal_ns = steal, .period_ns = PERIOD
	};
	struct tick_weight out;

	tick_take(tick, &in, &out);
	return out;
}

static void expect(struct tick_weight out, uint64_t weight, uint64_t gap, uint64_t stolen)
{
	assert_int_equal(out.weight_ns, weight);
	assert_int_equal(out.gap_ns, gap);
	assert_int_equal(out.stolen_ns, stolen);
}

static void test_on_time(void **state)
{
	struct tick tick = { 0 };

	(void)state;
	for (uint64_t at = PERIOD; at < 10 * PERIOD; at += PERIOD) {
		expect(take(&tick, at, at + 300, 0), PERIOD, 0, 0);
		assert_int_equal(tick.next_ns, at + PERIOD);
	}
}

/* Fired three and a half periods late: the kernel skips three expiries. */
static void test_late(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };

	(void)state;
	expect(take(&tick, 5 * PERIOD, 8 * PERIOD + PERIOD / 2, 0), 4 * PERIOD, 0, 0);
	assert_int_equal(tick.next_ns, 9 * PERIOD);
	expect(take(&tick, 9 * PERIOD, 9 * PERIOD + 10, 0), PERIOD, 0, 0);
}

/* Two ticks came while another program ran and never reached us. */
static void test_dropped(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };

	(void)state;
	expect(take(&tick, 7 * PERIOD, 7 * PERIOD + 1, 0), 3 * PERIOD, 0, 0);
}

/* Stopped and started again, or asleep for seconds: one period, and a gap that is told. */
static void test_gaps(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };

	(void)state;
	expect(take(&tick, 7 * PERIOD + 33, 7 * PERIOD + 40, 0), PERIOD, 2 * PERIOD + 33, 0);
	expect(take(&tick, 8 * PERIOD + 33, 5008 * PERIOD, 0), PERIOD, 4999 * PERIOD, 0);
	assert_int_equal(tick.next_ns, 5008 * PERIOD + 33);
}

/* The handler's clock may be read a little before the timer's expiry is due. */
static void test_early_clock(void **state)
{
	struct tick tick = { 0 };

	(void)state;
	expect(take(&tick, 5 * PERIOD, 5 * PERIOD - 7, 0), PERIOD, 0, 0);
}

/* Steal time before the first tick is nobody's; later thefts are taken off in whole periods. */
static void test_steal(void **state)
{
	struct tick tick = { 0 };

	(void)state;
	expect(take(&tick, PERIOD, PERIOD, 1000 * PERIOD), PERIOD, 0, 0);
	/* Late by four periods; the scheduler learns of three stolen ones a tick later. */
	expect(take(&tick, 2 * PERIOD, 6 * PERIOD + 1, 1000 * PERIOD), 5 * PERIOD, 0, 0);
	expect(take(&tick, 7 * PERIOD, 7 * PERIOD, 1003 * PERIOD + 60000), 0, 0, PERIOD);
	expect(take(&tick, 8 * PERIOD, 8 * PERIOD, 1003 * PERIOD + 60000), 0, 0, PERIOD);
	expect(take(&tick, 9 * PERIOD, 9 * PERIOD, 1003 * PERIOD + 60000), 0, 0, PERIOD);
	expect(take(&tick, 10 * PERIOD, 10 * PERIOD, 1003 * PERIOD + 60000), PERIOD, 0, 0);
	/* 60 % of a period is left over; with 50 % more another tick has gone. */
	expect(take(&tick, 11 * PERIOD, 11 * PERIOD, 1004 * PERIOD + 10000), 0, 0, PERIOD);
	assert_int_equal(tick.stolen_ns, 10000);
	/* A suspended machine: the tick weighed one period, so that nothing is owed. */
	expect(take(&tick, 12 * PERIOD, 12 * PERIOD, 9999 * PERIOD), PERIOD, 0, 0);
}

static void test_idle(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD, .steal_ns = 7 };
	struct tick_input in = { .expiry_ns = 9 * PERIOD + 1,
				 .now_ns = 9 * PERIOD + 1,
				 .steal_ns = 7 + 3 * PERIOD,
				 .period_ns = PERIOD,
				 .idle = 1 };
	struct tick_weight out;

	(void)state;
	tick_take(&tick, &in, &out);
	expect(out, PERIOD, 0, 0);
	/* The gap may have begun while the cpu was idle. */
	expect(take(&tick, 20 * PERIOD, 20 * PERIOD, 7 + 3 * PERIOD), PERIOD, 0, 0);
	expect(take(&tick, 30 * PERIOD + 5, 30 * PERIOD + 5, 7 + 3 * PERIOD), PERIOD,
	       9 * PERIOD + 5, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_time),	    cmocka_unit_test(test_late),
		cmocka_unit_test(test_dropped),	    cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_early_clock), cmocka_unit_test(test_steal),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
