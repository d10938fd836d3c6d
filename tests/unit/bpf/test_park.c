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

static wire_u64 level(wire_u32 doubled)
{
	return park_level_of(PARK_LEVEL_NS, false, doubled);
}

static void levels(void **state)
{
	(void)state;
	assert_int_equal(level(0), 0);
	assert_int_equal(level(1), PARK_LEVEL_NS);
	assert_int_equal(level(3), PARK_LEVEL_NS << 2);
	/* A step that counts from the start. */
	assert_int_equal(park_level_of(10000000, true, 0), 10000000);
	assert_int_equal(park_level_of(10000000, true, 2), 40000000);
	assert_int_equal(park_level_of(10000000, false, 0), 0);
}

static void chances(void **state)
{
	(void)state;
	assert_int_equal(park_chance(1, level(0)), 1);
	assert_int_equal(park_chance(PARK_LEVEL_NS, level(1)), 1);
	assert_int_equal(park_chance(PARK_LEVEL_NS - 1, level(1)), 2);
	assert_int_equal(park_chance(PARK_LEVEL_NS / 10, level(1)), 10);
	assert_int_equal(park_chance(PARK_LEVEL_NS / 10, level(3)), 40);
	assert_int_equal(park_chance(PARK_LEVEL_NS << 2, level(3)), 1);
	assert_int_equal(park_chance(1, level(THIN_MOST_DOUBLED)), LOCK_MOST_CHANCE);
}

/* One in ten of those that are a tenth of the level, each for ten. */
static void draws(void **state)
{
	unsigned int told = 0;

	(void)state;
	srand(5);
	for (unsigned int i = 0; i < 10000; i++) {
		wire_u32 chance = park_draw_at(1000, 10000, (wire_u32)rand());

		assert_true(chance == 0 || chance == 10);
		told += chance != 0;
	}
	assert_in_range(told, 880, 1120);
	assert_int_equal(park_draw_at(10000, 10000, 3), 1);
	assert_int_equal(park_draw(PARK_LEVEL_NS / 2, 1, 1), 0);
	assert_int_equal(park_draw(PARK_LEVEL_NS / 2, 1, 2), 2);
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
		uint32_t chance = park_chance(length_ns, level(pace.doubled));

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

/* Twenty JVMs, each of which is within its own budget: what is told is what all of them may, and stands for the rest. */
static void all_together(void **state)
{
	struct wire_pace paces[20] = { 0 }, all = { 0 };
	double sum = 0, weight = 0, variance = 0;
	uint64_t now_ns = 1;
	unsigned int told = 0, of[20] = { 0 };

	(void)state;
	srand(11);
	for (unsigned int i = 0; i < 320000; i++) {
		uint64_t length_ns = 2000 + (uint64_t)rand() % 200000;
		unsigned int jvm = (unsigned int)rand() % 20;
		uint32_t chance = park_chance(length_ns, level(all.doubled));

		/* 80,000 of them a second. */
		now_ns += 12500;
		sum += (double)length_ns;
		variance += (double)length_ns * (double)length_ns * (chance - 1);
		chance = park_choose_of_all(&paces[jvm], &all, 200, length_ns, now_ns,
					    (uint32_t)rand());
		if (!chance)
			continue;
		weight += (double)length_ns * chance;
		told++;
		of[jvm]++;
	}
	/* Four seconds of 2,000 each. */
	assert_in_range(told, 3000, 12000);
	for (unsigned int i = 0; i < 20; i++)
		assert_in_range(of[i], told / 40, told / 10);
	assert_true((weight - sum) * (weight - sum) < 16 * variance);
	assert_true(weight > 0.9 * sum && weight < 1.1 * sum);
}

/* One of them that is beyond its own is not told more often than it may. */
static void one_of_all(void **state)
{
	struct wire_pace slow = { .window_ns = 1, .doubled = 3 }, fast = { .window_ns = 1 };

	(void)state;
	assert_int_equal(park_choose_of_all(&slow, &fast, 500, PARK_LEVEL_NS / 10, 1, 0), 40);
	assert_int_equal(park_choose_of_all(&fast, &slow, 500, PARK_LEVEL_NS / 10, 1, 0), 40);
	assert_int_equal(park_choose_of_all(&fast, &slow, 500, PARK_LEVEL_NS / 10, 1, 1), 0);
	assert_int_equal(slow.taken, 2);
	assert_int_equal(fast.taken, 2);
}

/* Waits of JVMs whose agents choose them, together more than a host may tell of: both choices are in the weight. */
static void chosen_twice(void **state)
{
	struct wire_pace all = { .window_ns = 1 };
	double sum = 0, weight = 0;
	uint64_t now_ns = 1;
	unsigned int told = 0;

	(void)state;
	srand(13);
	for (unsigned int i = 0; i < 400000; i++) {
		uint64_t length_ns = 2000 + (uint64_t)rand() % 200000;
		/* An agent's level. */
		uint32_t first = park_draw(length_ns, 1, (uint32_t)rand()), again;

		now_ns += 10000;
		sum += (double)length_ns;
		if (!first)
			continue;
		again = park_choose_of(&all, 200, length_ns * first, now_ns, (uint32_t)rand());
		weight += (double)length_ns * first * again;
		told += again != 0;
	}
	/* Four seconds of 2,000 each. */
	assert_in_range(told, 3000, 12000);
	assert_true(weight > 0.92 * sum && weight < 1.08 * sum);
}

/* While there are not too many all of them are told as the agent chose. */
static void chosen_once(void **state)
{
	struct wire_pace all = { .window_ns = 1 };
	uint64_t now_ns = 1;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(park_choose_of(&all, 200, 1000, now_ns += 1000000, 7), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),     cmocka_unit_test(levels),
		cmocka_unit_test(chances),     cmocka_unit_test(draws),
		cmocka_unit_test(sums_stay),   cmocka_unit_test(all_together),
		cmocka_unit_test(one_of_all),  cmocka_unit_test(chosen_twice),
		cmocka_unit_test(chosen_once),
	};

	return cmocka_run_group_tests_name("park", tests, NULL, NULL);
}
