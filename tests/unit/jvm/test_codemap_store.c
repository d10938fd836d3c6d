/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <time.h>

#include "codemap_store_world.h"

/* A method's code without inlining. */
static void load(uint64_t time_ns, uint64_t address, uint64_t method)
{
	const struct pc_spec pc = { SIZE, 1, method };

	put_load(&buffer, 0, time_ns, address, SIZE, method, &pc, 1);
}

static void load_replayed(uint64_t time_ns, uint64_t address, uint64_t method)
{
	const struct pc_spec pc = { SIZE, 1, method };

	put_load(&buffer, CODEMAP_FLAG_REPLAYED, time_ns, address, SIZE, method, &pc, 1);
}

/* The digit of the class that ran at ADDRESS, '-' evicted, '?' unknown, 's' a stub. */
static char who(uint64_t address, uint64_t time_ns)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = NULL;

	feed();
	switch (codemap_store_find(store, address, time_ns, frames, &count, &stub)) {
	case JAVA_FRAMES: assert_true(count >= 1); return frames[0].class_name[9];
	case JAVA_EVICTED: return '-';
	case JAVA_STUB: return 's';
	default: return '?';
	}
}

static void gives_the_inlined_chain(void **state)
{
	const struct pc_spec pcs[] = { { 0x10, 1, 3 }, { 0x20, 3, 1 }, { 0x30, 2, 2 } };
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub;

	(void)state;
	put_load(&buffer, 0, 1000 * MS, CODE, SIZE, 3, pcs, 3);
	feed();
	/* 0x11 .. 0x20 belong to the second entry. */
	for (uint64_t at = 0x11; at <= 0x20; at += 0xf) {
		assert_int_equal(
			codemap_store_find(store, CODE + at, 1100 * MS, frames, &count, &stub),
			JAVA_FRAMES);
		assert_int_equal(count, 3);
		assert_string_equal(frames[0].class_name, "pkg.Class1");
		assert_string_equal(frames[1].class_name, "pkg.Class2");
		assert_string_equal(frames[2].class_name, "pkg.Class3");
		assert_true(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
		assert_string_equal(frames[0].method, "run");
		assert_string_equal(frames[0].source, "Class.java");
		assert_int_equal(frames[0].bci, 5);
		assert_int_equal(frames[0].line, 41);
	}
	codemap_store_find(store, CODE + 0x10, 1100 * MS, frames, &count, &stub);
	assert_int_equal(count, 1);
	codemap_store_find(store, CODE + 0x21, 1100 * MS, frames, &count, &stub);
	assert_int_equal(count, 2);
	assert_string_equal(frames[0].class_name, "pkg.Class2");
	/* Handlers behind the last entry are the outermost method's. */
	codemap_store_find(store, CODE + 0x31, 1100 * MS, frames, &count, &stub);
	assert_int_equal(count, 1);
	assert_string_equal(frames[0].class_name, "pkg.Class3");
	assert_int_equal(frames[0].bci, -1);
}

static void knows_where_code_begins_and_ends(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	load(1000 * MS, CODE + SIZE, 2);
	assert_int_equal(who(CODE - 1, 1100 * MS), '?');
	assert_int_equal(who(CODE, 1100 * MS), '1');
	assert_int_equal(who(CODE + SIZE - 1, 1100 * MS), '1');
	assert_int_equal(who(CODE + SIZE, 1100 * MS), '2');
	assert_int_equal(who(CODE + 2 * SIZE, 1100 * MS), '?');
}

static void code_runs_before_its_report(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	assert_int_equal(who(CODE, 990 * MS), '1');
	/* But not seconds before it. */
	load(9000 * MS, CODE + SIZE, 2);
	assert_int_equal(who(CODE + SIZE, 5000 * MS), '-');
}

static void an_address_is_used_again(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	put_unload(&buffer, 2000 * MS, CODE);
	load(2500 * MS, CODE + 0x80, 2);
	assert_int_equal(who(CODE + 0x90, 1500 * MS), '1');
	assert_int_equal(who(CODE + 0x90, 1999 * MS), '1');
	/* Gone for good: what runs there now is what comes next. */
	assert_int_equal(who(CODE + 0x90, 2001 * MS), '2');
	assert_int_equal(who(CODE + 0x90, 2600 * MS), '2');
	assert_int_equal(who(CODE + 0x10, 2600 * MS), '-');
}

/* Reports that had to wait: the load of B was already there when the unload of A was reported. */
static void late_reports_are_not_guessed(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	put_unload(&buffer, 2000 * MS, CODE);
	load(2000 * MS + 300000, CODE, 2);
	assert_int_equal(who(CODE, 1900 * MS), '1');
	assert_int_equal(who(CODE, 1990 * MS), '-');
	assert_int_equal(who(CODE, 2001 * MS), '2');
}

/* The queue was empty in between, so that B came after A's unload and A ran until then. */
static void prompt_reports_are_believed(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	put_unload(&buffer, 2000 * MS, CODE);
	load(2002 * MS, CODE, 2);
	assert_int_equal(who(CODE, 1990 * MS), '1');
	assert_int_equal(who(CODE, 1998 * MS), '-');
	assert_int_equal(who(CODE, 2001 * MS), '2');
}

static void the_same_code_again_is_no_doubt(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	put_unload(&buffer, 2000 * MS, CODE);
	load(2000 * MS + 300000, CODE, 1);
	assert_int_equal(who(CODE, 1999 * MS), '1');
}

/* A replay may report code before the Service Thread has reported what was there earlier. */
static void an_old_unload_after_a_replay_heals(void **state)
{
	(void)state;
	load_replayed(1000 * MS, CODE, 2);
	put_unload(&buffer, 1001 * MS, CODE);
	assert_int_equal(who(CODE, 1050 * MS), '-');
	load(1002 * MS, CODE, 2);
	assert_int_equal(who(CODE, 1050 * MS), '2');
	assert_int_equal(who(CODE, 1000 * MS), '2');
}

static void an_unreported_end_is_seen_by_the_successor(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	load(2000 * MS, CODE + 0x10, 2);
	assert_int_equal(who(CODE + 0x20, 1500 * MS), '1');
	assert_int_equal(who(CODE + 0x20, 1999 * MS), '-');
	assert_int_equal(who(CODE + 0x20, 2100 * MS), '2');
	/* And what of it was not covered is gone, too. */
	assert_int_equal(who(CODE, 2100 * MS), '-');
}

static void a_gap_is_bridged_by_a_replay(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	load(1000 * MS, CODE + SIZE, 2);
	put_gap(&buffer, 2000 * MS);
	feed();
	assert_true(codemap_store_needs_replay(store));
	assert_int_equal(who(CODE, 1999 * MS), '1');
	assert_int_equal(who(CODE, 2100 * MS), '-');
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3000 * MS);
	load_replayed(3001 * MS, CODE, 1);
	load_replayed(3001 * MS, CODE + SIZE, 3);
	put_mark(&buffer, CODEMAP_REPLAY_END, 3002 * MS);
	feed();
	assert_false(codemap_store_needs_replay(store));
	/* Confirmed: it was there all the time. */
	assert_int_equal(who(CODE, 2100 * MS), '1');
	/* Another one now: between loss and replay either, or a third, may have run. */
	assert_int_equal(who(CODE + SIZE, 1999 * MS), '2');
	assert_int_equal(who(CODE + SIZE, 2100 * MS), '-');
	assert_int_equal(who(CODE + SIZE, 3100 * MS), '3');
}

