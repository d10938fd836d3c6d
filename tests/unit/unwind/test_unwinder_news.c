// SPDX-License-Identifier: Apache-2.0
/* Whom an unwinder tells what, and when it looks for files that were found again. All its parts are the test's. */
#include "unwinder_parts.h"

static int set_up(void **state)
{
	static struct table_memory memory;
	const struct unwind_jvm_source jvms = { 0 };

	(void)state;
	memset(&f, 0, sizeof(f));
	fake_begin();
	f.sample = (struct wire_sample){ .size = sizeof(f.sample),
					 .tgid = PID + 4,
					 .time_ns = fake_begun_ns };
	f.unwinder = unwinder_new(&memory, PART(image_cache), &jvms, 77);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unwinder_free(f.unwinder);
	strbuf_release(&f.log);
	return 0;
}

static void news(void **state)
{
	const struct mapping mapping = { .start = 0x4000 };

	(void)state;
	assert_string_equal(noted(), "files of 77\n");
	fake_advance(10);
	unwinder_note_mapping(f.unwinder, PID + 1, &mapping);
	assert_string_equal(noted(), "space 1 maps 4000 at 10\n");
	unwinder_note_exec(f.unwinder, PID + 2, 5);
	assert_string_equal(noted(), "forget space 2 at 10\nforget jvm 2\n");
	unwinder_note_exit(f.unwinder, PID + 3);
	assert_string_equal(noted(), "forget space 3 at 10\nforget jvm 3\n");
	unwinder_note_stale(f.unwinder, &f.sample);
	assert_string_equal(noted(), "space 4 differs at 0\n");
	assert_true(unwinder_waits_for_jvm(f.unwinder, &f.sample));
	assert_string_equal(noted(), "does 4 pause at 10\n");
	assert_non_null(unwinder_libjvm(f.unwinder, &f.sample));
	unwinder_tidy(f.unwinder, fake_begun_ns);
	assert_string_equal(noted(), "close idle\n");
}

/* Its mappings, and the layout of what they have. */
static void a_jvm_before_its_samples(void **state)
{
	const struct wire_process process = { PID + 3, 5, 6 };

	(void)state;
	noted();
	f.read_error = -ESRCH;
	unwinder_learn_jvm(f.unwinder, &process);
	assert_string_equal(noted(), "learn space 3 of 6, exec 5, at 0\n");
	f.read_error = 0;
	unwinder_learn_jvm(f.unwinder, &process);
	assert_string_equal(noted(), "learn space 3 of 6, exec 5, at 0\ndrop rows of 1 at 0\n");
	f.libjvm_of = PID + 3;
	f.jvm_error = -EAGAIN;
	unwinder_learn_jvm(f.unwinder, &process);
	assert_non_null(strstr(noted(), "drop rows of 1 at 0\nlearn 3 at 7000\n"));
	f.jvm_error = 0;
	unwinder_learn_jvm(f.unwinder, &process);
	assert_non_null(strstr(noted(), "learn 3 at 7000\nspace 3 is jvm 9\n"));
}

static void a_turn(void **state)
{
	(void)state;
	noted();
	f.unwinder->spent_ns = BUDGET_NS + 1;
	f.warmed = 2;
	fake_advance(10);
	unwinder_turn(f.unwinder, fake_begun_ns + 5);
	assert_string_equal(noted(),
			    "space 2 is to be read\nspace 1 is to be read\nturn of spaces at 5\n"
			    "turn of jvms at 5\ndrop rows of 1 at 10\n");
	assert_int_equal(f.unwinder->spent_ns, 0); /* time for walks anew */
}

/* When there are many, those that nobody has published; the list that was made last may have one of them. */
static void files_are_many(void **state)
{
	(void)state;
	noted();
	f.are_many = true;
	f.unwinder->late_serial = 5;
	unwinder_turn(f.unwinder, fake_begun_ns);
	assert_string_equal(noted(), "turn of spaces at 0\nturn of jvms at 0\ndrop rows of 1 at 0\n"
				     "mark files\nevict files\n");
	assert_int_equal(f.unwinder->late_serial, 5);
	f.evicts = true;
	noted();
	unwinder_turn(f.unwinder, fake_begun_ns);
	assert_int_equal(f.unwinder->late_serial, 0);
	assert_string_equal(noted(), "turn of spaces at 0\nturn of jvms at 0\ndrop rows of 1 at 0\n"
				     "mark files\nevict files\nkeep rows of 8 at 0\n");
	unwinder_set_room(f.unwinder, 55);
	assert_string_equal(noted(), "files up to 55\n");
}

/* A list that was read may have brought files back, whose rows are given up before they are used. */
static void files_that_are_there_again(void **state)
{
	struct process process = { .pid = PID + 4, .serial = 1 };

	(void)state;
	noted();
	f.revived = 2;
	free(unwinder_try(f.unwinder, &f.miss, &f.sample, 5));
	assert_string_equal(noted(), "read\ndrop rows of 2 at 0\ndrop rows of 1 at 0\n"
				     "find jvm 7\nwalk in 6 from 8 on, of 9\n");
	assert_int_equal(f.unwinder->spent_ns, 3);
	f.revived = 1; /* it is known: nothing is read */
	free(unwinder_try(f.unwinder, &f.miss, &f.sample, 5));
	assert_string_equal(noted(), "find jvm 7\nwalk in 6 from 8 on, of 9\n");
	assert_int_equal(f.unwinder->spent_ns, 6);
	assert_int_equal(f.unwinder->at_once, 2);
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, false));
	assert_string_equal(noted(),
			    "ranges of 4\ndrop rows of 1 at 6\nwalk in 1 from 0 on, of 0\n");
	assert_int_equal(f.unwinder->spent_ns, 9);
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, false));
	assert_string_equal(noted(), "walk in 1 from 0 on, of 0\n");
	process.mappings_serial++;
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, false));
	assert_string_equal(noted(), "ranges of 4\nwalk in 1 from 0 on, of 0\n");
}

/* What a slow disk has is worth waiting for; a list that lacks a file for that is made anew. */
static void what_is_to_be_read_first(void **state)
{
	struct process process = { .pid = PID + 4, .serial = 1 };

	(void)state;
	f.slow_rows = true;
	assert_null(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, true));
	assert_int_equal(f.unwinder->late_count + f.unwinder->unfinished, 0);
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, false));
	f.slow_rows = false;
	noted();
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, true));
	assert_string_equal(noted(), "walk in 1 from 0 on, of 0\n");
	assert_int_equal(f.unwinder->late_count + f.unwinder->unfinished, 2);
	process.mappings_serial++;
	f.slow_list = true;
	assert_null(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, true));
	noted();
	f.slow_list = false;
	free(unwinder_finish(f.unwinder, &f.miss, &f.sample, &process, 5, true));
	assert_string_equal(noted(), "ranges of 4\nwalk in 1 from 0 on, of 0\n");
}

static void no_list(void **state)
{
	(void)state;
	noted();
	f.read_error = -EAGAIN;
	f.revived = 1;
	assert_null(unwinder_try(f.unwinder, &f.miss, &f.sample, 5));
	assert_string_equal(noted(), "read\n");
	assert_int_equal(f.unwinder->at_once, 0);
	assert_false(unwinder_wants_again(f.unwinder));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(news),
		TEST(a_jvm_before_its_samples),
		TEST(a_turn),
		TEST(files_are_many),
		TEST(files_that_are_there_again),
		TEST(no_list),
		TEST(what_is_to_be_read_first),
	};

	return cmocka_run_group_tests_name("unwinder_news", tests, NULL, NULL);
}
