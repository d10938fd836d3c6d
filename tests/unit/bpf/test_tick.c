// SPDX-License-Identifier: Apache-2.0
/* Weights of ticks: what a thread's samples weigh follows its run time, and one sample its period. */
#include "test.h"

#include "base/macros.h"
#include "sample/tick.h"

#define PERIOD 400000ULL
#define SHARE  100000ULL
/* Of a thread without history: a quarter of a period less, of which an eighth is taken. */
#define QUIET (SHARE - SHARE / 4 / 8)

static struct tick_weight take(uint64_t *seen_ns, uint64_t run_ns, uint64_t late_ns)
{
	struct tick_input in = { .period_ns = PERIOD,
				 .share_ns = SHARE,
				 .expiry_ns = 5 * PERIOD,
				 .now_ns = 5 * PERIOD + late_ns,
				 .run_ns = run_ns };
	struct tick_weight out;

	tick_take(seen_ns, &in, &out);
	return out;
}

static uint64_t weight(uint64_t *seen_ns, uint64_t run_ns)
{
	struct tick_weight out = take(seen_ns, run_ns, 300);

	assert_int_equal(out.gap_ns, 0);
	return out.weight_ns;
}

/* A thread that was there before: its first sample stands for about a period, whatever it ran before. */
static void test_first_of_an_old_thread(void **state)
{
	struct tick_input in = { .share_ns = SHARE, .run_ns = 77 * PERIOD };
	uint64_t seen_ns = tick_open(&in);

	(void)state;
	assert_int_equal(seen_ns, 77 * PERIOD - SHARE);
	assert_int_equal(weight(&seen_ns, 77 * PERIOD), SHARE + 3 * SHARE / 4 / 8);
	assert_int_equal(seen_ns, 77 * PERIOD + 3 * SHARE / 4 / 8);
	in.run_ns = SHARE - 1;
	assert_int_equal(tick_open(&in), 0);
}

/* A new thread's first sample takes an eighth of what it ran before; a quarter of a period is to be ahead. */
static void test_first_of_a_new_thread(void **state)
{
	uint64_t seen_ns = 0;

	(void)state;
	assert_int_equal(weight(&seen_ns, SHARE / 4), SHARE);
	seen_ns = 0;
	assert_int_equal(weight(&seen_ns, SHARE / 4 + 64000), SHARE + 8000);
	assert_int_equal(seen_ns, SHARE + 8000);
}

/*
 * The sum of weights follows the run time, however many of the ticks arrive: each, every other one, one
 * of eight, and twice as many as there should be.
 */
static void test_sum_follows_the_run_time(void **state)
{
	const uint64_t steps[] = { SHARE, 2 * SHARE, 8 * SHARE, SHARE / 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t seen_ns = 0, run_ns = 0, sum = 0, lag;

		for (int tick = 0; tick < 4000; tick++) {
			run_ns += steps[i];
			sum += weight(&seen_ns, run_ns);
		}
		/* What is owed in the steady state: 8 times what each tick falls short. */
		lag = steps[i] > SHARE ? 9 * (steps[i] - SHARE) : 9 * (SHARE - steps[i]);
		assert_int_equal(sum, seen_ns);
		assert_in_range(sum, run_ns - MIN(lag + SHARE, run_ns), run_ns + lag + SHARE);
	}
}

/* Ticks that come by chance: no weight is far from a period, and the sum is right all the same. */
static void test_chance_is_not_followed(void **state)
{
	uint64_t seen_ns = 0, run_ns = 0, sum = 0, random = 12345;

	(void)state;
	for (int tick = 0; tick < 20000; tick++) {
		uint64_t w;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		run_ns += (random >> 33) % (2 * SHARE);
		w = weight(&seen_ns, run_ns);
		assert_in_range(w, 2 * SHARE / 5, 2 * SHARE);
		sum += w;
	}
	assert_in_range(sum, run_ns - 16 * SHARE, run_ns + 16 * SHARE);
}

/* Three periods late: the kernel skips their expiries, which are the thread's if it ran. */
static void test_late(void **state)
{
	uint64_t seen_ns = 0;

	(void)state;
	assert_int_equal(take(&seen_ns, 4 * SHARE, 3 * PERIOD + 5).weight_ns,
			 4 * SHARE + 3 * SHARE / 4 / 8);
	/* It did not: the hypervisor ran something else. */
	seen_ns = 1000 * SHARE;
	assert_in_range(take(&seen_ns, 1000 * SHARE, 3 * PERIOD + 5).weight_ns, QUIET, QUIET + 1);
	/* Or for a part of that time. */
	seen_ns = 1000 * SHARE;
	assert_in_range(take(&seen_ns, 1002 * SHARE, 3 * PERIOD + 5).weight_ns,
			2 * SHARE - SHARE / 8, 2 * SHARE + SHARE / 8);
}

static void test_early_clock(void **state)
{
	struct tick_input in = {
		.period_ns = PERIOD, .share_ns = SHARE, .expiry_ns = 10, .now_ns = 3
	};

	(void)state;
	assert_int_equal(tick_plain(&in), SHARE);
	in.now_ns = 10 + PERIOD - 1;
	assert_int_equal(tick_plain(&in), SHARE);
	in.now_ns = 10 + 2 * PERIOD;
	assert_int_equal(tick_plain(&in), 3 * SHARE);
}

/* Beyond the limit the clock stood still: told once, and not made up for. */
static void test_gap(void **state)
{
	uint64_t seen_ns = 0;
	struct tick_weight out = take(&seen_ns, TICK_MAX_OWED * SHARE, 0);

	(void)state;
	assert_int_equal(out.gap_ns, 0);
	assert_in_range(out.weight_ns, 64 * SHARE, 66 * SHARE);
	seen_ns = 0;
	out = take(&seen_ns, TICK_MAX_OWED * SHARE + 1, 0);
	assert_int_equal(out.gap_ns, TICK_MAX_OWED * SHARE + 1);
	assert_in_range(out.weight_ns, QUIET, QUIET + 1);
	assert_int_equal(seen_ns, TICK_MAX_OWED * SHARE + 1 + out.weight_ns);
}

/* Far more samples than run time: each still weighs something, and later ones pay for it. */
static void test_least(void **state)
{
	uint64_t seen_ns = 1000 * SHARE;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(weight(&seen_ns, 500 * SHARE), SHARE / 4);
	assert_int_equal(seen_ns, 1000 * SHARE + 10 * SHARE / 4);
}

/* Of -e wall half of what is owed, beside the quarter that a sample is ahead. */
static void test_wall_owes_little(void **state)
{
	struct tick_input in = { .period_ns = 4000,
				 .share_ns = 1000,
				 .expiry_ns = 300,
				 .now_ns = 300,
				 .run_ns = 20000,
				 .is_wall = true };
	struct tick_weight out;
	uint64_t seen_ns = 9000;

	(void)state;
	tick_take(&seen_ns, &in, &out);
	assert_int_equal(out.weight_ns, 1000 + (11000 - 250) / 2);
	assert_int_equal(seen_ns, 9000 + out.weight_ns);
	in.is_wall = false;
	seen_ns = 9000;
	tick_take(&seen_ns, &in, &out);
	assert_int_equal(out.weight_ns, 1000 + (11000 - 250) / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall_owes_little),
		cmocka_unit_test(test_first_of_an_old_thread),
		cmocka_unit_test(test_first_of_a_new_thread),
		cmocka_unit_test(test_sum_follows_the_run_time),
		cmocka_unit_test(test_chance_is_not_followed),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_early_clock),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