static void what_a_replay_misses_is_gone_after_a_gap(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	put_gap(&buffer, 2000 * MS);
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3000 * MS);
	put_mark(&buffer, CODEMAP_REPLAY_END, 3002 * MS);
	assert_int_equal(who(CODE, 1500 * MS), '1');
	assert_int_equal(who(CODE, 2500 * MS), '-');
	assert_int_equal(who(CODE, 3500 * MS), '-');
}

static void a_gap_during_a_replay_asks_for_another(void **state)
{
	(void)state;
	put_gap(&buffer, 2000 * MS);
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3000 * MS);
	put_gap(&buffer, 3001 * MS);
	put_mark(&buffer, CODEMAP_REPLAY_END, 3002 * MS);
	feed();
	assert_int_equal(codemap_store_replays(store), 1);
	assert_true(codemap_store_needs_replay(store));
}

static void half_a_replay_does_not_count(void **state)
{
	(void)state;
	put_mark(&buffer, CODEMAP_REPLAY_END, 3002 * MS);
	feed();
	assert_int_equal(codemap_store_replays(store), 0);
}

static void numbers_change_and_names_stay(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	feed();
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 2000 * MS);
	put_method(&buffer, 101, "pkg/Class1", "run", "Class.java", 4, 41);
	load_replayed(2001 * MS, CODE, 101);
	put_mark(&buffer, CODEMAP_REPLAY_END, 2002 * MS);
	assert_int_equal(who(CODE, 1500 * MS), '1');
	assert_int_equal(who(CODE, 2500 * MS), '1');
	/* Two replays later the first numbers mean nothing. */
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3000 * MS);
	put_mark(&buffer, CODEMAP_REPLAY_END, 3002 * MS);
	load(3003 * MS, CODE + SIZE, 2);
	feed();
	assert_int_equal(who(CODE, 3100 * MS), '1');
}

