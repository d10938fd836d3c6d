// SPDX-License-Identifier: Apache-2.0
/* What samples of allocations stand for: single ones by the formula, many of them by what was allocated. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "session/alloc/alloc_weight.h"

static void single_samples(void **state)
{
	(void)state;
	/* s / (1 - e^(-s/R)), with more digits than a double would give by that formula. */
	assert_int_equal(alloc_weight_bytes(24, 524288), 524300);
	assert_int_equal(alloc_weight_bytes(16, 1 << 30), 1073741832);
	assert_int_equal(alloc_weight_bytes(524288, 524288), 829411);
	assert_int_equal(alloc_weight_bytes(2097152, 65536), 2097152);
}

/* They are a JVM's words. */
static void any_numbers(void **state)
{
	double carried = 0;

	(void)state;
	assert_int_equal(alloc_weight_bytes(1000, 0), 1000);
	assert_int_equal(alloc_weight_bytes(0, 0), 1);
	assert_true(alloc_weight_bytes(UINT64_MAX, UINT64_MAX) <= 2ULL << 40);
	assert_true(alloc_weight_bytes(1, UINT64_MAX) <= 2ULL << 40);
	assert_int_equal(alloc_weight_objects(10, 0, &carried), 10);
}

static void objects_are_whole_and_none_is_lost(void **state)
{
	double carried = 0;
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		sum += alloc_weight_objects(700000, 524288, &carried);
	assert_in_range(sum, 1335, 1336); /* 1335.14 */
	assert_int_equal(alloc_weight_objects(24000, 24, &carried), 1000);
}

/* Points of chance over a stream of objects of two sizes: each size's bytes and objects come out. */
static void sums_are_unbiased(void **state)
{
	static const uint64_t sizes[] = { 24, 40000 };
	const double interval = 16384;
	double sums[2] = { 0 }, truth[2] = { 0 }, next = interval;
	unsigned short seed[3] = { 1, 2, 3 };

	(void)state;
	for (int i = 0; i < 6000000; i++) {
		int kind = i % 1000 == 0;
		double size = (double)sizes[kind];

		truth[kind] += size;
		next -= size;
		if (next >= 0)
			continue;
		sums[kind] += (double)alloc_weight_bytes(sizes[kind], (uint64_t)interval);
		next = -interval * log(1 - erand48(seed));
	}
	/* 8,800 and 5,500 samples: four deviations. */
	assert_true(fabs(sums[0] / truth[0] - 1) < 0.043);
	assert_true(fabs(sums[1] / truth[1] - 1) < 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_samples),
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(objects_are_whole_and_none_is_lost),
		cmocka_unit_test(sums_are_unbiased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
