// SPDX-License-Identifier: Apache-2.0
/* The timers of a clock: together they have its rate, and no two are in step. */
#include "test.h"

#include "capture/perf_events.h"

#define PERIOD 1003009ULL

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
		cmocka_unit_test(test_rates_make_the_clocks),
		cmocka_unit_test(test_no_two_are_in_step),
		cmocka_unit_test(test_chance_moves_a_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