static void stubs_have_names(void **state)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count;
	const char *stub = NULL;

	(void)state;
	put_dynamic(&buffer, CODEMAP_FLAG_REPLAYED, 1000 * MS, CODE, 0x1000, "StubRoutines (1)");
	put_dynamic(&buffer, CODEMAP_FLAG_REPLAYED, 1000 * MS, CODE + 0x40, 0x40,
		    "call\x01stub\xff");
	feed();
	assert_int_equal(codemap_store_find(store, CODE, 2000 * MS, frames, &count, &stub),
			 JAVA_STUB);
	assert_string_equal(stub, "StubRoutines (1)");
	assert_int_equal(codemap_store_find(store, CODE + 0x41, 2000 * MS, frames, &count, &stub),
			 JAVA_STUB);
	assert_string_equal(stub, "call?stub?");
	/* Compiled code that took its place. */
	load(3000 * MS, CODE + 0x100, 4);
	assert_int_equal(who(CODE + 0x110, 3100 * MS), '4');
}

/* As it is called from outside, and in a replay. */
static void an_adapter_has_no_signature(void **state)
{
	static const char *const names[] = { "I2C/C2I adapters(0xbaab)@0x00007f1c2c0a1b00",
					     "I2C/C2I adapters", "I2C/C2I adapters(" };
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		const char *stub = NULL;

		put_dynamic(&buffer, 0, 1000 * MS, CODE + i * 0x40, 0x40, names[i]);
		feed();
		assert_int_equal(codemap_store_find(store, CODE + i * 0x40, 2000 * MS, frames,
						    &count, &stub),
				 JAVA_STUB);
		assert_string_equal(stub, "I2C/C2I adapters");
	}
}

static void nothing_is_known_after_the_agent_left(void **state)
{
	(void)state;
	load(1000 * MS, CODE, 1);
	feed();
	codemap_store_set_known_until(store, 2000 * MS);
	assert_int_equal(who(CODE, 1900 * MS), '1');
	assert_int_equal(who(CODE, 2100 * MS), '-');
}

/* The number of changes when it is settled at TIME_NS, else 0. */
static uint64_t settled(uint64_t time_ns)
{
	uint64_t changes = 0;

	feed();
	return codemap_store_is_settled(store, time_ns, &changes) ? changes : 0;
}

