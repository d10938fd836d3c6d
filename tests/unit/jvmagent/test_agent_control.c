/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent's thread does: commands, replays, the lease. */
#include "test.h"

#include "agent_records.h"

static void a_start_turns_events_on_and_replays(void **state)
{
	static const uint16_t expected[] = { CODEMAP_REPLAY_BEGIN, CODEMAP_DYNAMIC,
					     CODEMAP_METHOD,	   CODEMAP_LOAD,
					     CODEMAP_THREAD_SEEN,  CODEMAP_THREAD_SEEN,
					     CODEMAP_REPLAY_END };
	struct agent *a = fake_agent();
	struct codemap_header *h = a->ring.header;
	struct records r;

	(void)state;
	fake.generate = one_stub_and_one_method;
	records_open(&r, a);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	carry_out(a, r.reader.seq);
	assert_events(true, true);
	assert_int_equal(a->events_on, BOTH);
	assert_int_equal(h->events_on, BOTH);
	assert_int_equal(h->done_seq, r.reader.seq);
	assert_int_equal(h->replays, 1);
	assert_int_equal(a->replay_tid, 0);
	assert_int_equal(records_read(&r), 7);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(r.all[i].event.kind, expected[i]);
	assert_int_equal(r.all[3].event.flags, CODEMAP_FLAG_REPLAYED);
	/* Again: all that exists, methods under new numbers. */
	carry_out(a, r.reader.seq);
	assert_int_equal(records_read(&r), 7);
	assert_int_equal(r.all[2].event.method.number, 2);
	assert_int_equal(r.all[3].event.load.method, 2);
	assert_int_equal(h->replays, 2);
	records_close(&r);
	fake_drop(a);
}

/* Only what is wanted, and what the JVM can. */
static void only_what_is_wanted_is_replayed(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	fake.generate = one_stub_and_one_method;
	records_open(&r, a);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, CODEMAP_WANT_THREADS);
	carry_out(a, 1);
	assert_events(false, true);
	assert_int_equal(records_read(&r), 4);
	assert_int_equal(records_of_kind(&r, CODEMAP_THREAD_SEEN), 2);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, CODEMAP_WANT_CODE);
	carry_out(a, 2);
	assert_events(true, false);
	assert_int_equal(records_read(&r), 5);
	assert_int_equal(records_of_kind(&r, CODEMAP_THREAD_SEEN), 0);
	a->can = CODEMAP_WANT_THREADS;
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	carry_out(a, 3);
	assert_events(false, true);
	assert_int_equal(a->ring.header->events_on, CODEMAP_WANT_THREADS);
	assert_int_equal(a->ring.header->done_seq, 3);
	records_close(&r);
	fake_drop(a);
}

static void a_stop_turns_events_off(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	fake.generate = one_stub_and_one_method;
	records_open(&r, a);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	carry_out(a, 1);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 1);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_STOP, BOTH);
	carry_out(a, 2);
	assert_events(false, false);
	assert_int_equal(a->ring.header->events_on, 0);
	assert_int_equal(a->ring.header->done_seq, 2);
	assert_int_equal(a->ring.header->replays, 1);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	records_close(&r);
	fake_drop(a);
}

/* Without a lease a command to start is none. */
static void nobody_is_served_without_a_lease(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	a->ring.header->command = CODEMAP_COMMAND_START;
	a->ring.header->want = BOTH;
	carry_out(a, 5);
	assert_events(false, false);
	assert_int_equal(a->ring.header->replays, 0);
	assert_int_equal(a->ring.header->done_seq, 5);
	assert_int_equal(a->ring.head, 0);
	fake_drop(a);
}

static void a_lease_that_lapses_turns_events_off(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	fake.generate = one_stub_and_one_method;
	records_open(&r, a);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	carry_out(a, 1);
	watch_lease(a);
	assert_events(true, true);
	a->ring.header->lease_until_ns = agent_now_ns() - 1;
	watch_lease(a);
	assert_events(false, false);
	assert_int_equal(a->events_on, 0);
	assert_int_equal(a->ring.header->events_on, 0);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	/* A lease alone turns nothing on. */
	a->ring.header->lease_until_ns = agent_now_ns() + CODEMAP_LEASE_NS;
	watch_lease(a);
	assert_events(false, false);
	records_close(&r);
	fake_drop(a);
}

