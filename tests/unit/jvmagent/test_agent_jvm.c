/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostprof's side of an agent, with a real one in this process: how its code map is opened, asked
 * again after a loss, and left. Nobody sleeps: the time of each poll is the test's.
 */
#include "test.h"

#include <errno.h>

#include "agent_records.h"
#include "jvm/jvm_private.h"

#define ADDRESS ((uint64_t)CODE)
/* How long jvm.c waits for a replay, and at least until the next one. */
#define REPLAY_TIMEOUT_NS (5 * NSEC_PER_SEC)
#define REPLAY_PAUSE_NS	  (500 * NSEC_PER_MSEC)

struct pair {
	struct jvm *jvm;
	uint64_t now_ns;
	void *buffer;
};

/* As the agent's thread would, when a command came. */
static void serve(struct agent *a)
{
	uint32_t seq = a->ring.header->command_seq;

	if (seq != a->ring.header->done_seq)
		carry_out(a, seq);
}

static void poll_after(struct pair *p, uint64_t ns)
{
	p->now_ns += ns;
	fake_passed_ns += ns;
	jvm_poll(p->jvm, p->buffer, p->now_ns, UINT64_MAX);
}

/* An agent whose JVM has one stub and one method, and hostprof reading it. */
static struct agent *begin(struct pair *p)
{
	const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
	struct agent *a = fake_agent();
	struct err err = { 0 };

	fake.generate = one_stub_and_one_method;
	p->jvm = jvm_new((uint32_t)getpid(), &libjvm, NULL);
	p->buffer = malloc(CODEMAP_READ_BYTES);
	assert_false(jvm_has_code_map(p->jvm));
	assert_int_equal(jvm_open_code_map(p->jvm, &err), 0);
	p->now_ns = clock_now_ns();
	assert_true(jvm_reads_code_map(p->jvm));
	assert_true(jvm_has_code_map(p->jvm));
	return a;
}

static void end(struct pair *p, struct agent *a)
{
	jvm_free(p->jvm);
	free(p->buffer);
	fake_drop(a);
}

static enum java_lookup look_up(struct pair *p, uint64_t time_ns, struct java_frame *frame)
{
	struct java_answer answer;
	enum java_lookup found = jvm_find_code(p->jvm, ADDRESS + 8, time_ns, &answer);

	if (found == JAVA_FRAMES) {
		assert_int_equal(answer.count, 1);
		*frame = answer.frames[0];
	}
	return found;
}

static void a_replay_brings_what_exists(void **state)
{
	struct java_frame frame = { 0 };
	struct java_answer answer;
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	assert_true(p.jvm->same_tids);
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_ELSEWHERE);
	assert_false(jvm_is_replayed(p.jvm, p.now_ns));
	serve(a);
	assert_false(jvm_is_replayed(p.jvm, p.now_ns));
	poll_after(&p, NSEC_PER_MSEC);
	assert_true(jvm_is_replayed(p.jvm, p.now_ns));
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_FRAMES);
	assert_string_equal(frame.class_name, "pkg.A");
	assert_string_equal(frame.method, "run");
	assert_string_equal(frame.source, "A.java");
	assert_int_equal(frame.bci, -1);
	assert_int_equal(frame.line, 10);
	assert_int_equal(jvm_find_code(p.jvm, ADDRESS + 4096, p.now_ns, &answer), JAVA_ELSEWHERE);
	/* Nothing was lost: it is not asked again. */
	poll_after(&p, 90 * NSEC_PER_SEC);
	serve(a);
	assert_int_equal(a->ring.header->replays, 1);
	end(&p, a);
}

/* An agent that does not answer is not waited for, and what it says later counts. */
static void a_silent_agent_is_not_waited_for(void **state)
{
	struct java_frame frame;
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	poll_after(&p, REPLAY_TIMEOUT_NS - NSEC_PER_SEC);
	assert_false(jvm_is_replayed(p.jvm, p.now_ns));
	assert_false(jvm_is_replayed(p.jvm, p.jvm->replay_asked_ns + REPLAY_TIMEOUT_NS));
	assert_true(jvm_is_replayed(p.jvm, p.jvm->replay_asked_ns + REPLAY_TIMEOUT_NS + 1));
	poll_after(&p, 2 * NSEC_PER_SEC);
	assert_true(jvm_is_replayed(p.jvm, p.now_ns));
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_FRAMES);
	end(&p, a);
}