/* Behind the latest change of all, and until the next one of code. */
static void says_since_when_nothing_has_changed(void **state)
{
	uint64_t first, second;

	(void)state;
	load(1000 * MS, CODE, 1);
	load(900 * MS, CODE + SIZE, 2);
	assert_int_equal(settled(1000 * MS), 0);
	first = settled(1001 * MS);
	assert_true(first != 0);
	assert_int_equal(settled(5000 * MS), first);
	put_thread(&buffer, CODEMAP_THREAD, 2000 * MS, 7, 31, "a thread");
	assert_int_equal(settled(1001 * MS), first);
	put_unload(&buffer, 3000 * MS, CODE);
	assert_int_equal(settled(3000 * MS), 0);
	second = settled(3001 * MS);
	assert_true(second != 0 && second != first);
	codemap_store_note_gap(store, 4000 * MS);
	assert_int_equal(settled(9000 * MS), 0);
}

static void no_two_stores_are_taken_for_one(void **state)
{
	struct codemap_store *other = codemap_store_new();
	uint64_t changes;

	(void)state;
	assert_true(codemap_store_is_settled(other, 1, &changes));
	assert_true(changes != settled(1));
	codemap_store_set_known_until(other, 1);
	assert_false(codemap_store_is_settled(other, 5, &changes));
	codemap_store_free(other);
}

static void old_code_is_dropped(void **state)
{
	size_t full;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		load((1000 + i) * MS, CODE + i * SIZE, 1 + i % 9);
		if (i % 2)
			put_unload(&buffer, 2000 * MS, CODE + i * SIZE);
	}
	feed();
	full = codemap_store_bytes(store);
	codemap_store_expire(store, 3000 * MS);
	assert_true(codemap_store_bytes(store) < full);
	assert_int_equal(who(CODE + 2 * SIZE, 1900 * MS), '3');
	assert_int_equal(who(CODE + 3 * SIZE, 1900 * MS), '?');
}

static void threads_have_names_for_their_time(void **state)
{
	uint64_t java_tid = 0;

	(void)state;
	put_thread(&buffer, CODEMAP_THREAD, 1000 * MS, 77, 12, "worker-1");
	put_thread(&buffer, CODEMAP_THREAD_END, 2000 * MS, 77, 12, "");
	put_thread(&buffer, CODEMAP_THREAD, 3000 * MS, 77, 30, "worker-2");
	feed();
	assert_string_equal(codemap_store_thread_name(store, 77, 1500 * MS, &java_tid), "worker-1");
	assert_int_equal(java_tid, 12);
	assert_string_equal(codemap_store_thread_name(store, 77, 3500 * MS, &java_tid), "worker-2");
	assert_int_equal(java_tid, 30);
	assert_null(codemap_store_thread_name(store, 78, 1500 * MS, &java_tid));
	codemap_store_expire(store, 3100 * MS);
	assert_string_equal(codemap_store_thread_name(store, 77, 3500 * MS, &java_tid), "worker-2");
}

static void put_replayed_thread(uint64_t time_ns, uint64_t java_tid, const char *name)
{
	struct codemap_record *r = (void *)(buffer.data + buffer.len);

	put_thread(&buffer, CODEMAP_THREAD, time_ns, 77, java_tid, name);
	r->flags = CODEMAP_FLAG_REPLAYED;
}

static void older_threads_keep_their_name_until_it_changes(void **state)
{
	uint64_t java_tid = 0;
	size_t bytes;

	(void)state;
	put_replayed_thread(5000 * MS, 12, "first");
	feed();
	/* It was there before it was seen. */
	assert_string_equal(codemap_store_thread_name(store, 77, 100 * MS, &java_tid), "first");
	bytes = codemap_store_bytes(store);
	put_replayed_thread(6000 * MS, 12, "first");
	feed();
	assert_int_equal(codemap_store_bytes(store), bytes);
	put_replayed_thread(7000 * MS, 12, "second");
	feed();
	assert_string_equal(codemap_store_thread_name(store, 77, 6500 * MS, &java_tid), "first");
	assert_string_equal(codemap_store_thread_name(store, 77, 7500 * MS, &java_tid), "second");
	assert_int_equal(java_tid, 12);
}

