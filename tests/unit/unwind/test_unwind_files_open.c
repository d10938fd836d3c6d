// SPDX-License-Identifier: Apache-2.0
/* Which files are open, who is the way to them, and what fails. */
#include "unwind_files_world.h"

#include "fake_clock.h"

/* --- what is open --- */

/* Is it open? It is then the one that was used last. */
static bool is_open(uint32_t number)
{
	unsigned int before = f.opens;

	assert_true(has_rows(number));
	return f.opens == before;
}

static void the_one_not_used_for_longest_is_closed(void **state)
{
	(void)state;
	limit(3, SIZE_MAX);
	for (uint32_t i = 1; i <= 3; i++)
		number_of(i);
	assert_true(is_open(1));
	number_of(4); /* in place of 2 */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(3));
	assert_true(is_open(1));
	assert_true(is_open(4));
	assert_false(is_open(2)); /* in place of 3 */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(1));
	assert_true(is_open(4));
	assert_false(is_open(3));
}

static void memory_has_a_limit(void **state)
{
	static const size_t bytes[] = { 0, 60, 30, 20, 50 };

	(void)state;
	limit(100, 100);
	for (uint32_t i = 1; i <= 4; i++)
		f.made[i].bytes = bytes[i];
	number_of(1);
	number_of(2);
	assert_int_equal(count_open(), 2);
	number_of(3); /* 110: the first goes */
	assert_int_equal(count_open(), 2);
	assert_true(is_open(2) && is_open(3));
	number_of(4); /* 100 are allowed */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(2) && is_open(3));
	f.made[4].bytes++; /* it has grown: the one but itself goes that was not used for longest */
	assert_true(is_open(4));
	assert_int_equal(count_open(), 2);
	assert_true(is_open(4) && is_open(3));
	/* One is open however large it is; several go for it. */
	f.made[2].bytes = 1000;
	assert_false(is_open(2));
	assert_int_equal(count_open(), 1);
	/* Nothing is left of what was closed. */
	f.made[2].bytes = 30;
	for (int i = 0; i < 5; i++) {
		close_all();
		for (uint32_t number = 2; number <= 4; number++)
			assert_false(is_open(number));
		assert_int_equal(count_open(), 2);
		f.made[4].bytes = 50;
		close_all();
		for (uint32_t number = 2; number <= 4; number++)
			assert_false(is_open(number));
		assert_int_equal(count_open(), 3);
		f.made[4].bytes = 51;
	}
}

static void what_is_idle_is_closed(void **state)
{
	(void)state;
	number_of(1);
	number_of(2);
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 2);
	assert_true(is_open(2));
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 1);
	assert_true(is_open(2));
	assert_false(is_open(1));
}

static void all_are_closed_in_the_end(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		number_of(i);
	number_of(1);
	fill(2, "a file 3"); /* a copy is not opened twice */
	piece_at(2, 2, 0);
	assert_int_equal(f.left_open, FILES);
	unwind_files_close_idle(f.files);
	assert_true(has_rows(2));
	unwind_files_close_idle(f.files);
	assert_int_equal(f.left_open, 1);
	assert_true(has_rows(1));
	limit(1, SIZE_MAX);
	assert_int_equal(f.left_open, 0);
	unwind_files_free(NULL);
}

/* --- failures --- */

static void a_file_that_is_another_now(void **state)
{
	(void)state;
	number_of(1);
	close_all();
	assert_true(has_rows(1));
	close_all();
	fill(1, "changed!");
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: another file has its name now (1)\n");
	/* It is not tried for ever. */
	fill(1, "a file 1");
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: another file has its name now (2)\n");
	assert_int_equal(f.opens, 3);
}

static void a_file_that_is_gone(void **state)
{
	(void)state;
	number_of(2);
	number_of(1);
	close_all();
	f.made[1].is_gone = true;
	assert_false(has_rows(2));
	assert_true(has_rows(1));
	assert_string_equal(failed(),
			    "/file1: it cannot be opened: No such file or directory (1)\n");
}

static void pages_that_cannot_be_read(void **state)
{
	(void)state;
	number_of(1);
	f.made[1].is_torn = true;
	assert_false(has_rows(1));
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: torn (2)\n");
}

/* --- sources --- */

/* Who lives stays the way to the file: it may be a server, and the next one a script. */
static void who_lives_is_the_source(void **state)
{
	(void)state;
	fake_begin();
	piece_at(1, 1, 0);
	piece_at(2, 1, 0);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 1);
	/* It maps it elsewhere now. */
	piece_at(2, 1, 0);
	f.living_pid = 0;
	/* A process that maps many is not asked for each of them. */
	fake_advance(NSEC_PER_SEC - 1);
	piece_at(3, 1, 0);
	assert_int_equal(f.lives_asked, 1);
	fake_advance(1);
	piece_at(3, 1, 0);
	assert_int_equal(f.lives_asked, 2);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 3);
	assert_int_equal(f.open_start, 0x7030000);
	assert_int_equal(unwind_files_take_revived(f.files), 0);
}

