// SPDX-License-Identifier: Apache-2.0
/* Who had monitors that did not tell, until their waits' samples ask. */
#include "test.h"

#include <string.h>

#include "session/locks/lock_owners.h"

static struct lock_owners owners;

static int setup(void **state)
{
	(void)state;
	memset(&owners, 0, sizeof(owners));
	return 0;
}

static void by_thread_and_begin(void **state)
{
	(void)state;
	lock_owners_put(&owners, 11, 100, 7);
	lock_owners_put(&owners, 12, 100, 8);
	lock_owners_put(&owners, 11, 200, 9);
	assert_int_equal(lock_owners_take(&owners, 11, 300), 0);
	assert_int_equal(lock_owners_take(&owners, 13, 100), 0);
	assert_int_equal(lock_owners_take(&owners, 12, 100), 8);
	assert_int_equal(lock_owners_take(&owners, 11, 200), 9);
	assert_int_equal(lock_owners_take(&owners, 11, 100), 7);
	/* Once. */
	assert_int_equal(lock_owners_take(&owners, 11, 100), 0);
}

static void what_is_not_known(void **state)
{
	(void)state;
	assert_int_equal(lock_owners_take(&owners, 0, 0), 0);
	lock_owners_put(&owners, 11, 100, 7);
	/* It takes nobody's place. */
	for (uint32_t i = 0; i < 2 * LOCK_OWNERS_MOST; i++)
		lock_owners_put(&owners, 12, 100 + i, 0);
	assert_int_equal(lock_owners_take(&owners, 11, 100), 7);
}

static void the_newest_stay(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LOCK_OWNERS_MOST + 1; i++)
		lock_owners_put(&owners, 11, 1 + i, 1000 + i);
	assert_int_equal(lock_owners_take(&owners, 11, 1), 0);
	assert_int_equal(lock_owners_take(&owners, 11, 2), 1001);
	assert_int_equal(lock_owners_take(&owners, 11, 1 + LOCK_OWNERS_MOST),
			 1000 + LOCK_OWNERS_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(by_thread_and_begin, setup),
		cmocka_unit_test_setup(what_is_not_known, setup),
		cmocka_unit_test_setup(the_newest_stay, setup),
	};

	return cmocka_run_group_tests_name("lock_owners", tests, NULL, NULL);
}