/* A JVM that makes code without end is forgotten, not collected until memory is gone. */
static void memory_is_bounded(void **state)
{
	struct pc_spec pcs[200];
	size_t most = 0;

	(void)state;
	feed();
	for (uint32_t i = 0; i < 200; i++)
		pcs[i] = (struct pc_spec){ i + 1, 9, 1 };
	for (uint64_t n = 0; n < 32000; n++) {
		put_load(&buffer, 0, 1000 * MS, CODE + n * SIZE, SIZE, 1, pcs, 200);
		feed();
		most = codemap_store_bytes(store) > most ? codemap_store_bytes(store) : most;
	}
	assert_true(most <= CODE_STORE_MAX_BYTES + (1U << 20));
	assert_true(codemap_store_needs_replay(store));
}

/* A hostile JVM must not keep hostprof from its other JVMs. */
/* Code that takes the place of many ends those that live, and finds them among those that do not. */
static void code_over_code_of_which_most_has_ended(void **state)
{
	enum { MANY = 100 };
	const struct pc_spec wide = { 16 * SIZE, 1, 4 };

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		load(1000 * MS, CODE + i * SIZE, 1 + i % 2);
	for (uint64_t i = 0; i < MANY; i++)
		if (i != 37)
			put_unload(&buffer, 2000 * MS, CODE + i * SIZE);
	feed();
	put_dynamic(&buffer, 0, 2500 * MS, CODE - SIZE, 16, "stub");
	put_load(&buffer, 0, 3000 * MS, CODE + 80 * SIZE, 16 * SIZE, 4, &wide, 1);
	load(3500 * MS, CODE + 37 * SIZE, 3);
	assert_int_equal(who(CODE + 37 * SIZE, 2900 * MS), '2');
	assert_int_equal(who(CODE + 37 * SIZE, 3600 * MS), '3');
	assert_int_equal(who(CODE + 90 * SIZE, 3600 * MS), '4');
	for (uint64_t i = 0; i < MANY; i++) {
		assert_int_equal(who(CODE + i * SIZE, 1500 * MS), i % 2 ? '2' : '1');
		if (i != 37)
			assert_int_equal(who(CODE + i * SIZE, 2400 * MS), i / 16 == 5 ? '4' : '-');
	}
}

static void code_upon_code_takes_no_long_search(void **state)
{
	const struct pc_spec pc = { 1, 9, 1 };
	clock_t began = clock();

	(void)state;
	for (uint32_t n = 0; n < 60000; n++) {
		put_load(&buffer, 0, 1000 * MS, CODE, SIZE + n, 1, &pc, 1);
		feed();
	}
	assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
	assert_int_equal(who(CODE, 1001 * MS), '1');
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_inlined_chain),
		TEST(knows_where_code_begins_and_ends),
		TEST(code_runs_before_its_report),
		TEST(an_address_is_used_again),
		TEST(late_reports_are_not_guessed),
		TEST(prompt_reports_are_believed),
		TEST(the_same_code_again_is_no_doubt),
		TEST(an_old_unload_after_a_replay_heals),
		TEST(an_unreported_end_is_seen_by_the_successor),
		TEST(a_gap_is_bridged_by_a_replay),
		TEST(what_a_replay_misses_is_gone_after_a_gap),
		TEST(a_gap_during_a_replay_asks_for_another),
		TEST(half_a_replay_does_not_count),
		TEST(numbers_change_and_names_stay),
		TEST(stubs_have_names),
		TEST(an_adapter_has_no_signature),
		TEST(nothing_is_known_after_the_agent_left),
		TEST(says_since_when_nothing_has_changed),
		TEST(no_two_stores_are_taken_for_one),
		TEST(old_code_is_dropped),
		TEST(threads_have_names_for_their_time),
		TEST(older_threads_keep_their_name_until_it_changes),
		TEST(memory_is_bounded),
		TEST(code_over_code_of_which_most_has_ended),
		TEST(code_upon_code_takes_no_long_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
