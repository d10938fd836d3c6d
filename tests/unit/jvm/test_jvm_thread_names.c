/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a JVM's threads: when they are read, what is asked for, and whose word counts. */
#include "test.h"

#include "fake_clock.h"
#include "fake_threads.h"
#include "jvm/jvm_private.h"

#define MS NSEC_PER_MSEC

static const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
static struct jvm *jvm;
static unsigned int reads;
static bool is_away; /* its memory */

static int count_reads(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	reads++;
	/* 40 us, as through the wall. */
	fake_advance(5000);
	return is_away ? -EFAULT : fake_read(m, spans, count);
}

/* The JVM of begin(), with the threads that were added. */
static void begin_jvm(void)
{
	is_away = false;
	memory()->memory.read = count_reads;
	list_threads();
	open_vm();
	jvm = jvm_new(1, &libjvm, NULL);
	jvm->vs = w.vm.vs;
	jvm->layout = w.layout;
	jvm->has_layout = true;
	jvm->same_tids = jvm->knows_same_tids = true;
	fake_advance(NSEC_PER_SEC);
}

static void end_jvm(void)
{
	jvm_free(jvm); /* with its tables */
}

/* A sample of now. */
static void sample(uint32_t tid)
{
	jvm_note_thread(jvm, tid, false, clock_now_ns());
	fake_advance(MS);
}

static void expect_name_at(uint32_t tid, uint64_t time_ns, const char *name)
{
	uint64_t id = 0;
	const char *found = jvm_thread_name(jvm, tid, time_ns, &id);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(id, 1000 + tid);
}

static void expect_name(uint32_t tid, const char *name)
{
	expect_name_at(tid, clock_now_ns(), name);
}

static unsigned int reads_of(uint32_t tid)
{
	unsigned int before = reads;

	sample(tid);
	return reads - before;
}

static unsigned int reads_of_turn(void)
{
	unsigned int before = reads;

	jvm_read_threads(&jvm, 1);
	return reads - before;
}

static void a_name_is_read_once(void **state)
{
	(void)state;
	begin(17);
	add_thread(11, add_string("a-long-name-of-a-thread", 23, 1));
	begin_jvm();
	expect_name(11, NULL);
	sample(11);
	expect_name(11, "a-long-name-of-a-thread");
	for (unsigned int i = 0; i < 400; i++)
		assert_int_equal(reads_of(11), 0);
	jvm_read_threads(&jvm, 1);
	expect_name(11, "a-long-name-of-a-thread");
	end_jvm();
}

/* Half a second later it is read again, with others that are due. */
static void renamed_by_another_one(void **state)
{
	uint64_t object, before_ns;
	unsigned int before;

	(void)state;
	begin(17);
	object = add_thread(11, add_string("first", 5, 1));
	add_thread(12, add_string("other", 5, 1));
	begin_jvm();
	sample(11);
	sample(12);
	put_reference(object + NAME, add_string("second", 6, 1));
	fake_advance(600 * MS);
	assert_int_equal(reads_of(11), 0);
	sample(12);
	expect_name(11, "first");
	before = reads;
	before_ns = clock_now_ns();
	jvm_read_threads(&jvm, 1);
	assert_in_range(reads - before, 9, 11);
	expect_name(11, "second");
	expect_name_at(11, before_ns - 1, "first");
	expect_name(12, "other");
	assert_int_equal(reads_of_turn(), 0);
	/* Of those that are as they were that is found out by one call. */
	fake_advance(600 * MS);
	sample(11);
	sample(12);
	assert_int_equal(reads_of_turn(), 1);
	expect_name(11, "second");
	expect_name(12, "other");
	end_jvm();
}

