/* SPDX-License-Identifier: Apache-2.0 */
/* Which code an address is, to the nanosecond of each limit; and what of a record counts. */
#include "test.h"

#include "codemap_store_world.h"

#define T (1000 * MS)

/* Another JVM, of which nothing is known. */
static void begin_again(void)
{
	codemap_store_free(store);
	set_up(NULL);
}

static void load_flagged(uint64_t time_ns, uint64_t address, uint32_t bytes, uint64_t method,
			 uint16_t flags)
{
	const struct pc_spec pc = { bytes, 1, method };

	put_load(&buffer, flags, time_ns, address, bytes, method, &pc, 1);
}

static void load(uint64_t time_ns, uint64_t method)
{
	load_flagged(time_ns, CODE, SIZE, method, 0);
}

/* The digit of the class that ran at CODE + AT, '-' evicted, '?' unknown, 's' a stub. */
static char who_at(uint64_t at, uint64_t time_ns)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = NULL;

	feed();
	switch (codemap_store_find(store, CODE + at, time_ns, frames, &count, &stub)) {
	case JAVA_FRAMES: assert_int_equal(count, 1); return frames[0].class_name[9];
	case JAVA_EVICTED: return '-';
	case JAVA_STUB: return 's';
	default: return '?';
	}
}

static char who(uint64_t time_ns)
{
	return who_at(8, time_ns);
}

/* From its load on, up to its unload; before it for as long as reports may be late. */
static void a_life(void **state)
{
	(void)state;
	load(5 * T, 1);
	put_unload(&buffer, 6 * T, CODE);
	assert_int_equal(who(5 * T - CODE_SLACK_NS), '1');
	assert_int_equal(who(5 * T - CODE_SLACK_NS - 1), '-');
	assert_int_equal(who(5 * T), '1');
	assert_int_equal(who(6 * T - 1), '1');
	assert_int_equal(who(6 * T), '-');
	/* An unload of another address, or of a stub, is not its. */
	begin_again();
	load(5 * T, 1);
	put_unload(&buffer, 6 * T, CODE + 1);
	put_unload(&buffer, 6 * T, CODE - 1);
	assert_int_equal(who(7 * T), '1');
	begin_again();
	put_dynamic(&buffer, 0, 5 * T, CODE, SIZE, "stub");
	put_unload(&buffer, 6 * T, CODE);
	assert_int_equal(who(7 * T), 's');
	/* An unload that is older than the load ends it where it begins. */
	begin_again();
	load(5 * T, 1);
	put_unload(&buffer, 4 * T, CODE);
	assert_int_equal(who(5 * T), '-');
	assert_int_equal(who(5 * T - 1), '1');
	/* The first end counts. */
	begin_again();
	load(5 * T, 1);
	put_unload(&buffer, 7 * T, CODE);
	put_unload(&buffer, 6 * T, CODE);
	assert_int_equal(who(6 * T + MS), '1');
}

