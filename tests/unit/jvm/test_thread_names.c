/* SPDX-License-Identifier: Apache-2.0 */
/* Names of threads by time. */
#include "names_by_time.h"

static void a_name_holds_before_and_after_it_was_read(void **state)
{
	struct thread_names names = { 0 };
	uint64_t id;

	(void)state;
	expect_name(&names, 100, NULL);
	read_at(&names, 100, "worker");
	expect_name(&names, 50, "worker");
	expect_name(&names, 500, "worker");
	assert_null(thread_names_find(&names, TID + 1, at(100), &id));
	thread_names_release(&names);
}

/* The kernel tells when; the name is read somewhat later. */
static void a_thread_renames_itself(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "first");
	comm_at(&names, 200);
	expect_name(&names, 199, "first");
	expect_name(&names, 200, NULL);
	expect_name(&names, 260, NULL);
	read_at(&names, 230, "second");
	expect_name(&names, 199, "first");
	expect_name(&names, 200, "second");
	expect_name(&names, 260, "second");
	thread_names_release(&names);
}

/* Two renames before somebody came to look: what it had in between nobody knows. */
static void a_name_that_nobody_read(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "first");
	comm_at(&names, 200);
	comm_at(&names, 210);
	read_at(&names, 230, "third");
	expect_name(&names, 199, "first");
	expect_name(&names, 205, NULL);
	expect_name(&names, 215, "third");
	thread_names_release(&names);
}

/* What the kernel tells comes after the reading that it concerns. */
static void a_rename_that_is_told_late(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "name");
	read_at(&names, 300, "name");
	read_at(&names, 500, "name");
	comm_at(&names, 250);
	expect_name(&names, 150, "name");
	expect_name(&names, 249, "name");
	/* Of the readings the first and the last are remembered. */
	expect_name(&names, 260, "name");
	comm_at(&names, 400);
	expect_name(&names, 260, NULL);
	expect_name(&names, 450, "name");
	thread_names_release(&names);
}

/* Was it read before or after? */
static void a_rename_while_it_is_read(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "which");
	thread_names_mark(&names, TID, THREAD_COMM, at(100) + 1000);
	expect_name(&names, 99, NULL);
	expect_name(&names, 101, NULL);
	read_at(&names, 200, "which");
	read_at(&names, 300, "which");
	thread_names_mark(&names, TID, THREAD_COMM, at(300) + 1000);
	expect_name(&names, 250, "which");
	expect_name(&names, 301, NULL);
	thread_names_mark(&names, TID, THREAD_COMM, at(200) + 1000);
	expect_name(&names, 201, NULL);
	thread_names_release(&names);
}

/* In Java it has its new name, and the kernel has not heard of it. */
static void a_rename_that_is_read_ahead(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	comm_at(&names, 100);
	read_at(&names, 200, "next");
	comm_at(&names, 202);
	expect_name(&names, 150, "next");
	read_at(&names, 250, "next");
	expect_name(&names, 150, NULL);
	expect_name(&names, 201, "next");
	expect_name(&names, 202, "next");
	/* One that is set again, long after it was read. */
	comm_at(&names, 400);
	read_at(&names, 500, "again");
	comm_at(&names, 600);
	read_at(&names, 650, "again");
	expect_name(&names, 450, "again");
	thread_names_release(&names);
}

static void another_one_renames_it(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "first");
	read_at(&names, 600, "second");
	expect_name(&names, 599, "first");
	expect_name(&names, 600, "second");
	thread_names_release(&names);
}

/* For want of time. */
static void one_that_is_not_read_again(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 5000, "name");
	expect_name(&names, 3999, NULL);
	expect_name(&names, 4000, "name");
	expect_name(&names, 6000, "name");
	expect_name(&names, 6001, NULL);
	read_at(&names, 6500, "name");
	expect_name(&names, 6001, "name");
	expect_name(&names, 7501, NULL);
	thread_names_release(&names);
}

/* It begins with its parent's comm, and gets its own before it runs Java code. */
static void a_thread_that_starts(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	begin_at(&names, 100);
	comm_at(&names, 101);
	read_at(&names, 150, "own");
	expect_name(&names, 99, NULL);
	expect_name(&names, 100, "own");
	expect_name(&names, 120, "own");
	thread_names_release(&names);
}

