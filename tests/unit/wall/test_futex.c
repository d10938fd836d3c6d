// SPDX-License-Identifier: Apache-2.0
/* How long one waits for the other without sleeping. */
#include "test.h"

#include "wall/futex.h"

#define MOST 40000U

static void calls_that_come_in_rows(void **state)
{
	(void)state;
	assert_int_equal(futex_next_spin_ns(MOST, 0, MOST), MOST);
	assert_int_equal(futex_next_spin_ns(MOST / 8, 3000, MOST), MOST);
	/* It would have been seen. */
	assert_int_equal(futex_next_spin_ns(MOST / 8, MOST, MOST), MOST);
}

static void calls_that_come_alone(void **state)
{
	uint64_t spin_ns = MOST;

	(void)state;
	spin_ns = futex_next_spin_ns(spin_ns, MOST + 1, MOST);
	assert_int_equal(spin_ns, MOST / 2);
	for (int i = 0; i < 100; i++)
		spin_ns = futex_next_spin_ns(spin_ns, 1000000, MOST);
	/* Never less: the first of a row finds the next one awake. */
	assert_int_equal(spin_ns, MOST / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_come_in_rows),
		cmocka_unit_test(calls_that_come_alone),
	};

	return cmocka_run_group_tests_name("futex", tests, NULL, NULL);
}
