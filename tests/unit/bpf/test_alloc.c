// SPDX-License-Identifier: Apache-2.0
/* What a lost allocation weighs, against the formula that it stands for. */
#include "test.h"

#include <math.h>

#include "sample/alloc.h"

static void weights_are_near(void **state)
{
	static const uint64_t intervals[] = { 1024, 65536, 524288, 1 << 30 };

	(void)state;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		for (uint64_t size = 16; size < intervals[i] * 64; size = size * 5 / 4) {
			double s = (double)size, r = (double)intervals[i];
			double exact = s / (1 - exp(-s / r));
			double got = (double)alloc_weight(size, intervals[i]);

			if (fabs(got - exact) > exact * 0.055)
				fail_msg("%.0f of %.0f: %.0f, not %.0f", s, r, got, exact);
		}
	}
}

/* The numbers are the JVM's words: none of them is divided by unseen. */
static void any_numbers(void **state)
{
	(void)state;
	assert_int_equal(alloc_weight(24, 0), 24);
	assert_int_equal(alloc_weight(0, 1024), 1024);
	assert_int_equal(alloc_weight(UINT64_MAX, 1024), UINT64_MAX);
	assert_int_equal(alloc_weight(100, UINT64_MAX), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_near),
		cmocka_unit_test(any_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
