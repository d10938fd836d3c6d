// SPDX-License-Identifier: Apache-2.0
/* Readers that come to their end while they make rows: whose fault it is, and who pays for it. */
#include "unwind_files_world.h"

/* Somebody has ended it, or another file: rows come from the next one. */
static void rows_of_the_next_reader(void **state)
{
	static const int errors[] = { -ESTALE, -ECHILD, -ETIMEDOUT };
	uint64_t before = refused();

	(void)state;
	number_of(1);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		f.made[1].end_error = errors[i];
		f.made[1].page_ends = 1;
		assert_true(has_rows(1));
		f.made[1].page_ends = 1;
		assert_true(has_rows(1));
		close_all();
		f.made[1].open_ends = 1;
		assert_true(has_rows(1));
	}
	/* It was always opened anew, and nothing is held twice. */
	assert_int_equal(f.opens, 1 + 3 * 4);
	assert_int_equal(count_open(), 1);
	assert_int_equal(f.left_open, 1);
	assert_string_equal(failed(), "");
	assert_int_equal(refused(), before);
}

/* Other files' readers may end as often as they like. */
static void another_file_is_to_blame(void **state)
{
	(void)state;
	number_of(1);
	f.made[1].end_error = -ESTALE;
	f.made[1].page_ends = 50;
	assert_true(has_rows(1));
	assert_string_equal(failed(), "");
}

/* The third one that dies is enough, and so is the second that is late. */
static void a_file_is_given_up(void **state)
{
	static const struct {
		int error;
		unsigned int calls;
	} cases[] = { { -ECHILD, 3 }, { -ETIMEDOUT, 2 } };

	uint64_t before = refused();

	(void)state;
	for (uint32_t i = 1; i <= 2; i++) {
		number_of(i);
		f.made[i].end_error = cases[i - 1].error;
		f.made[i].page_ends = UINT32_MAX;
		f.pages = 0;
		assert_false(has_rows(i));
		assert_int_equal(f.pages, cases[i - 1].calls);
		assert_false(has_rows(i));
		assert_int_equal(f.pages, cases[i - 1].calls);
	}
	assert_int_equal(refused(), before + 2);
	assert_string_equal(failed(), "/file1: ended (2)\n/file2: ended (2)\n");
	/* For that file only, and for good: another process has no more luck with it. */
	number_of(3);
	assert_true(has_rows(3));
	f.living_pid = 7;
	piece_at(7, 1, 0);
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	assert_false(has_rows(1));
	assert_int_equal(f.left_open, 1);
}

static void one_that_cannot_even_be_opened(void **state)
{
	uint64_t before = refused();

	(void)state;
	f.made[1].end_error = -ECHILD;
	f.made[1].open_ends = 2;
	assert_int_equal(number_of(1), 1);
	f.made[2].end_error = -ECHILD;
	f.made[2].open_ends = 3;
	assert_int_equal(number_of(2), 0);
	assert_int_equal(refused(), before + 1);
	/* It is not tried again. */
	f.opens = 0;
	assert_int_equal(number_of(2), 0);
	assert_int_equal(f.opens, 0);
	/* One that was known is given up when it is opened again. */
	close_all();
	f.made[1].open_ends = UINT32_MAX;
	assert_false(has_rows(1));
	assert_int_equal(refused(), before + 2);
}

/* That a file is not there any more, or its process does not answer, is not its reader's end. */
static void no_reader_was_asked(void **state)
{
	static const int errors[] = { -ESTALE, -ETIMEDOUT, -ECHILD };
	uint64_t before = refused();

	(void)state;
	for (uint32_t i = 1; i <= ARRAY_SIZE(errors); i++) {
		f.made[i].gone_error = errors[i - 1];
		assert_int_equal(number_of(i), 0);
		f.made[i].gone_error = 0;
		assert_int_not_equal(number_of(i), 0);
		close_all();
		f.made[i].gone_error = errors[i - 1];
		assert_false(has_rows(i));
	}
	assert_int_equal(refused(), before);
	assert_non_null(strstr(failed(), "/file1: it cannot be opened: Stale file handle (1)\n"));
	/* Another process may have more luck. */
	f.made[1].gone_error = 0;
	f.living_pid = 7;
	piece_at(7, 1, 0);
	assert_int_equal(unwind_files_take_revived(f.files), 1);
	assert_true(has_rows(1));
}

/* Too many of its owner's were late: not now, and nothing is put in the rows' place. */
static void not_now(void **state)
{
	struct cfi_rows rows = { 0 };

	(void)state;
	number_of(1);
	close_all();
	f.made[1].end_error = -EBUSY;
	f.made[1].open_ends = 1;
	assert_false(unwind_files_rows(f.files, 1, ADDRESS, &rows));
	assert_int_equal(rows.v.len, 0);
	assert_string_equal(failed(), "");
	assert_true(has_rows(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_of_the_next_reader),
		TEST(another_file_is_to_blame),
		TEST(a_file_is_given_up),
		TEST(one_that_cannot_even_be_opened),
		TEST(not_now),
		TEST(no_reader_was_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