/* Code 1 is unloaded at 2 T; 2 is reported so much later. How long before that is it doubtful? */
static uint64_t doubt_of(uint64_t later_ns, bool pause)
{
	uint64_t low = 0, high = T / 2;

	begin_again();
	load(T, 1);
	/* Reports of other code, each within the queue's pause of the one before. */
	for (uint64_t at = 2 * T - 10 * MS; !pause && at < 2 * T; at += MS / 2)
		load_flagged(at, CODE + 0x100000, SIZE, 9, 0);
	put_unload(&buffer, 2 * T, CODE);
	load(2 * T + later_ns, 2);
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (who(2 * T - 1 - middle) == '-')
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* In one go with the unload: as long as a queue may be; after a pause only as long as a report is late. */
static void a_successor_may_have_run_already(void **state)
{
	(void)state;
	assert_int_equal(doubt_of(CODE_QUEUE_IDLE_NS, true), CODE_QUEUE_NS);
	assert_int_equal(doubt_of(CODE_QUEUE_IDLE_NS + 1, true), CODE_LAG_NS);
	assert_int_equal(doubt_of(1, false), CODE_QUEUE_NS);
	assert_int_equal(doubt_of(CODE_SUCCESSOR_NS, true), CODE_LAG_NS);
	assert_int_equal(doubt_of(CODE_SUCCESSOR_NS + 1, true), 0);
}

/* Where the unload was not reported, the successor's load says that it came: the queue was as long. */
static void a_successor_without_an_unload(void **state)
{
	(void)state;
	load(T, 1);
	load(2 * T, 2);
	assert_int_equal(who(2 * T - CODE_QUEUE_NS - 1), '1');
	assert_int_equal(who(2 * T - CODE_QUEUE_NS), '-');
	assert_int_equal(who(2 * T), '2');
}

/* Of several that came later the first one ran. */
static void the_next_one_is_the_first_to_come(void **state)
{
	(void)state;
	load(3 * T, 3);
	load(2 * T, 2);
	load(4 * T, 4);
	assert_int_equal(who(2 * T - MS), '2');
	begin_again();
	load_flagged(3 * T, CODE - 0x40, SIZE, 3, 0);
	load_flagged(4 * T, CODE, SIZE, 4, 0);
	assert_int_equal(who(3 * T - MS), '3');
}

/* --- what was lost --- */

static void between_a_loss_and_a_replay(void **state)
{
	(void)state;
	load(T, 1);
	put_gap(&buffer, 2 * T);
	assert_int_equal(who(2 * T - 1), '1');
	assert_int_equal(who(2 * T), '-');
	/* What was reported since is known. */
	load_flagged(2 * T + 1, CODE + SIZE, SIZE, 2, 0);
	assert_int_equal(who_at(SIZE + 8, 2 * T + 5), '2');
	/* But not what was there before it. */
	assert_int_equal(who_at(SIZE + 8, 2 * T), '-');
	assert_int_equal(who_at(SIZE + 8, 2 * T - 1), '2');
	begin_again();
	load(2 * T, 1);
	put_gap(&buffer, 2 * T);
	assert_int_equal(who(2 * T), '1');
}

/* The running replay says at once what is there, and its end what is not. */
static void while_a_replay_runs(void **state)
{
	(void)state;
	load(T, 1);
	load_flagged(T, CODE + SIZE, SIZE, 2, 0);
	put_gap(&buffer, 2 * T);
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3 * T);
	assert_int_equal(who(3 * T), '-');
	load_flagged(3 * T + 1, CODE, SIZE, 1, CODEMAP_FLAG_REPLAYED);
	assert_int_equal(who(3 * T), '1');
	assert_int_equal(who_at(SIZE + 8, 3 * T), '-');
	assert_int_equal(codemap_store_replays(store), 0);
	put_mark(&buffer, CODEMAP_REPLAY_END, 4 * T);
	assert_int_equal(who(5 * T), '1');
	assert_int_equal(who_at(SIZE + 8, 5 * T), '-');
	assert_int_equal(who_at(SIZE + 8, 2 * T - 1), '2');
	assert_int_equal(codemap_store_replays(store), 1);
	assert_false(codemap_store_needs_replay(store));
	/* A replay without a loss before it ends nothing. */
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 6 * T);
	put_mark(&buffer, CODEMAP_REPLAY_END, 7 * T);
	assert_int_equal(who(8 * T), '1');
	assert_int_equal(codemap_store_replays(store), 2);
	put_mark(&buffer, CODEMAP_REPLAY_END, 8 * T);
	feed();
	assert_int_equal(codemap_store_replays(store), 2);
}

/* What a replay said before it lost something is doubtful, too; the next one settles it. */
static void a_loss_in_a_replay(void **state)
{
	(void)state;
	load(T, 1);
	put_gap(&buffer, 2 * T);
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 3 * T);
	put_gap(&buffer, 3 * T + 1);
	put_mark(&buffer, CODEMAP_REPLAY_END, 4 * T);
	assert_int_equal(who(5 * T), '-');
	assert_true(codemap_store_needs_replay(store));
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 5 * T);
	/* An agent numbers its methods anew. */
	put_method(&buffer, 101, "pkg/Class1", "run", "Class.java", 4, 41);
	load_flagged(5 * T + 1, CODE, SIZE, 101, CODEMAP_FLAG_REPLAYED);
	put_mark(&buffer, CODEMAP_REPLAY_END, 6 * T);
	assert_int_equal(who(5 * T), '1');
	assert_false(codemap_store_needs_replay(store));
}