/* Two of them, one of which has a sample: the other one will have one soon, and need not be looked at then. */
static void due_with_another_one(void **state)
{
	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	add_thread(12, add_string("other", 5, 1));
	begin_jvm();
	sample(11);
	sample(12);
	fake_advance(500 * MS - 2 * MS - clock_now_ns() % (500 * MS));
	sample(12);
	fake_advance(10 * MS);
	for (int i = 0; i < 4; i++) {
		sample(11);
		assert_int_equal(reads_of_turn(), i == 0);
		sample(12);
		assert_int_equal(reads_of_turn(), 0);
		fake_advance(20 * MS);
	}
	expect_name(12, "other");
	end_jvm();
}

static void renames_itself(void **state)
{
	uint64_t object, renamed_ns;

	(void)state;
	begin(25);
	object = add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	sample(11);
	put_reference(object + NAME, add_string("second", 6, 1));
	renamed_ns = clock_now_ns();
	thread_names_mark(&jvm->threads.names, 11, THREAD_COMM, renamed_ns);
	expect_name(11, NULL);
	fake_advance(MS);
	sample(11);
	expect_name(11, "second");
	expect_name_at(11, renamed_ns, "second");
	expect_name_at(11, renamed_ns - 1, "first");
	end_jvm();
}

/* A list that is older than the sample may lack its thread; a younger one is looked at no more. */
static void a_thread_that_came_later(void **state)
{
	uint64_t early_ns;

	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	early_ns = clock_now_ns();
	sample(11);
	add_thread(12, add_string("later", 5, 1));
	list_threads();
	jvm_note_thread(jvm, 12, true, early_ns);
	expect_name(12, NULL);
	thread_names_mark(&jvm->threads.names, 12, THREAD_COMM, clock_now_ns());
	sample(12);
	expect_name(12, "later");
	end_jvm();
}

/* Its place in the list is another one's. */
static void a_thread_that_has_gone(void **state)
{
	uint64_t gone_ns;

	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	sample(11);
	put_tid(0, 99);
	gone_ns = clock_now_ns();
	fake_advance(600 * MS);
	sample(11);
	jvm_read_threads(&jvm, 1);
	expect_name(11, NULL);
	expect_name_at(11, gone_ns, "first");
	end_jvm();
}

static void threads_that_are_none_of_javas(void **state)
{
	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	sample(11);
	/* That it is not in the list, which is as it was. */
	assert_int_equal(reads_of(99), 1);
	expect_name(99, NULL);
	for (unsigned int i = 0; i < 400; i++)
		assert_int_equal(reads_of(99), 0);
	sample(98);
	fake_advance(600 * MS);
	sample(11);
	sample(98);
	sample(99);
	/* Nobody has come to the list: one call says it of all, and of the names that are there. */
	assert_int_equal(reads_of_turn(), 1);
	expect_name(11, "first");
	expect_name(99, NULL);
	expect_name(98, NULL);
	/* One of them has attached itself. */
	add_thread(99, add_string("attached", 8, 1));
	list_threads();
	fake_advance(1100 * MS);
	sample(99);
	sample(98);
	assert_in_range(reads_of_turn(), 8, 20);
	expect_name(99, "attached");
	expect_name(98, NULL);
	/* The list is read for another one, and has one of them, too. */
	add_thread(98, add_string("late", 4, 1));
	add_thread(12, add_string("new", 3, 1));
	list_threads();
	fake_advance(100 * MS);
	sample(12);
	expect_name(12, "new");
	fake_advance(4100 * MS);
	sample(98);
	jvm_read_threads(&jvm, 1);
	expect_name(98, "late");
	fake_advance(600 * MS);
	sample(11);
	sample(98);
	sample(99);
	assert_int_equal(reads_of_turn(), 1);
	expect_name(11, "first");
	expect_name(99, "attached");
	expect_name(98, "late");
	end_jvm();
}

