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

/* What is said twice of a process and an event is added up, field by field. */
static void test_added_up(void **state)
{
	const struct profile_quality row = { .process = 3,
					     .event = 1,
					     .samples = 1,
					     .complete = 10,
					     .weight = 100,
					     .lost = 1000,
					     .lost_weight = 10000 };
	struct profile_quality other = row, sum;
	struct profile p;

	(void)state;
	profile_init(&p);
	profile_add_quality(&p, &row);
	other.process = 1;
	other.event = 3;
	profile_add_quality(&p, &other);
	profile_add_quality(&p, &row);
	assert_int_equal(p.quality.len, 2);
	sum = profile_quality_sum(&p, 1, 3);
	assert_true(sum.process == 3 && sum.event == 1);
	assert_int_equal(sum.samples, 2);
	assert_int_equal(sum.complete, 20);
	assert_int_equal(sum.weight, 200);
	assert_int_equal(sum.lost, 2000);
	assert_int_equal(sum.lost_weight, 20000);
	assert_int_equal(profile_quality_sum(&p, PROFILE_NONE, PROFILE_NONE).samples, 3);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share_is_rounded_down),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