/* A poll PAUSE_NS after the last question does not ask again; one a moment later does. */
static void expect_question_after(struct pair *p, const struct agent *a, uint64_t pause_ns)
{
	uint32_t seq = a->ring.header->command_seq;

	poll_after(p, p->jvm->replay_asked_ns + pause_ns - p->now_ns);
	assert_int_equal(a->ring.header->command_seq, seq);
	poll_after(p, 1);
	assert_int_equal(a->ring.header->command_seq, seq + 1);
	assert_int_equal(a->ring.header->command, CODEMAP_COMMAND_START);
	assert_int_equal(a->ring.header->want, BOTH);
	assert_false(jvm_is_replayed(p->jvm, p->now_ns));
}

static void lose_one(const struct pair *p, struct agent *a)
{
	ring_drop(&a->ring, p->now_ns);
	ring_announce_gap(&a->ring);
}

/* As long as records are lost again meanwhile, each question comes later than the one before. */
static void lost_records_are_asked_for_again(void **state)
{
	struct java_frame frame;
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	lose_one(&p, a);
	for (uint64_t pause = REPLAY_PAUSE_NS; pause < 100 * NSEC_PER_SEC; pause *= 2) {
		expect_question_after(&p, a, MIN(pause, 60 * NSEC_PER_SEC));
		assert_true(codemap_store_needs_replay(p.jvm->store));
		serve(a);
		lose_one(&p, a);
	}
	/* Nothing is lost this time. */
	expect_question_after(&p, a, 60 * NSEC_PER_SEC);
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	assert_false(codemap_store_needs_replay(p.jvm->store));
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_FRAMES);
	lose_one(&p, a);
	expect_question_after(&p, a, REPLAY_PAUSE_NS);
	end(&p, a);
}

/* The agent saw our lease lapse and turned its events off: what we knew is asked for again. */
static void events_that_were_off_are_a_gap(void **state)
{
	struct java_frame frame;
	struct pair p;
	struct agent *a = begin(&p);
	uint64_t before;

	(void)state;
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	before = p.now_ns;
	a->ring.header->lease_until_ns = 1;
	watch_lease(a);
	assert_int_equal(a->ring.header->events_on, 0);
	poll_after(&p, 10 * NSEC_PER_SEC);
	assert_true(codemap_store_needs_replay(p.jvm->store));
	assert_int_equal(look_up(&p, before - 1, &frame), JAVA_FRAMES);
	assert_int_equal(look_up(&p, before + 1, &frame), JAVA_EVICTED);
	assert_true(ring_has_consumer(&a->ring, p.now_ns));
	a->ring.header->lease_until_ns = agent_now_ns() + CODEMAP_LEASE_NS;
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	assert_int_equal(a->ring.header->events_on, BOTH);
	assert_false(codemap_store_needs_replay(p.jvm->store));
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_FRAMES);
	end(&p, a);
}

/* An agent that leaves says so; what it told stays true for the past only. A new one is read. */
static void an_agent_may_leave_and_come_back(void **state)
{
	struct java_frame frame;
	struct err err = { 0 };
	struct pair p;
	struct agent *a = begin(&p);
	uint64_t before;

	(void)state;
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	before = p.now_ns;
	close_memory(a);
	poll_after(&p, NSEC_PER_SEC);
	assert_false(jvm_reads_code_map(p.jvm));
	assert_true(jvm_has_code_map(p.jvm));
	assert_true(jvm_is_replayed(p.jvm, p.now_ns));
	assert_int_equal(look_up(&p, before, &frame), JAVA_FRAMES);
	assert_int_equal(look_up(&p, before + 1, &frame), JAVA_EVICTED);
	assert_int_equal(jvm_open_code_map(p.jvm, &err), -ENODATA);
	assert_int_equal(open_memory(a), AGENT_OK);
	assert_int_equal(jvm_open_code_map(p.jvm, &err), 0);
	assert_true(jvm_reads_code_map(p.jvm));
	assert_int_equal(jvm_open_code_map(p.jvm, &err), 0);
	carry_out(a, a->ring.header->command_seq);
	p.now_ns = clock_now_ns();
	poll_after(&p, NSEC_PER_MSEC);
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_FRAMES);
	end(&p, a);
}

/* One that leaves without an answer is not waited for. */
static void an_agent_may_leave_in_a_replay(void **state)
{
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	assert_false(jvm_is_replayed(p.jvm, p.now_ns));
	close_memory(a);
	poll_after(&p, NSEC_PER_MSEC);
	assert_false(jvm_reads_code_map(p.jvm));
	assert_true(jvm_is_replayed(p.jvm, p.now_ns));
	end(&p, a);
}