/* It is asked less and less often, and has its names when it can be read. */
static void what_cannot_be_read_now(void **state)
{
	unsigned int before = reads;

	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	is_away = true;
	for (unsigned int i = 0; i < 5000; i++)
		sample(11);
	assert_in_range(reads - before, 5, 400);
	expect_name(11, NULL);
	is_away = false;
	for (unsigned int i = 0; i < 2100; i++) {
		sample(11);
		jvm_read_threads(&jvm, 1);
	}
	expect_name(11, "first");
	end_jvm();
}

static void a_collector_that_moves_objects(void **state)
{
	(void)state;
	begin(17);
	put_flag("UseZGC", 1);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	sample(11);
	expect_name(11, NULL);
	fake_advance(NSEC_PER_SEC);
	assert_int_equal(reads_of(11), 0);
	end_jvm();
}

static void a_jvm_without_tables(void **state)
{
	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	jvm->has_layout = false;
	jvm->no_layout = true;
	sample(11);
	expect_name(11, NULL);
	end_jvm();
}

/* Each thread renames itself all the time. */
static void no_more_time_than_there_is(void **state)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t taken_ns = 0;

	(void)state;
	begin(17);
	add_thread(11, add_string("first", 5, 1));
	begin_jvm();
	while (clock_now_ns() - began_ns < 20 * NSEC_PER_SEC) {
		uint64_t now_ns = clock_now_ns();

		thread_names_mark(&jvm->threads.names, 11, THREAD_COMM, now_ns);
		jvm_note_thread(jvm, 11, true, now_ns);
		taken_ns += clock_now_ns() - now_ns;
		fake_advance(100000);
	}
	/* 20 ms, and 5 % of 20 s. */
	assert_in_range(taken_ns, 900 * MS, 1030 * MS);
	end_jvm();
}

/* Of a thread that nobody has read an agent may know; of one that was renamed it does not. */
static void an_agents_word(void **state)
{
	const struct codemap_event events[] = {
		{ .kind = CODEMAP_THREAD,
		  .time_ns = 1,
		  .thread = { .tid = 11, .java_tid = 1011, .name = { "began-as", 8 } } },
		{ .kind = CODEMAP_THREAD,
		  .time_ns = 1,
		  .thread = { .tid = 12, .java_tid = 1012, .name = { "ended", 5 } } },
	};

	(void)state;
	begin(17);
	add_thread(11, add_string("is-called", 9, 1));
	begin_jvm();
	jvm->store = codemap_store_new();
	for (unsigned int i = 0; i < 2; i++)
		codemap_store_add(jvm->store, &events[i]);
	expect_name(11, "began-as");
	sample(11);
	sample(12);
	expect_name(11, "is-called");
	expect_name(12, "ended");
	/* Of its start, and of a rename that nobody has looked at. */
	fake_advance(MS);
	thread_names_mark(&jvm->threads.names, 12, THREAD_BEGINS, clock_now_ns());
	fake_advance(MS);
	thread_names_mark(&jvm->threads.names, 12, THREAD_COMM, clock_now_ns());
	expect_name(12, "ended");
	fake_advance(MS);
	thread_names_mark(&jvm->threads.names, 12, THREAD_COMM, clock_now_ns());
	expect_name(12, NULL);
	/* An agent that came later may have told the later name as that of all times. */
	expect_name_at(12, clock_now_ns() - 1, NULL);
	end_jvm();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_read_once),
		cmocka_unit_test(renamed_by_another_one),
		cmocka_unit_test(due_with_another_one),
		cmocka_unit_test(renames_itself),
		cmocka_unit_test(a_thread_that_came_later),
		cmocka_unit_test(a_thread_that_has_gone),
		cmocka_unit_test(threads_that_are_none_of_javas),
		cmocka_unit_test(what_cannot_be_read_now),
		cmocka_unit_test(a_collector_that_moves_objects),
		cmocka_unit_test(a_jvm_without_tables),
		cmocka_unit_test(no_more_time_than_there_is),
		cmocka_unit_test(an_agents_word),
	};

	return cmocka_run_group_tests_name("jvm_thread_names", tests, NULL, NULL);
}
