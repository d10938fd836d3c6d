// SPDX-License-Identifier: Apache-2.0
/* Files of which nothing is in memory: they are not given up, nobody waits for them, and they are tried again once they were read. */
#include "unwind_files_world.h"

#include "unwind/cold_files.h"

/* Until one has been read; 0: in ten seconds none was. */
static uint32_t wait_for_pid(void)
{
	uint32_t pid = 0;

	atomic_store(&f.holds_warming, false);
	for (int i = 0; i < 100000 && !pid; i++) {
		usleep(100);
		pid = unwind_files_take_warmed(f.files);
	}
	return pid;
}

static void is_cold(uint32_t number, unsigned int times)
{
	f.made[number].end_error = -EAGAIN;
	f.made[number].open_ends = times;
	atomic_store(&f.holds_warming, true);
}

static void it_is_read_first(void **state)
{
	uint64_t before = refused();

	(void)state;
	is_cold(1, 1);
	assert_int_equal(number_of(1), 0);
	assert_int_equal(unwind_files_delays(f.files), 1);
	assert_int_equal(f.opens, 1);
	/* Meanwhile nobody tries it, and others are not kept. */
	assert_int_equal(number_of(1), 0);
	assert_int_equal(unwind_files_delays(f.files), 2);
	assert_int_equal(f.opens, 1);
	assert_int_equal(unwind_files_take_warmed(f.files), 0);
	assert_int_equal(number_of(2), 1);
	assert_int_equal(unwind_files_delays(f.files), 2);
	assert_int_equal(wait_for_pid(), 1);
	assert_int_equal(unwind_files_take_warmed(f.files), 0);
	assert_int_equal(f.made[1].warmed, 1);
	assert_int_equal(number_of(1), 2);
	assert_true(has_rows(2));
	assert_int_equal(refused(), before);
	assert_string_equal(failed(), "");
}

/* Each process that asked for it hears of it. */
static void who_waits_for_it(void **state)
{
	uint32_t seen = 0, pid;

	(void)state;
	is_cold(1, 1);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(piece_at(i, 1, 0).file, 0);
		assert_int_equal(piece_at(i, 1, 0).file, 0);
	}
	for (int i = 0; i < 3; i++) {
		pid = wait_for_pid();
		assert_in_range(pid, 1, 3);
		seen |= 1U << pid;
	}
	assert_int_equal(seen, 2 | 4 | 8);
	assert_int_equal(unwind_files_take_warmed(f.files), 0);
}

/* That is no fault of its own, however often. */
static void it_is_never_given_up(void **state)
{
	uint64_t before = refused();

	(void)state;
	is_cold(1, 10);
	for (unsigned int i = 1; i <= 10; i++) {
		assert_int_equal(number_of(1), 0);
		assert_int_equal(f.opens, i);
		assert_int_equal(wait_for_pid(), 1);
		assert_int_equal(f.made[1].warmed, i);
	}
	assert_int_equal(number_of(1), 1);
	assert_int_equal(refused(), before);
	assert_string_equal(failed(), "");
}

static void wait_for_warming(uint32_t number, unsigned int times)
{
	atomic_store(&f.holds_warming, false);
	for (int i = 0; i < 100000 && f.made[number].warmed < times; i++)
		usleep(100);
	usleep(20000);
	assert_int_equal(unwind_files_take_warmed(f.files), 0);
}

/* A page, or the file when it is opened again: nothing is put in its place, and no number is lost. */
static void rows_that_are_to_come(void **state)
{
	struct cfi_rows rows = { 0 };

	(void)state;
	assert_int_equal(number_of(1), 1);
	is_cold(1, 0);
	f.made[1].page_ends = 1;
	assert_false(unwind_files_rows(f.files, 1, ADDRESS, &rows));
	assert_int_equal(f.pages, 1);
	assert_false(unwind_files_rows(f.files, 1, ADDRESS, &rows));
	assert_int_equal(f.pages, 1);
	assert_int_equal(f.left_open, 0); /* its reader was left behind */
	wait_for_warming(1, 1);
	assert_true(has_rows(1));
	close_all();
	is_cold(1, 1);
	assert_false(unwind_files_rows(f.files, 1, ADDRESS, &rows));
	wait_for_warming(1, 2);
	assert_true(has_rows(1));
	assert_string_equal(failed(), "");
	assert_int_equal(rows.v.len, 0);
}

/* Its readers that die are another thing. */
static void it_is_not_for_the_dead(void **state)
{
	(void)state;
	f.made[1].end_error = -ECHILD;
	f.made[1].open_ends = 3;
	assert_int_equal(number_of(1), 0);
	assert_int_equal(f.opens, 3);
	usleep(20000);
	assert_int_equal(unwind_files_take_warmed(f.files), 0);
	assert_int_equal(f.made[1].warmed, 0);
}

/* The end waits for what is being read, and nothing is held. */
static void an_end_in_between(void **state)
{
	(void)state;
	is_cold(1, 1);
	is_cold(2, 1);
	number_of(1);
	number_of(2);
	assert_int_equal(f.made[1].refs + f.made[2].refs, 2);
	atomic_store(&f.holds_warming, false);
	unwind_files_free(f.files);
	f.files = unwind_files_new((struct image_cache *)&f, 100, SIZE_MAX);
	assert_int_equal(f.made[1].refs + f.made[2].refs, 0);
}

/* So many at a time; their descriptors are closed. */
static void no_more_than_that(void **state)
{
	struct cold_files *files = cold_files_new();
	struct made made[65] = { 0 };
	int before = dup(0), after;
	uint32_t sum = 0;

	(void)state;
	close(before);
	atomic_store(&f.holds_warming, true);
	for (unsigned int i = 0; i < 65; i++)
		cold_files_add(files, (struct image *)&made[i], dup(f.made[1].fd), 0, 1 + i);
	assert_true(cold_files_is_reading(files, (struct image *)&made[63], 0));
	assert_false(cold_files_is_reading(files, (struct image *)&made[64], 0));
	atomic_store(&f.holds_warming, false);
	/* Who found no room waits for one of them. */
	for (unsigned int i = 0; i < 65; i++) {
		uint32_t pid;

		while (!(pid = cold_files_take_pid(files)))
			usleep(100);
		sum += pid;
	}
	assert_int_equal(sum, 65 * 66 / 2);
	assert_false(cold_files_is_reading(files, (struct image *)&made[0], 0));
	cold_files_free(files);
	after = dup(0);
	assert_int_equal(after, before);
	close(after);
	for (unsigned int i = 0; i < 65; i++)
		assert_int_equal(made[i].refs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_read_first),	      TEST(who_waits_for_it),
		TEST(it_is_never_given_up),   TEST(rows_that_are_to_come),
		TEST(it_is_not_for_the_dead), TEST(an_end_in_between),
		TEST(no_more_than_that),
	};

	return cmocka_run_group_tests_name("cold_files", tests, NULL, NULL);
}
