// SPDX-License-Identifier: Apache-2.0
/* The parts of a safepoint, by what the VM thread comes past. */
#include "test.h"

#include "sample/safepoint.h"

#define NAME 0x7f0000001234ULL

static void expect_parts(const struct safepoint_book *book, uint64_t reaching, uint64_t operation,
			 uint64_t leaving)
{
	assert_int_equal(safepoint_length(book, SAFEPOINT_REACHING), reaching);
	assert_int_equal(safepoint_length(book, SAFEPOINT_OPERATION), operation);
	assert_int_equal(safepoint_length(book, SAFEPOINT_LEAVING), leaving);
	assert_int_equal(safepoint_length(book, SAFEPOINT_PARTS), 0);
}

static void all_parts(void **state)
{
	struct safepoint_book book = { 0 };

	(void)state;
	safepoint_begin(&book, 1000);
	safepoint_reach(&book, 1300, NAME);
	safepoint_operated(&book, 5300);
	assert_true(safepoint_end(&book, 5320));
	expect_parts(&book, 300, 4000, 20);
	assert_true(book.name_at == NAME);
	/* The next one is another's. */
	safepoint_begin(&book, 9000);
	assert_true(book.name_at == 0);
	safepoint_reach(&book, 9001, NAME + 8);
	safepoint_operated(&book, 9003);
	assert_true(safepoint_end(&book, 9007));
	expect_parts(&book, 1, 2, 4);
	assert_true(book.name_at == NAME + 8);
}

/* JDK 11 runs what waits meanwhile in the same safepoint. */
static void several_operations(void **state)
{
	struct safepoint_book book = { 0 };

	(void)state;
	safepoint_begin(&book, 1000);
	safepoint_reach(&book, 1100, NAME);
	safepoint_operated(&book, 1500);
	safepoint_reach(&book, 1510, NAME + 8);
	safepoint_operated(&book, 1700);
	assert_true(safepoint_end(&book, 1750));
	expect_parts(&book, 100, 600, 50);
	assert_true(book.name_at == NAME);
}

/* A recording begins or ends at any time; some operations stop nobody. */
static void what_was_not_seen(void **state)
{
	struct safepoint_book book = { 0 };

	(void)state;
	safepoint_reach(&book, 1000, NAME);
	safepoint_operated(&book, 1050);
	assert_false(safepoint_end(&book, 1100));
	/* Without an operation. */
	safepoint_begin(&book, 2000);
	safepoint_operated(&book, 2100);
	assert_true(safepoint_end(&book, 2500));
	expect_parts(&book, 0, 500, 0);
	assert_true(book.name_at == 0);
	/* Whose end was not seen. */
	safepoint_begin(&book, 2700);
	safepoint_reach(&book, 2800, NAME);
	assert_true(safepoint_end(&book, 2900));
	expect_parts(&book, 100, 100, 0);
	safepoint_begin(&book, 3000);
	safepoint_reach(&book, 3100, NAME);
	safepoint_begin(&book, 4000);
	safepoint_reach(&book, 4200, NAME);
	safepoint_operated(&book, 4300);
	assert_true(safepoint_end(&book, 4310));
	expect_parts(&book, 200, 100, 10);
}

static void clocks_that_stand_still(void **state)
{
	struct safepoint_book book = { 0 };

	(void)state;
	safepoint_begin(&book, 1000);
	safepoint_reach(&book, 1000, NAME);
	safepoint_operated(&book, 900);
	assert_true(safepoint_end(&book, 800));
	expect_parts(&book, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts),
		cmocka_unit_test(several_operations),
		cmocka_unit_test(what_was_not_seen),
		cmocka_unit_test(clocks_that_stand_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
