/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/quality.h"

static void expect_share(uint64_t part, uint64_t whole, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	profile_format_share(&sb, part, whole);
	assert_string_equal(strbuf_str(&sb), expected);
}

static void test_share_is_rounded_down(void **state)
{
	(void)state;
	expect_share(99999, 100000, "99.99 %");
	expect_share(UINT64_MAX - 1, UINT64_MAX, "99.99 %");
	expect_share(7, 7, "100.00 %");
	expect_share(1, 3, "33.33 %");
	expect_share(0, 5, "0.00 %");
	expect_share(0, 0, "-");
}

static void test_sums(void **state)
{
	const struct profile_quality rows[] = {
		{ .process = 0,
		  .event = 0,
		  .samples = 5,
		  .complete = 4,
		  .weight = 50,
		  .lost = 1,
		  .lost_weight = 10 },
		{ .process = 1, .event = 0, .samples = 7, .complete = 7, .weight = 70 },
		{ .process = 1, .event = 1, .samples = 1, .complete = 1, .weight = 4096 },
	};
	struct profile_quality sum;
	struct profile p;

	(void)state;
	profile_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		profile_add_quality(&p, &rows[i]);
	sum = profile_quality_sum(&p, 0, PROFILE_NONE);
	assert_int_equal(sum.samples, 12);
	assert_int_equal(sum.complete, 11);
	assert_int_equal(sum.weight, 120);
	assert_int_equal(sum.lost, 1);
	assert_int_equal(sum.lost_weight, 10);
	assert_int_equal(profile_quality_sum(&p, PROFILE_NONE, 1).samples, 8);
	assert_int_equal(profile_quality_sum(&p, 1, 0).samples, 0);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share_is_rounded_down),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