/* Of several losses the earliest counts. */
static void the_earliest_loss(void **state)
{
	(void)state;
	load(T, 1);
	put_gap(&buffer, 4 * T);
	put_gap(&buffer, 3 * T);
	put_gap(&buffer, 5 * T);
	assert_int_equal(who(3 * T - 1), '1');
	assert_int_equal(who(3 * T), '-');
	put_mark(&buffer, CODEMAP_REPLAY_BEGIN, 6 * T);
	load_flagged(6 * T, CODE, SIZE, 1, CODEMAP_FLAG_REPLAYED);
	put_mark(&buffer, CODEMAP_REPLAY_END, 7 * T);
	put_gap(&buffer, 8 * T);
	assert_int_equal(who(8 * T - 1), '1');
	assert_int_equal(who(8 * T), '-');
}

/* What took the place of code while records were missing: that one ended with the loss. */
static void a_successor_after_a_loss(void **state)
{
	(void)state;
	load(T, 1);
	put_gap(&buffer, 2 * T);
	load(3 * T, 2);
	assert_int_equal(who(2 * T - CODE_QUEUE_NS - 1), '1');
	assert_int_equal(who(2 * T), '-');
	assert_int_equal(who(3 * T - 1), '-');
	assert_int_equal(who(3 * T), '2');
}

static void after_the_agent_left(void **state)
{
	(void)state;
	load(T, 1);
	feed();
	codemap_store_set_known_until(store, 2 * T);
	assert_int_equal(who(2 * T), '1');
	assert_int_equal(who(2 * T + 1), '-');
	assert_int_equal(who_at(SIZE, 2 * T + 1), '?');
	codemap_store_set_known_until(store, 0);
	assert_int_equal(who(3 * T), '1');
}

/* --- the same, and others --- */

/* A replay reports again what is known: it stays one, with the time that it had. */
static void what_is_reported_again(void **state)
{
	size_t bytes;

	(void)state;
	load(2 * T, 1);
	put_dynamic(&buffer, 0, 2 * T, CODE + SIZE, SIZE, "stub");
	feed();
	bytes = codemap_store_bytes(store);
	load_flagged(9 * T, CODE, SIZE, 1, CODEMAP_FLAG_REPLAYED);
	put_dynamic(&buffer, CODEMAP_FLAG_REPLAYED, 9 * T, CODE + SIZE, SIZE, "stub");
	feed();
	assert_int_equal(codemap_store_bytes(store), bytes);
	assert_int_equal(who(3 * T), '1');
	/* Another method, another length, another address: other code. */
	load_flagged(10 * T, CODE, SIZE, 2, 0);
	assert_int_equal(who(10 * T), '2');
	load_flagged(11 * T, CODE, SIZE + 8, 2, 0);
	assert_int_equal(who_at(SIZE + 4, 11 * T), '2');
	put_dynamic(&buffer, 0, 12 * T, CODE + SIZE, SIZE, "other");
	feed();
	assert_true(codemap_store_bytes(store) > bytes);
	/* What ended is not what comes back. */
	begin_again();
	load(2 * T, 1);
	put_unload(&buffer, 3 * T, CODE);
	load(9 * T, 1);
	assert_int_equal(who(5 * T), '-');
	assert_int_equal(who(9 * T), '1');
}

/* Stubs may lie in one another; code and a stub, and two at one place, may not. */
static void stubs_within_stubs(void **state)
{
	(void)state;
	put_dynamic(&buffer, 0, T, CODE, SIZE, "outer");
	put_dynamic(&buffer, 0, 2 * T, CODE + 0x40, 0x40, "inner");
	assert_int_equal(who_at(0x90, 3 * T), 's');
	assert_int_equal(who_at(0x50, 3 * T), 's');
	load_flagged(4 * T, CODE + 0x60, 0x10, 3, 0);
	assert_int_equal(who_at(0x68, 4 * T), '3');
	assert_int_equal(who_at(0x90, 5 * T), '-');
	assert_int_equal(who_at(0x50, 5 * T), '-');
	assert_int_equal(who_at(0x90, 3 * T), 's');
	/* A stub ends the code that it lies upon. */
	put_dynamic(&buffer, 0, 6 * T, CODE + 0x6f, 1, "stub");
	assert_int_equal(who_at(0x60, 7 * T), '-');
	/* Of two of one size the one that begins later. */
	begin_again();
	put_dynamic(&buffer, 0, T, CODE, SIZE, "first");
	put_dynamic(&buffer, 0, T, CODE + 8, SIZE, "second");
	feed();
	{
		struct java_frame frames[JAVA_MAX_INLINE];
		unsigned int count = 0;
		const char *stub = NULL;

		assert_int_equal(codemap_store_find(store, CODE + 16, T, frames, &count, &stub),
				 JAVA_STUB);
		assert_string_equal(stub, "second");
	}
	/* Neighbours end nobody. */
	begin_again();
	load(T, 1);
	load_flagged(2 * T, CODE + SIZE, SIZE, 2, 0);
	load_flagged(2 * T, CODE - SIZE, SIZE, 3, 0);
	assert_int_equal(who(3 * T), '1');
}