/* What it maps last is there, the first may be unmapped since. */
static void its_newest_mapping(void **state)
{
	const struct mapping mapping = {
		.start = 0x1230000, .end = 0x1231000, .key = { 8, 1, 1, 9 }, .path = f.made[1].path
	};

	(void)state;
	piece_at(1, 1, 0);
	unwind_files_piece(f.files, 1, &mapping, NULL);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_start, 0x1230000);
	assert_int_equal(f.open_end, 0x1231000);
}

static void another_process_has_it_yet(void **state)
{
	(void)state;
	number_of(1);
	number_of(2);
	close_all();
	f.made[1].is_gone = f.made[2].is_gone = true;
	assert_false(has_rows(1));
	assert_false(has_rows(2));
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	f.made[1].is_gone = f.made[2].is_gone = false;
	number_of(1); /* the same process is no news */
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	assert_false(has_rows(1));
	assert_int_equal(piece_at(2, 1, 0).file, 1);
	assert_string_equal(failed(),
			    "/file1: it could not be read for a while (2)\n"
			    "/file2: it cannot be opened: No such file or directory (1)\n");
	assert_int_equal(piece_at(2, 2, 0).file, 2);
	assert_int_equal(unwind_files_take_revived(f.files), 2);
	assert_int_equal(unwind_files_take_revived(f.files), 1);
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 2);
	assert_true(has_rows(2));
}

/* --- too many --- */

static void who_is_published_stays(void **state)
{
	uint32_t numbers[5];

	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		numbers[i] = number_of(i);
	assert_false(unwind_files_are_many(f.files));
	assert_false(unwind_files_evict(f.files));
	unwind_files_set_room(f.files, 0);
	assert_true(unwind_files_are_many(f.files));
	unwind_files_mark(f.files, numbers[2]);
	unwind_files_mark(f.files, 77); /* long gone */
	assert_true(unwind_files_evict(f.files));
	/* Not to be asked again before there are more. */
	assert_false(unwind_files_are_many(f.files));
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(unwind_files_has(f.files, numbers[i]), i == 2);
		assert_int_equal(f.made[i].refs, i == 2);
	}
	assert_int_equal(f.left_open, 1);
	assert_int_equal(count_open(), 1);
	assert_true(has_rows(numbers[2]));
	/* Another number, so that what was published with the old one is not taken for it. */
	assert_int_equal(number_of(1), numbers[4] + 1);
	assert_true(has_rows(numbers[4] + 1));
	assert_int_equal(f.made[1].refs, 1);
	/* A mark holds once. */
	assert_true(unwind_files_evict(f.files));
	assert_int_equal(count_files(), 0);
	assert_int_equal(f.made[2].refs, 0);
}

static void who_was_not_published_for_longest_goes(void **state)
{
	(void)state;
	f.has_vdso = false;
	for (uint32_t i = 1; i <= 5; i++)
		number_of(i);
	unwind_files_mark(f.files, 1);
	unwind_files_evict(f.files);
	unwind_files_mark(f.files, 3);
	unwind_files_evict(f.files);
	/* Order: 2, 4, 5, 1, 3. */
	for (size_t room = 10000; count_files() == 5; room -= 50) {
		unwind_files_set_room(f.files, room);
		unwind_files_evict(f.files);
	}
	assert_false(unwind_files_has(f.files, 2));
	for (size_t room = 10000; count_files() > 2; room -= 50) {
		unwind_files_set_room(f.files, room);
		unwind_files_evict(f.files);
	}
	assert_true(unwind_files_has(f.files, 1) && unwind_files_has(f.files, 3));
}

/* Pages that nobody could read are told of, whoever is left to be asked. */
static void what_failed_before_is_told(void **state)
{
	(void)state;
	number_of(1);
	f.made[1].is_torn = true;
	assert_false(has_rows(1));
	unwind_files_set_room(f.files, 0);
	unwind_files_evict(f.files);
	assert_string_equal(failed(), "(other files): nobody maps them any more (1)\n");
}

/* Copies have one number; it goes with the images of both. */
static void copies_come_back(void **state)
{
	(void)state;
	fill(1, "the same");
	fill(2, "the same");
	f.made[1].digest = f.made[2].digest = 5;
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 1);
	unwind_files_set_room(f.files, 0);
	unwind_files_evict(f.files);
	assert_int_equal(f.made[1].refs + f.made[2].refs, 0);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_one_not_used_for_longest_is_closed),
		TEST(memory_has_a_limit),
		TEST(what_is_idle_is_closed),
		TEST(all_are_closed_in_the_end),
		TEST(a_file_that_is_another_now),
		TEST(a_file_that_is_gone),
		TEST(pages_that_cannot_be_read),
		TEST(who_lives_is_the_source),
		TEST(its_newest_mapping),
		TEST(another_process_has_it_yet),
		TEST(who_is_published_stays),
		TEST(who_was_not_published_for_longest_goes),
		TEST(what_failed_before_is_told),
		TEST(copies_come_back),
	};

	return cmocka_run_group_tests_name("unwind_files_open", tests, NULL, NULL);
}
