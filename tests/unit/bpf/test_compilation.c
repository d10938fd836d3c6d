// SPDX-License-Identifier: Apache-2.0
/* How long a compilation took, and how much of that on a cpu. */
#include "test.h"

#include "sample/phases/compilation.h"

static struct compilation_book book;
static wire_u64 run_ns;

static int begin(void **state)
{
	(void)state;
	book = (struct compilation_book){ 0 };
	run_ns = 0;
	compilation_begin(&book, 1000);
	return 0;
}

static void without_a_switch(void **state)
{
	(void)state;
	assert_int_equal(compilation_end(&book, 5000, &run_ns), 4000);
	assert_int_equal(run_ns, 4000);
	/* Once. */
	assert_int_equal(compilation_end(&book, 6000, &run_ns), 0);
}

static void off_its_cpu(void **state)
{
	(void)state;
	compilation_leave(&book, 2000);
	compilation_return(&book, 2500);
	compilation_leave(&book, 3000);
	compilation_return(&book, 4000);
	assert_int_equal(compilation_end(&book, 5000, &run_ns), 4000);
	assert_int_equal(run_ns, 2500);
}

/* What was before its begin is none of it. */
static void the_next_one_is_anew(void **state)
{
	(void)state;
	compilation_leave(&book, 2000);
	compilation_return(&book, 4000);
	assert_int_equal(compilation_end(&book, 5000, &run_ns), 4000);
	compilation_leave(&book, 5100);
	compilation_return(&book, 9000);
	compilation_begin(&book, 9500);
	assert_int_equal(compilation_end(&book, 9700, &run_ns), 200);
	assert_int_equal(run_ns, 200);
}

static void a_begin_that_was_not_seen(void **state)
{
	(void)state;
	book = (struct compilation_book){ 0 };
	compilation_return(&book, 100);
	assert_int_equal(book.off_ns, 0);
	assert_int_equal(compilation_end(&book, 5000, &run_ns), 0);
	assert_int_equal(run_ns, 0);
}

static void a_clock_that_stands(void **state)
{
	(void)state;
	compilation_leave(&book, 2000);
	compilation_return(&book, 1900);
	assert_int_equal(book.off_ns, 0);
	compilation_leave(&book, 2000);
	compilation_return(&book, 4000);
	assert_int_equal(compilation_end(&book, 900, &run_ns), 1);
	assert_int_equal(run_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_switch, begin),
		cmocka_unit_test_setup(off_its_cpu, begin),
		cmocka_unit_test_setup(the_next_one_is_anew, begin),
		cmocka_unit_test_setup(a_begin_that_was_not_seen, begin),
		cmocka_unit_test_setup(a_clock_that_stands, begin),
	};

	return cmocka_run_group_tests_name("compilation", tests, NULL, NULL);
}
