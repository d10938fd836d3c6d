/* SPDX-License-Identifier: Apache-2.0 */
/* When names of threads are read again. */
#include "names_by_time.h"

static void when_it_is_read(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	assert_int_equal(thread_names_want(&names, TID, false, at(100)), THREAD_NOW);
	/* Somebody is at it. */
	assert_int_equal(thread_names_want(&names, TID, false, at(101)), THREAD_KNOWN);
	read_at(&names, 101, "name");
	/* Of another one: they are due together. */
	assert_int_equal(thread_names_want(&names, TID + 1, false, at(300)), THREAD_NOW);
	read_of(&names, TID + 1, 300, "other");
	assert_int_equal(thread_names_want(&names, TID, false, at(499)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID + 1, false, at(499)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID, false, at(502)), THREAD_AGAIN);
	assert_int_equal(thread_names_want(&names, TID + 1, false, at(502)), THREAD_AGAIN);
	read_at(&names, 502, "name");
	assert_int_equal(thread_names_want(&names, TID, false, at(600)), THREAD_KNOWN);
	comm_at(&names, 650);
	assert_int_equal(thread_names_want(&names, TID, false, at(701)), THREAD_NOW);
	thread_names_release(&names);
}

/* Once it has been the same for five seconds, and for as long as it is. */
static void a_name_that_stands_is_read_half_as_often(void **state)
{
	struct thread_names names = { 0 };
	unsigned int early = 0, late = 0;

	(void)state;
	for (uint64_t ms = 1; ms < 15000; ms++) {
		if (thread_names_want(&names, TID, true, at(ms)) == THREAD_KNOWN)
			continue;
		read_at(&names, ms, "name");
		early += ms < 5000;
		late += ms >= 5000;
	}
	assert_int_equal(early, 10);
	assert_int_equal(late, 11); /* at 5,000 and 5,500 it has not been for so long */
	/* The last one was at 14,000. It holds as many periods. */
	expect_name(&names, 16000, "name");
	expect_name(&names, 16001, NULL);
	expect_name(&names, 0, "name");
	assert_int_equal(thread_names_want(&names, TID, true, at(15000)), THREAD_AGAIN);
	read_at(&names, 15000, "another");
	assert_int_equal(thread_names_want(&names, TID, true, at(15499)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID, true, at(15500)), THREAD_AGAIN);
	thread_names_release(&names);
}

/* In ten seconds. */
static unsigned int reads_without_a_name(struct thread_names *names, uint64_t from_ms,
					 bool runs_java)
{
	unsigned int reads = 0;

	for (uint64_t ms = from_ms; ms < from_ms + 10000; ms++) {
		if (thread_names_want(names, TID, runs_java, at(ms)) == THREAD_KNOWN)
			continue;
		read_at(names, ms, NULL);
		reads++;
	}
	return reads;
}

/* One of the JVM's own; until the kernel tells something of it. */
static void who_has_no_name_is_read_less_often(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	/* At 1, 500, 1,500, 3,500 and 7,500. */
	assert_int_equal(reads_without_a_name(&names, 1, false), 5);
	comm_at(&names, 10100);
	assert_int_equal(thread_names_want(&names, TID, false, at(10101)), THREAD_NOW);
	read_at(&names, 10101, NULL);
	assert_int_equal(thread_names_want(&names, TID, false, at(10502)), THREAD_AGAIN);
	read_at(&names, 10502, "name");
	assert_int_equal(thread_names_want(&names, TID, false, at(11001)), THREAD_AGAIN);
	thread_names_release(&names);
}

/* A sample of TID at FROM_MS, with which NAME is read. */
static void sample_and_read(struct thread_names *names, uint32_t tid, uint64_t ms, const char *name)
{
	const struct thread_reading reading = { at(ms), at(ms), name, tid };

	assert_int_not_equal(thread_names_want(names, tid, false, at(ms)), THREAD_KNOWN);
	thread_names_add(names, tid, &reading);
}