/* Memory whose agent is leaving is not opened. */
static void an_agent_that_is_leaving_is_not_opened(void **state)
{
	struct agent *a = fake_agent();
	const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
	struct jvm *jvm = jvm_new((uint32_t)getpid(), &libjvm, NULL);
	struct err err = { 0 };

	(void)state;
	a->ring.header->closed_ns = 1;
	assert_int_equal(jvm_open_code_map(jvm, &err), -ENODATA);
	assert_false(jvm_reads_code_map(jvm));
	assert_false(jvm_has_code_map(jvm));
	jvm_free(jvm);
	fake_drop(a);
}

/* Another hostprof took the lease: its records are not ours to read, nor its events to turn off. */
static void a_lost_lease_is_let_go(void **state)
{
	struct java_frame frame;
	struct pair p;
	struct agent *a = begin(&p);
	uint64_t tail;
	uint32_t seq;

	(void)state;
	serve(a);
	poll_after(&p, NSEC_PER_MSEC);
	seq = a->ring.header->command_seq;
	tail = a->ring.header->tail;
	a->ring.header->lease_pid = (uint32_t)getppid();
	fake.callbacks.CompiledMethodUnload(&fake_jvmti, fake_id(0), CODE);
	poll_after(&p, NSEC_PER_MSEC);
	assert_false(jvm_reads_code_map(p.jvm));
	assert_int_equal(a->ring.header->tail, tail);
	assert_int_equal(a->ring.header->command_seq, seq);
	assert_int_equal(look_up(&p, p.now_ns, &frame), JAVA_EVICTED);
	end(&p, a);
}

/* The end of a recording: events off, at once. */
static void the_end_gives_the_lease_back(void **state)
{
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	serve(a);
	jvm_free(p.jvm);
	free(p.buffer);
	assert_int_equal(a->ring.header->lease_until_ns, 0);
	serve(a);
	assert_int_equal(a->ring.header->events_on, 0);
	fake_drop(a);
}

static void threads_are_named_by_their_tid(void **state)
{
	uint64_t java_tid = 0;
	struct pair p;
	struct agent *a = begin(&p);
	uint32_t tid = agent_gettid();

	(void)state;
	serve(a);
	assert_null(jvm_thread_name(p.jvm, tid, p.now_ns, &java_tid));
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	poll_after(&p, NSEC_PER_MSEC);
	p.now_ns = clock_now_ns();
	assert_string_equal(jvm_thread_name(p.jvm, tid, p.now_ns, &java_tid), "worker-1");
	assert_int_equal(java_tid, 23);
	assert_null(jvm_thread_name(p.jvm, tid + 1, p.now_ns, &java_tid));
	end(&p, a);
}

/* Starts as the agent sees it, waits until it may end. */
static void *start_thread(void *data)
{
	uint32_t *tid = data;

	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(0));
	__atomic_store_n(tid, agent_gettid(), __ATOMIC_RELEASE);
	futex_wake(tid);
	while (__atomic_load_n(tid, __ATOMIC_ACQUIRE))
		futex_wait(tid, agent_gettid(), NSEC_PER_SEC);
	return NULL;
}

