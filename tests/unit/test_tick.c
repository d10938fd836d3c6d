// SPDX-License-Identifier: Apache-2.0
/* Weights of ticks: their sum is the time that went by, late and dropped ones included. */
#include "test.h"

#include "tick.h"

#define PERIOD 100000ULL

static void test_on_time(void **state)
{
	struct tick tick = { 0 };
	uint64_t gap;

	(void)state;
	for (uint64_t at = PERIOD; at < 10 * PERIOD; at += PERIOD) {
		assert_int_equal(tick_weight(&tick, at, at + 300, PERIOD, &gap), PERIOD);
		assert_int_equal(gap, 0);
		assert_int_equal(tick.next_ns, at + PERIOD);
	}
}

/* Fired three and a half periods late: the kernel skips three expiries. */
static void test_late(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };
	uint64_t gap;

	(void)state;
	assert_int_equal(tick_weight(&tick, 5 * PERIOD, 8 * PERIOD + PERIOD / 2, PERIOD, &gap),
			 4 * PERIOD);
	assert_int_equal(tick.next_ns, 9 * PERIOD);
	assert_int_equal(tick_weight(&tick, 9 * PERIOD, 9 * PERIOD + 10, PERIOD, &gap), PERIOD);
	assert_int_equal(gap, 0);
}

/* Two ticks came while another program ran and never reached us. */
static void test_dropped(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };
	uint64_t gap;

	(void)state;
	assert_int_equal(tick_weight(&tick, 7 * PERIOD, 7 * PERIOD + 1, PERIOD, &gap), 3 * PERIOD);
	assert_int_equal(gap, 0);
}

/* Stopped and started again, or asleep for seconds: one period, and a gap that is told. */
static void test_gaps(void **state)
{
	struct tick tick = { .next_ns = 5 * PERIOD };
	uint64_t gap;

	(void)state;
	assert_int_equal(tick_weight(&tick, 7 * PERIOD + 33, 7 * PERIOD + 40, PERIOD, &gap),
			 PERIOD);
	assert_int_equal(gap, 2 * PERIOD + 33);
	assert_int_equal(tick_weight(&tick, 8 * PERIOD + 33, 5008 * PERIOD, PERIOD, &gap), PERIOD);
	assert_int_equal(gap, 4999 * PERIOD);
	assert_int_equal(tick.next_ns, 5008 * PERIOD + 33);
}

/* The handler's clock may be read a little before the timer's expiry is due. */
static void test_early_clock(void **state)
{
	struct tick tick = { 0 };
	uint64_t gap;

	(void)state;
	assert_int_equal(tick_weight(&tick, 5 * PERIOD, 5 * PERIOD - 7, PERIOD, &gap), PERIOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_time),	    cmocka_unit_test(test_late),
		cmocka_unit_test(test_dropped),	    cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_early_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