/* Those with samples a moment ago, once; who has no name is asked for less often, and who has no sample not at all. */
static void who_is_due_with_others(void **state)
{
	struct thread_names names = { 0 };
	uint32_t tids[300];

	(void)state;
	sample_and_read(&names, 1, 10, "early");
	sample_and_read(&names, 2, 300, "one");
	sample_and_read(&names, 3, 310, "two");
	sample_and_read(&names, 4, 320, NULL);
	comm_at(&names, 340);
	assert_int_equal(thread_names_take_due(&names, at(499), tids, 300), 0);
	assert_int_equal(thread_names_take_due(&names, at(520), tids, 1), 1);
	assert_int_equal(thread_names_take_due(&names, at(520), tids + 1, 299), 1);
	assert_int_equal(tids[0] + tids[1], 2 + 3);
	assert_int_equal(thread_names_take_due(&names, at(520), tids, 300), 0);
	/* They are being read. */
	assert_int_equal(thread_names_want(&names, 2, false, at(530)), THREAD_KNOWN);
	/* Too many to look at each. */
	for (uint32_t tid = 100; tid < 350; tid++)
		sample_and_read(&names, tid, 900, "many");
	assert_int_equal(thread_names_take_due(&names, at(1010), tids, 300), 250);
	for (uint32_t tid = 350; tid < 357; tid++)
		sample_and_read(&names, tid, 1020, "more");
	assert_int_equal(thread_names_take_due(&names, at(1510), tids, 300), 0);
	thread_names_release(&names);
}

static void who_runs_java_code_soon_has_a_name(void **state)
{
	struct thread_names names = { 0 };

	(void)state;
	/* Each two seconds, after 3,500 ms. */
	assert_int_equal(reads_without_a_name(&names, 1, true), 7);
	thread_names_release(&names);
	/* Also while it is in native code. */
	names = (struct thread_names){ 0 };
	assert_int_equal(thread_names_want(&names, TID, true, at(1)), THREAD_NOW);
	read_at(&names, 1, NULL);
	assert_int_equal(reads_without_a_name(&names, 2, false), 6);
	thread_names_release(&names);
	names = (struct thread_names){ 0 };
	assert_int_equal(reads_without_a_name(&names, 1, false), 5);
	/* A thread that attaches itself to the JVM. */
	assert_int_equal(thread_names_want(&names, TID, false, at(10100)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID, true, at(10101)), THREAD_AGAIN);
	read_at(&names, 10101, NULL);
	assert_int_equal(thread_names_want(&names, TID, true, at(10102)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID, false, at(12001)), THREAD_AGAIN);
	read_at(&names, 12001, "name");
	assert_int_equal(thread_names_want(&names, TID, true, at(12400)), THREAD_KNOWN);
	assert_int_equal(thread_names_want(&names, TID, true, at(12501)), THREAD_AGAIN);
	thread_names_release(&names);
}

static void what_fails_is_tried_less_and_less_often(void **state)
{
	struct thread_names names = { 0 };
	uint64_t now = 100, tries = 0;

	(void)state;
	for (; now < 10100; now++) {
		if (thread_names_want(&names, TID, false, at(now)) == THREAD_KNOWN)
			continue;
		thread_names_add_failure(&names, TID, at(now));
		tries++;
		if (tries == 2)
			assert_int_equal(now, 110);
	}
	assert_in_range(tries, 12, 16);
	thread_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_it_is_read),
		cmocka_unit_test(a_name_that_stands_is_read_half_as_often),
		cmocka_unit_test(who_has_no_name_is_read_less_often),
		cmocka_unit_test(who_is_due_with_others),
		cmocka_unit_test(who_runs_java_code_soon_has_a_name),
		cmocka_unit_test(what_fails_is_tried_less_and_less_often),
	};

	return cmocka_run_group_tests_name("thread_names_due", tests, NULL, NULL);
}
