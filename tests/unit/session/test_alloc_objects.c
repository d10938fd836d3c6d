/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a sample: the same whenever they are asked for, and right in sum. */
#include "test.h"

#include <math.h>

#include "session/alloc/alloc_objects.h"

static struct wire_sample sample_at(uint64_t time_ns, uint32_t tid)
{
	return (struct wire_sample){
		.time_ns = time_ns, .tid = tid, .weight = 524300, .alloc_size = 400000
	};
}

/* 1.31075 each: within four deviations of so many ones and twos. */
static void sums_are_right(void **state)
{
	const unsigned int count = 100000;
	const double mean = 524300.0 / 400000;
	double sum = 0;

	(void)state;
	for (unsigned int i = 0; i < count; i++) {
		struct wire_sample sample = sample_at(1000000 + 1000 * i, 7 + i % 3);
		uint64_t objects = alloc_objects(&sample);

		assert_in_range(objects, 1, 2);
		assert_int_equal(alloc_objects(&sample), objects);
		sum += (double)objects;
	}
	assert_true(fabs(sum / count - mean) < 4 * sqrt((mean - 1) * (2 - mean) / (double)count));
}

/* What is waited for was not allocated. */
static void a_lock_has_none(void **state)
{
	struct wire_sample sample = sample_at(1000000, 7);

	(void)state;
	sample.flags = WIRE_SAMPLE_LOCK;
	assert_int_equal(alloc_objects(&sample), 0);
}

/* Two threads may be sampled in the same nanosecond. */
static void each_has_its_own_chance(void **state)
{
	unsigned int other_times = 0, other_threads = 0;

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		struct wire_sample first = sample_at(1, 1), time = sample_at(2 + i, 1);
		struct wire_sample thread = sample_at(1, 2 + i);

		other_times += alloc_objects(&time) != alloc_objects(&first);
		other_threads += alloc_objects(&thread) != alloc_objects(&first);
	}
	assert_in_range(other_times, 1, 63);
	assert_in_range(other_threads, 1, 63);
}

static void whole_ones_and_none(void **state)
{
	struct wire_sample sample = sample_at(5, 5);

	(void)state;
	sample.alloc_size = sample.weight;
	assert_int_equal(alloc_objects(&sample), 1);
	sample.weight *= 3;
	assert_int_equal(alloc_objects(&sample), 3);
	sample.alloc_size = 0;
	assert_int_equal(alloc_objects(&sample), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right),
		cmocka_unit_test(a_lock_has_none),
		cmocka_unit_test(each_has_its_own_chance),
		cmocka_unit_test(whole_ones_and_none),
	};

	return cmocka_run_group_tests_name("alloc_objects", tests, NULL, NULL);
}