static void a_thread_that_renames_itself_after_its_start(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	begin_at(&names, 100);
	comm_at(&names, 101);
	comm_at(&names, 110);
	read_at(&names, 150, "second");
	expect_name(&names, 100, NULL);
	expect_name(&names, 105, NULL);
	expect_name(&names, 110, "second");
	thread_names_release(&names);
}

/* And the first one's end was never looked at. */
static void a_tid_that_is_used_again(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "old");
	begin_at(&names, 200);
	expect_name(&names, 199, "old");
	expect_name(&names, 200, NULL);
	begin_at(&names, 300);
	read_at(&names, 350, "new");
	expect_name(&names, 250, NULL);
	expect_name(&names, 300, "new");
	thread_names_release(&names);
}

static void a_thread_without_a_name(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, NULL);
	expect_name(&names, 50, NULL);
	read_at(&names, 600, "attached");
	expect_name(&names, 500, NULL);
	expect_name(&names, 600, "attached");
	read_at(&names, 700, NULL);
	expect_name(&names, 650, "attached");
	expect_name(&names, 700, NULL);
	thread_names_release(&names);
}

static void the_kernel_loses_some(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	read_at(&names, 100, "name");
	thread_names_lose(&names, at(200));
	expect_name(&names, 150, NULL);
	expect_name(&names, 250, NULL);
	assert_int_equal(thread_names_want(&names, TID, false, at(250)), THREAD_NOW);
	read_at(&names, 250, "name");
	expect_name(&names, 199, NULL);
	expect_name(&names, 200, "name");
	thread_names_release(&names);
}

/* Nor is another one made to forget. */
static void one_that_renames_itself_all_the_time(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		comm_at(&names, 100 + i);
	read_at(&names, 1200, "last");
	expect_name(&names, 100, NULL);
	expect_name(&names, 1098, NULL);
	expect_name(&names, 1099, "last");
	assert_in_range(names.bytes, 1, 4096);
	thread_names_release(&names);
}

/* What was dropped must not be taken for never having been. */
static void what_was_dropped(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	comm_at(&names, 100);
	read_at(&names, 150, "name");
	comm_at(&names, 20000);
	read_at(&names, 20050, "newer");
	thread_names_expire(&names, at(19000));
	expect_name(&names, 99, NULL);
	expect_name(&names, 200, "name");
	thread_names_expire(&names, at(20010));
	expect_name(&names, 200, NULL);
	expect_name(&names, 20000, "newer");
	thread_names_expire(&names, at(30000));
	assert_int_equal(names.bytes, 0);
	expect_name(&names, 20000, NULL);
	thread_names_release(&names);
}

static void more_than_there_is_room_for(void **state)
{
	struct thread_names names = { 0 };
	char name[400];
	uint64_t id;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (uint32_t tid = 1; tid < 10000; tid++)
		read_of(&names, tid, 100, name);
	assert_in_range(names.bytes, 1000000, 1100000);
	assert_non_null(thread_names_find(&names, 1, at(100), &id));
	assert_null(thread_names_find(&names, 9999, at(100), &id));
	assert_int_equal(thread_names_want(&names, 9999, false, at(150)), THREAD_KNOWN);
	/* Then there is room; what was told of it till then nobody kept. */
	thread_names_expire(&names, at(20000));
	read_of(&names, 9999, 1000, "late");
	assert_null(thread_names_find(&names, 9999, at(149), &id));
	assert_string_equal(thread_names_find(&names, 9999, at(150), &id), "late");
	thread_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_holds_before_and_after_it_was_read),
		cmocka_unit_test(a_thread_renames_itself),
		cmocka_unit_test(a_name_that_nobody_read),
		cmocka_unit_test(a_rename_that_is_told_late),
		cmocka_unit_test(a_rename_while_it_is_read),
		cmocka_unit_test(a_rename_that_is_read_ahead),
		cmocka_unit_test(one_that_is_not_read_again),
		cmocka_unit_test(another_one_renames_it),
		cmocka_unit_test(a_thread_that_starts),
		cmocka_unit_test(a_thread_that_renames_itself_after_its_start),
		cmocka_unit_test(a_tid_that_is_used_again),
		cmocka_unit_test(a_thread_without_a_name),
		cmocka_unit_test(the_kernel_loses_some),
		cmocka_unit_test(one_that_renames_itself_all_the_time),
		cmocka_unit_test(what_was_dropped),
		cmocka_unit_test(more_than_there_is_room_for),
	};

	return cmocka_run_group_tests_name("thread_names", tests, NULL, NULL);
}
