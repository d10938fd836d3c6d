// SPDX-License-Identifier: Apache-2.0
/* How much longer than usual calls may take, now and then and all the time. */
#include "test.h"

#include "base/budget/patience.h"
#include "base/macros.h"

#define MS    1000000ULL
#define USUAL (25 * MS)

static void now_and_then(void **state)
{
	struct patience patience = { 0 };

	(void)state;
	for (uint64_t at = 1000000 * MS; at < 1060000 * MS; at += 10000 * MS) {
		assert_int_equal(patience_begin(&patience, at), PATIENCE_CALL_NS);
		patience_end(&patience, at + USUAL + 90 * MS, USUAL);
	}
}

/* A call at AT that has all that it may have. Returns how much that was. */
static uint64_t take(struct patience *patience, uint64_t at)
{
	uint64_t had = patience_begin(patience, at);

	patience_end(patience, at + USUAL + had, USUAL);
	return had;
}

/* Then it is a twentieth of the time. */
static void all_the_time(void **state)
{
	struct patience patience = { 0 };
	uint64_t at = 1000 * MS, taken = 0;

	(void)state;
	assert_int_equal(take(&patience, at), 125 * MS);
	assert_int_equal(take(&patience, at), 125 * MS);
	assert_int_equal(take(&patience, at), 50 * MS);
	assert_int_equal(patience_begin(&patience, at), 0);
	/* One that took more than it might: nothing is owed. */
	patience_end(&patience, at + 500 * MS, USUAL);
	assert_int_equal(take(&patience, at), 0);
	assert_int_equal(take(&patience, at + 20 * MS), 1 * MS);
	for (int i = 0; i < 1000; i++)
		taken += take(&patience, at += 100 * MS);
	assert_in_range(taken, 4990 * MS, 5010 * MS);
	/* It is saved up to its store. */
	for (uint64_t left = 300 * MS; left; left -= MIN(left, 125 * MS))
		assert_int_equal(take(&patience, at + 100000 * MS), MIN(left, 125 * MS));
	assert_int_equal(take(&patience, at + 100000 * MS), 0);
}

static void calls_that_take_no_longer(void **state)
{
	struct patience patience = { 0 };

	(void)state;
	for (uint64_t at = 1000 * MS; at < 2000 * MS; at += 26 * MS) {
		assert_int_equal(patience_begin(&patience, at), PATIENCE_CALL_NS);
		patience_end(&patience, at + (at % 3 ? USUAL : 1), USUAL);
	}
	assert_int_equal(patience.spent_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(now_and_then),
		cmocka_unit_test(all_the_time),
		cmocka_unit_test(calls_that_take_no_longer),
	};

	return cmocka_run_group_tests_name("patience", tests, NULL, NULL);
}
