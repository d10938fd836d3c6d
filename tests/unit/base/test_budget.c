/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/budget/budget.h"

static struct budget budget;

/* All that one who has nothing gets, in pieces of BYTES. */
static uint64_t take_all(uint64_t bytes)
{
	uint64_t own = 0;

	while (budget_fits(&budget, own, bytes)) {
		own += bytes;
		budget_note(&budget, 0, bytes);
	}
	return own;
}

static void each_leaves_as_much_as_it_took(void **state)
{
	(void)state;
	budget = (struct budget){ .limit_bytes = 2 << 20 };
	assert_int_equal(take_all(1024), 1 << 20);
	assert_int_equal(take_all(1024), 512 << 10);
	assert_int_equal(budget.refused, 2);
}

static void nobody_gets_nothing_until_there_is_twice_as_much(void **state)
{
	(void)state;
	budget = (struct budget){ .limit_bytes = 1 << 20, .used_bytes = 1 << 20 };
	assert_int_equal(take_all(16), 1024);
	budget.used_bytes = (2 << 20) - 16;
	assert_int_equal(take_all(16), 16);
	assert_false(budget_fits(&budget, 0, 1));
	assert_true(budget_fits(&budget, 0, 0));
}

static void what_is_given_back_can_be_had(void **state)
{
	(void)state;
	budget = (struct budget){ .limit_bytes = 1 << 20, .used_bytes = 3 << 20 };
	assert_false(budget_fits(&budget, 0, 16));
	budget_note(&budget, 3 << 20, 0);
	assert_int_equal(budget.used_bytes, 0);
	assert_true(budget_fits(&budget, 0, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_leaves_as_much_as_it_took),
		cmocka_unit_test(nobody_gets_nothing_until_there_is_twice_as_much),
		cmocka_unit_test(what_is_given_back_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