/* In another pid namespace a tid is looked up, once; here both namespaces are ours. */
static void threads_of_a_pid_namespace(void **state)
{
	uint64_t java_tid = 0;
	uint32_t tid = 0, other;
	pthread_t thread;
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	serve(a);
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	assert_int_equal(pthread_create(&thread, NULL, start_thread, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		futex_wait(&tid, 0, NSEC_PER_SEC);
	poll_after(&p, NSEC_PER_MSEC);
	p.now_ns = clock_now_ns();
	p.jvm->same_tids = false;
	other = tid;
	for (int i = 0; i < 2; i++) {
		assert_string_equal(jvm_thread_name(p.jvm, other, p.now_ns, &java_tid), "main");
		assert_int_equal(java_tid, 1);
		assert_int_equal(p.jvm->ns_tids.len, 1);
	}
	assert_string_equal(jvm_thread_name(p.jvm, agent_gettid(), p.now_ns, &java_tid),
			    "worker-1");
	assert_int_equal(p.jvm->ns_tids.len, 2);
	/* A few tids need not be looked up again, of a JVM with more threads the last. */
	assert_true(p.jvm->ns_tids.limit_bytes <= 2U << 20);
	lru_set_limit(&p.jvm->ns_tids, LRU_ENTRY_BYTES);
	assert_string_equal(jvm_thread_name(p.jvm, other, p.now_ns, &java_tid), "main");
	assert_int_equal(p.jvm->ns_tids.len, 1);
	lru_set_limit(&p.jvm->ns_tids, 2 * LRU_ENTRY_BYTES);
	assert_string_equal(jvm_thread_name(p.jvm, agent_gettid(), p.now_ns, &java_tid),
			    "worker-1");
	assert_int_equal(p.jvm->ns_tids.len, 2);
	/* Of another process. */
	assert_null(jvm_thread_name(p.jvm, (uint32_t)getppid(), p.now_ns, &java_tid));
	assert_int_equal(p.jvm->ns_tids.len, 2);
	__atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
	futex_wake(&tid);
	pthread_join(thread, NULL);
	/* It has ended, and its samples still have their name. */
	assert_string_equal(jvm_thread_name(p.jvm, other, p.now_ns, &java_tid), "main");
	end(&p, a);
}

/* The table polls all of them, says when all have replayed, and lets all leases go at the end. */
static void a_table_of_jvms(void **state)
{
	char path[] = "/nowhere/libjvm.so";
	struct process process = { .pid = (uint32_t)getpid(), .serial = 1 };
	struct agent *a = fake_agent();
	struct jvm_table *table;
	struct err err = { 0 };
	struct jvm *jvm;

	(void)state;
	fake.generate = one_stub_and_one_method;
	table = jvm_table_new();
	vec_push(&process.mappings,
		 ((struct mapping){ .start = 0x1000, .end = 0x2000, .path = path }));
	jvm = jvm_table_get(table, &process);
	assert_int_equal(jvm_open_code_map(jvm, &err), 0);
	assert_false(jvm_table_replayed(table));
	serve(a);
	jvm_table_poll(table);
	assert_true(jvm_table_replayed(table));
	assert_int_equal(codemap_store_replays(jvm->store), 1);
	assert_true(jvm_reads_code_map(jvm));
	/* A thread that ended 10 s before the poll is not asked for any more. */
	fake.callbacks.ThreadStart(&fake_jvmti, &fake_jni, fake_thread_id(1));
	fake.callbacks.ThreadEnd(&fake_jvmti, &fake_jni, fake_thread_id(1));
	jvm_table_poll(table);
	assert_int_equal(a->ring.header->tail, a->ring.header->head);
	jvm_table_release_leases(table);
	assert_int_equal(a->ring.header->lease_until_ns, 0);
	assert_int_equal(a->ring.header->command, CODEMAP_COMMAND_STOP);
	assert_false(jvm_reads_code_map(jvm));
	jvm_table_forget(table, &process);
	assert_null(process.attached.first);
	jvm_table_free(table);
	vec_release(&process.mappings);
	fake_drop(a);
}

/* Without its tables nothing is known of a JVM from outside. */
static void a_jvm_without_tables(void **state)
{
	uint64_t words[WIRE_INTERPRETED_WORDS] = { 0 };
	struct java_answer answer;
	struct wire_jvm wire;
	struct pair p;
	struct agent *a = begin(&p);

	(void)state;
	assert_string_equal(jvm_version(p.jvm), "");
	assert_int_equal(jvm_find_interpreted(p.jvm, words, &answer), JAVA_UNKNOWN);
	assert_int_equal(jvm_find_compiled(p.jvm, words, &answer), JAVA_UNKNOWN);
	p.jvm->id = 7;
	assert_int_equal(jvm_get_wire(p.jvm, true, &wire), -ENODATA);
	p.jvm->no_layout = true;
	memset(&wire, 0xff, sizeof(wire));
	assert_int_equal(jvm_get_wire(p.jvm, true, &wire), 0);
	assert_int_equal(wire.serial, 7);
	assert_int_equal(wire.code_end, 0);
	end(&p, a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_brings_what_exists),
		cmocka_unit_test(a_silent_agent_is_not_waited_for),
		cmocka_unit_test(lost_records_are_asked_for_again),
		cmocka_unit_test(events_that_were_off_are_a_gap),
		cmocka_unit_test(an_agent_may_leave_and_come_back),
		cmocka_unit_test(an_agent_may_leave_in_a_replay),
		cmocka_unit_test(an_agent_that_is_leaving_is_not_opened),
		cmocka_unit_test(a_lost_lease_is_let_go),
		cmocka_unit_test(the_end_gives_the_lease_back),
		cmocka_unit_test(threads_are_named_by_their_tid),
		cmocka_unit_test(threads_of_a_pid_namespace),
		cmocka_unit_test(a_table_of_jvms),
		cmocka_unit_test(a_jvm_without_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
