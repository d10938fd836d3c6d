// SPDX-License-Identifier: Apache-2.0
/* How long a thread has parked, and whether that is told. */
#include "test.h"

#include <stdlib.h>

#include "sample/locks/park.h"
#include "sample/thin.h"

static void lengths(void **state)
{
	(void)state;
	assert_int_equal(park_length(1000, 21000, 10000), 20000);
	assert_int_equal(park_length(1000, 11000, 10000), 10000);
	assert_int_equal(park_length(1000, 10999, 10000), 0);
	/* Its begin was not seen. */
	assert_int_equal(park_length(0, 21000, 0), 0);
	/* The clock has not moved, or not forwards. */
	assert_int_equal(park_length(1000, 1000, 0), 1);
	assert_int_equal(park_length(1000, 900, 0), 1);
	assert_int_equal(park_length(1000, 1000 + LOCK_MOST_NS, 0), LOCK_MOST_NS);
	assert_int_equal(park_length(1000, 1001 + LOCK_MOST_NS, 0), 0);
}

static void chances(void **state)
{
	(void)state;
	assert_int_equal(park_chance(1, 0), 1);
	assert_int_equal(park_chance(PARK_LEVEL_NS, 1), 1);
	assert_int_equal(park_chance(PARK_LEVEL_NS - 1, 1), 2);
	assert_int_equal(park_chance(PARK_LEVEL_NS / 10, 1), 10);
	assert_int_equal(park_chance(PARK_LEVEL_NS / 10, 3), 40);
	assert_int_equal(park_chance(PARK_LEVEL_NS << 2, 3), 1);
	assert_int_equal(park_chance(1, THIN_MOST_DOUBLED), LOCK_MOST_CHANCE);
}

/* What is told stands for what is not: more than a JVM may tell of, of lengths that differ by a hundred. */
static void sums_stay(void **state)
{
	struct wire_pace pace = { .window_ns = 1 };
	double sum = 0, weight = 0, variance = 0;
	uint64_t now_ns = 1;
	unsigned int told = 0, waits = 200000;

	(void)state;
	srand(7);
	for (unsigned int i = 0; i < waits; i++) {
		uint64_t length_ns = 2000 + (uint64_t)rand() % 200000;
		uint32_t chance = park_chance(length_ns, pace.doubled);

		now_ns += 20000;
		sum += (double)length_ns;
		variance += (double)length_ns * (double)length_ns * (chance - 1);
		chance = park_choose(&pace, length_ns, now_ns, (uint32_t)rand());
		if (!chance)
			continue;
		weight += (double)length_ns * chance;
		told++;
	}
	/* Four seconds of 5,000 each, and a little to learn that. */
	assert_in_range(told, 5000, 30000);
	assert_true((weight - sum) * (weight - sum) < 16 * variance);
	assert_true(weight > 0.9 * sum && weight < 1.1 * sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(chances),
		cmocka_unit_test(sums_stay),
	};

	return cmocka_run_group_tests_name("park", tests, NULL, NULL);
}