/* --- memory --- */

static void what_ended_is_dropped(void **state)
{
	size_t before;

	(void)state;
	load(T, 1);
	load_flagged(T, CODE + SIZE, SIZE, 2, 0);
	put_unload(&buffer, 2 * T, CODE);
	feed();
	before = codemap_store_bytes(store);
	codemap_store_expire(store, 2 * T);
	assert_int_equal(codemap_store_bytes(store), before);
	codemap_store_expire(store, 2 * T + 1);
	assert_true(codemap_store_bytes(store) < before);
	assert_int_equal(who(T), '?');
	assert_int_equal(who_at(SIZE, T), '2');
}

/* --- what a frame says --- */

/* A chain is cut at its inner end; the outermost method is always told. */
static void chains_of_any_depth(void **state)
{
	static const uint32_t depths[] = {
		1, 2, JAVA_MAX_INLINE - 1, JAVA_MAX_INLINE, JAVA_MAX_INLINE + 1, 300
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
		const struct pc_spec pc = { 8, depths[i], 1000 };
		struct java_frame frames[JAVA_MAX_INLINE];
		unsigned int count = 0;
		const char *stub = NULL;

		begin_again();
		put_method(&buffer, 1000 + depths[i] - 1, "pkg/Last", "run", "", 0, 1);
		put_load(&buffer, 0, T, CODE, SIZE, 1, &pc, 1);
		feed();
		assert_int_equal(codemap_store_find(store, CODE, T, frames, &count, &stub),
				 JAVA_FRAMES);
		assert_int_equal(count, MIN(depths[i], (uint32_t)JAVA_MAX_INLINE));
		assert_string_equal(frames[count - 1].class_name, "pkg.Last");
		assert_false(frames[count - 1].inlined);
		for (unsigned int k = 0; k + 1 < count; k++) {
			assert_true(frames[k].inlined);
			assert_string_equal(frames[k].method, "[unknown method]");
		}
	}
}

/* Names of threads and stubs are cut at 1,024 bytes, and made printable. */
static void long_names(void **state)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	char name[1030];
	uint64_t java_tid;
	unsigned int count;
	const char *stub = NULL;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	name[3] = '\n';
	put_thread(&buffer, CODEMAP_THREAD, T, 7, 8, name);
	put_dynamic(&buffer, 0, T, CODE, SIZE, name);
	feed();
	assert_int_equal(strlen(codemap_store_thread_name(store, 7, T, &java_tid)), 1024);
	assert_int_equal(codemap_store_thread_name(store, 7, T, &java_tid)[3], '?');
	assert_int_equal(codemap_store_find(store, CODE, T, frames, &count, &stub), JAVA_STUB);
	assert_int_equal(strlen(stub), 1024);
	assert_int_equal(stub[3], '?');
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_life),
		TEST(a_successor_may_have_run_already),
		TEST(a_successor_without_an_unload),
		TEST(the_next_one_is_the_first_to_come),
		TEST(between_a_loss_and_a_replay),
		TEST(while_a_replay_runs),
		TEST(a_loss_in_a_replay),
		TEST(the_earliest_loss),
		TEST(a_successor_after_a_loss),
		TEST(after_the_agent_left),
		TEST(what_is_reported_again),
		TEST(stubs_within_stubs),
		TEST(what_ended_is_dropped),
		TEST(chains_of_any_depth),
		TEST(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
