// SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0)
/* Which of a thread's waits for locks somebody has ended. */
#include "test.h"

#include <string.h>

#include "sample/locks/lock_book.h"

#define LEAST 10000

static struct lock_book book;

static int begin(void **state)
{
	(void)state;
	memset(&book, 0, sizeof(book));
	return 0;
}

/* The number of a wait is its waker's and its own sample's; the next one has another. */
static void waits_have_numbers(void **state)
{
	(void)state;
	assert_int_equal(lock_book_wake(&book, 50000, LEAST), 0);
	lock_book_begin(&book, 20000);
	assert_int_equal(lock_book_wake(&book, 50000, LEAST), 1);
	assert_int_equal(lock_book_end(&book, 20000), 1);
	assert_int_equal(lock_book_wake(&book, 60000, LEAST), 0);
	lock_book_begin(&book, 70000);
	assert_int_equal(lock_book_wake(&book, 90000, LEAST), 2);
	assert_int_equal(lock_book_end(&book, 70000), 2);
}

/* One that was not told has ended all the same: a virtual thread may end it on another thread. */
static void an_end_is_of_its_begin(void **state)
{
	(void)state;
	assert_int_equal(lock_book_end(&book, 0), 0);
	lock_book_begin(&book, 20000);
	assert_int_equal(lock_book_end(&book, 30000), 0);
	assert_int_equal(lock_book_end(&book, 0), 0);
	assert_int_equal(lock_book_end(&book, 20000), 1);
	assert_int_equal(lock_book_end(&book, 20000), 0);
}

static void short_ones_have_none(void **state)
{
	(void)state;
	lock_book_begin(&book, 20000);
	assert_int_equal(lock_book_wake(&book, 20000 + LEAST - 1, LEAST), 0);
	/* Clocks of two cpus. */
	assert_int_equal(lock_book_wake(&book, 19999, LEAST), 0);
	assert_int_equal(lock_book_wake(&book, 20000 + LEAST, LEAST), 1);
}

/* Of a wait of which nobody says that it is over. */
static void no_more_than_some(void **state)
{
	(void)state;
	lock_book_begin(&book, 20000);
	for (unsigned int i = 0; i < LOCK_BOOK_WAKERS; i++)
		assert_int_equal(lock_book_wake(&book, 50000 + i, LEAST), 1);
	assert_int_equal(lock_book_wake(&book, 60000, LEAST), 0);
	lock_book_begin(&book, 70000);
	assert_int_equal(lock_book_wake(&book, 90000, LEAST), 2);
}

/* 0 is none. */
static void numbers_come_again(void **state)
{
	(void)state;
	book.number = UINT32_MAX;
	lock_book_begin(&book, 20000);
	assert_int_equal(lock_book_end(&book, 20000), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(waits_have_numbers, begin),
		cmocka_unit_test_setup(an_end_is_of_its_begin, begin),
		cmocka_unit_test_setup(short_ones_have_none, begin),
		cmocka_unit_test_setup(no_more_than_some, begin),
		cmocka_unit_test_setup(numbers_come_again, begin),
	};

	return cmocka_run_group_tests_name("lock_book", tests, NULL, NULL);
}
