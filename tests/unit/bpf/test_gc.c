// SPDX-License-Identifier: Apache-2.0
/* How long an operation that collects took, and whether it is known why. */
#include "test.h"

#include <string.h>

#include "sample/phases/gc.h"

static struct gc_book book;

static void an_operation_that_collects(void **state)
{
	(void)state;
	gc_begin(&book, 1000, 0x7000);
	assert_int_equal(book.name_at, 0x7000);
	book.collects = 1;
	assert_int_equal(gc_end(&book, 5000), 4000);
	/* Once. */
	assert_int_equal(gc_end(&book, 6000), 0);
}

static void others(void **state)
{
	(void)state;
	gc_begin(&book, 1000, 0x7000);
	assert_int_equal(gc_end(&book, 5000), 0);
	book.collects = 1;
	assert_int_equal(gc_end(&book, 6000), 0);
	/* What the one before was. */
	strcpy(book.cause, "System.gc()");
	gc_begin(&book, 7000, 0);
	assert_int_equal(book.collects, 0);
	assert_string_equal(book.cause, "");
	book.collects = 1;
	assert_int_equal(gc_end(&book, 6000), 1);
}

static void causes(void **state)
{
	(void)state;
	gc_begin(&book, 1000, 0);
	assert_true(gc_wants_cause(&book));
	strcpy(book.cause, WIRE_GC_NO_CAUSE);
	assert_true(gc_wants_cause(&book));
	strcpy(book.cause, "Node full");
	assert_false(gc_wants_cause(&book));
	strcpy(book.cause, "System.gc()");
	assert_false(gc_wants_cause(&book));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operation_that_collects),
		cmocka_unit_test(others),
		cmocka_unit_test(causes),
	};

	return cmocka_run_group_tests_name("gc", tests, NULL, NULL);
}