/* While the consumer is there, a gap is announced without a next record. */
static void a_quiet_jvm_announces_its_gap(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->events_on = CODEMAP_WANT_CODE;
	ring_drop(&a->ring, 99);
	watch_lease(a);
	assert_int_equal(records_read(&r), 1);
	assert_int_equal(records_one(&r, CODEMAP_GAP)->event.time_ns, 99);
	records_close(&r);
	fake_drop(a);
}

/* --- room --------------------------------------------------------------------------------------- */

/* A replay leaves a quarter of the ring to live events, to the byte. */
static void a_replay_leaves_room_for_live_events(void **state)
{
	struct agent *a = fake_agent();
	struct codemap_record *record;
	struct records r;

	(void)state;
	records_open(&r, a);
	a->replay_tid = agent_gettid();
	a->ring.head = CODEMAP_RING_BYTES - CONTROL_LIVE_SPARE - 64;
	record = agent_reserve(a, CODEMAP_UNLOAD, 64, 1);
	assert_non_null(record);
	ring_commit(&a->ring, record);
	a->ring.header->lease_until_ns = 0;
	assert_null(agent_reserve(a, CODEMAP_UNLOAD, 64, 1));
	assert_true(a->replay_given_up);
	assert_int_equal(a->ring.header->dropped, 1);
	a->replay_tid = 0;
	record = agent_reserve(a, CODEMAP_UNLOAD, 64, 1);
	assert_non_null(record);
	ring_commit(&a->ring, record);
	records_close(&r);
	fake_drop(a);
}

static void *drain_later(void *data)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct agent *a = data;

	/* Until the other one has slept some times; one who spins makes the test fail in the end. */
	for (int i = 0; i < 1000 && __atomic_load_n(&fake_os.sleeps, __ATOMIC_SEQ_CST) < 3; i++)
		nanosleep(&step, NULL);
	__atomic_store_n(&a->ring.header->tail, 4096, __ATOMIC_RELEASE);
	return NULL;
}

/* A replay waits for its consumer; a live event never does. */
static void a_replay_waits_for_room(void **state)
{
	struct agent *a = fake_agent();
	struct codemap_record *record;
	struct records r;
	pthread_t thread;

	(void)state;
	records_open(&r, a);
	a->ring.head = CODEMAP_RING_BYTES - CONTROL_LIVE_SPARE;
	a->replay_tid = agent_gettid();
	assert_int_equal(pthread_create(&thread, NULL, drain_later, a), 0);
	record = agent_reserve(a, CODEMAP_UNLOAD, 64, 1);
	assert_non_null(record);
	ring_commit(&a->ring, record);
	pthread_join(thread, NULL);
	assert_true(fake_os.sleeps > 2); /* nobody spins */
	assert_int_equal(a->ring.header->dropped, 0);
	assert_false(a->replay_given_up);
	records_close(&r);
	fake_drop(a);
}

/* The consumer's death, the end of the activation, or what was given up before: no waiting. */
static void a_replay_waits_for_nobody_who_is_gone(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->replay_tid = agent_gettid();
	assert_true(replay_may_wait(a));
	a->stop = 1;
	assert_false(replay_may_wait(a));
	a->stop = 0;
	a->active = 0;
	assert_false(replay_may_wait(a));
	a->active = 1;
	a->replay_given_up = 1;
	assert_false(replay_may_wait(a));
	a->replay_given_up = 0;
	a->ring.header->lease_until_ns = 0;
	assert_false(replay_may_wait(a));
	records_close(&r);
	fake_drop(a);
}

/* What one replay gave up does not hold for the next. */
static void the_next_replay_waits_again(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->replay_given_up = 1;
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, CODEMAP_WANT_CODE);
	carry_out(a, 1);
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.kind, CODEMAP_REPLAY_BEGIN);
	assert_int_equal(r.all[1].event.kind, CODEMAP_REPLAY_END);
	records_close(&r);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_turns_events_on_and_replays),
		cmocka_unit_test(only_what_is_wanted_is_replayed),
		cmocka_unit_test(a_stop_turns_events_off),
		cmocka_unit_test(nobody_is_served_without_a_lease),
		cmocka_unit_test(a_lease_that_lapses_turns_events_off),
		cmocka_unit_test(a_quiet_jvm_announces_its_gap),
		cmocka_unit_test(a_replay_leaves_room_for_live_events),
		cmocka_unit_test(a_replay_waits_for_room),
		cmocka_unit_test(a_replay_waits_for_nobody_who_is_gone),
		cmocka_unit_test(the_next_replay_waits_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
