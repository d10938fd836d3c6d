// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "base/macros.h"
#include "test.h"

static int calls;

static int next(void)
{
	return ++calls;
}

/* Who asks a broker in one of them must not ask twice. */
static void each_is_evaluated_once(void **state)
{
	(void)state;
	calls = 0;
	assert_int_equal(MIN(next(), 7), 1);
	assert_int_equal(MAX(0, next()), 2);
	assert_int_equal(MIN(MAX(next(), next()), MIN(9, next())), 4);
	assert_int_equal(calls, 5);
}

static void types_are_the_wider_ones(void **state)
{
	const uint64_t much = UINT64_MAX - 1;

	(void)state;
	assert_true(MIN(much, UINT64_MAX) == much);
	assert_true(MAX((uint32_t)3, much) == much);
	assert_true(MIN((int64_t)-5, 0) == -5);
	assert_true(MAX(-1.5, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_evaluated_once),
		cmocka_unit_test(types_are_the_wider_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
