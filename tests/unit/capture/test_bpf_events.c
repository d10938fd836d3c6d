// SPDX-License-Identifier: Apache-2.0
/* Which BPF programs are loaded for an event, and what they are told. libbpf is the test's. */
#include "bpf_session_world.h"

/* Of those of programs_of_triggers(). */
static void expect_least_lengths(void)
{
	const struct {
		uint64_t found, wanted;
	} lengths[] = {
		{ f.rodata.offcpu_least_ns, 20000000 }, { f.rodata.safepoint_least_ns, 30000 },
		{ f.rodata.jit_least_ns, 40000 },	{ f.rodata.gc_least_ns, 50000 },
		{ f.rodata.park_least_ns, 10000 },	{ f.rodata.contention_least_ns, 40000 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		assert_int_equal(lengths[i].found, lengths[i].wanted);
}

static void programs_of_triggers(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_UPROBE },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .plus = 4 } },
		{ .trigger = WIRE_TRIGGER_UPROBE, .probe = { .is_return = true } },
		{ .trigger = WIRE_TRIGGER_TRACEPOINT },
		{ .trigger = WIRE_TRIGGER_RAW },
		{ .trigger = WIRE_TRIGGER_OFFCPU, .least_ns = 20000000 },
		{ .trigger = WIRE_TRIGGER_ALLOC_AGENT },
		{ .trigger = WIRE_TRIGGER_MALLOC, .period = 4711 },
		{ .trigger = WIRE_TRIGGER_KPROBE },
		{ .trigger = WIRE_TRIGGER_TRACEPOINT },
		{ .trigger = WIRE_TRIGGER_LOCK_AGENT, .least_ns = 10000 },
		{ .trigger = WIRE_TRIGGER_SAFEPOINT, .least_ns = 30000 },
		{ .trigger = WIRE_TRIGGER_KERNEL_LOCK, .least_ns = 40000 },
		{ .trigger = WIRE_TRIGGER_JIT, .least_ns = 40000 },
		{ .trigger = WIRE_TRIGGER_CLASS_LOAD },
		{ .trigger = WIRE_TRIGGER_GC, .least_ns = 50000 },
	};
	struct bpf_session_options options = usual(events, ARRAY_SIZE(events));
	struct bpf_session *session;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("offcpu_threads: %d entries\n", WIRE_OFFCPU_LEAST_THREADS);
	expect_line("lock_owners: %d entries\n", WIRE_LOCK_WAITS);
	/* Of two events that follow virtual threads. */
	expect_line("yields: %d entries\n", 2 * WIRE_YIELDS);
	assert_int_equal(f.rodata.yields_sure,
			 2 * WIRE_YIELDS - options.possible_cpus * WIRE_YIELDS_CPU);
	assert_null(strstr(f.log.buf, "unmounted_owed"));
	expect_line("contention_threads: %d entries\n", WIRE_CONTENTION_THREADS);
	expect_line(
		"sample_uprobe 1\nsample_tracepoint 1\nsample_kprobe 1\nsample_raw 1\nsample_malloc 1\n"
		"sample_offcpu 1\nnote_waking 1\nsample_offcpu_yield 1\nsample_lock_agent 1\nsample_lock_park 1\nsample_safepoint 1\nsample_kernel_lock 1\nnote_contention 1\nsample_jit 1\nnote_compiler 1\nsample_gc 1\nsample_class_load 1\nsample_alloc_agent 1\n"
		"sample_alloc_new_tlab 1\nsample_alloc_outside 1\n");
	assert_null(strstr(f.log.buf, "sample 1"));
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(
			bpf_session_prog_fd(session, (enum wire_trigger)t) >= 1000,
			t != WIRE_TRIGGER_PERF && t != WIRE_TRIGGER_MALLOC_RETURN &&
				t != WIRE_TRIGGER_OFFCPU_PARKED && t != WIRE_TRIGGER_WINDOW_BEGIN &&
				t != WIRE_TRIGGER_WINDOW_END && t != WIRE_TRIGGER_MALLOC_SESSION &&
				t != WIRE_TRIGGER_OFFCPU_WAKER && t != WIRE_TRIGGER_LOCK_WAKER);
	assert_true(f.rodata.event_at_entry[0]);
	assert_false(f.rodata.event_at_entry[1]);
	assert_false(f.rodata.event_at_entry[2]);
	assert_false(f.rodata.event_at_entry[3]);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_RAW], 4);
	assert_int_equal(f.rodata.malloc_interval, 4711);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_MALLOC_RETURN], 7);
	/* An allocation may be told by any of them. */
	for (unsigned int t = WIRE_TRIGGER_ALLOC_AGENT; t < WIRE_TRIGGER_COUNT; t++)
		assert_int_equal(f.rodata.trigger_event[t], 6);
	/* So may a lock. */
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_LOCK_AGENT], 10);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_LOCK_PARK], 10);
	assert_false(f.rodata.lock_tells_wakers);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_OFFCPU], 5);
	expect_least_lengths();
	assert_int_equal(f.rodata.offcpu_step_ns, 20000000);
	assert_int_equal(f.rodata.offcpu_doubled, WIRE_OFFCPU_STEP_DOUBLED);
	assert_false(f.rodata.offcpu_keeps_sums);
	assert_false(f.rodata.offcpu_only_futexes);
	assert_int_equal(bpf_session_list_parked(session), -ENODATA);
	bpf_session_free(session);
}

/* One thread of ours has to do with what all cpus walk. */
static void walks_of_a_host(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_OFFCPU };

	static const struct {
		unsigned int cpus;
		uint32_t walks;
	} rows[] = { { 1, 400 }, { 2, 400 }, { 4, 200 }, { 64, 12 }, { 512, 10 } };
	struct bpf_session_options options = usual(&event, 1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.online_cpus = rows[i].cpus;
		bpf_session_free(opened(&options));
		assert_int_equal(f.rodata.offcpu_most_walks, rows[i].walks);
	}
}

/* Eight times those that there are, so that a host may grow. */
static void books_of_a_host(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_OFFCPU };

	static const struct {
		unsigned int threads, books;
	} rows[] = { { 1, 8192 },     { 1024, 8192 },  { 1300, 10400 },
		     { 4096, 32768 }, { 4097, 32768 }, { UINT_MAX, 32768 } };
	struct bpf_session_options options = usual(&event, 1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.threads = rows[i].threads;
		strbuf_reset(&f.log);
		strbuf_addch(&f.log, '\n');
		bpf_session_free(opened(&options));
		expect_line("offcpu_threads: %u entries\n", rows[i].books);
	}
}

static void parks_of_a_host(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_LOCK_AGENT };

	static const struct {
		unsigned int cpus;
		uint32_t parks;
	} rows[] = { { 1, 200 }, { 2, 200 }, { 8, 50 }, { 40, 20 }, { 512, 20 } };
	struct bpf_session_options options = usual(&event, 1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options.online_cpus = rows[i].cpus;
		bpf_session_free(opened(&options));
		assert_int_equal(f.rodata.park_most, rows[i].parks);
	}
}

static void programs_of_native_locks(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_OFFCPU, .least_ns = 30000, .only_locks = true },
	};
	struct bpf_session_options options = usual(events, 1);

	(void)state;
	strbuf_addch(&f.log, '\n');
	bpf_session_free(opened(&options));
	expect_line("sample_offcpu 1\nnote_waking 1\n");
	assert_null(strstr(f.log.buf, "yield"));
	assert_true(f.rodata.offcpu_only_futexes);
	assert_false(f.rodata.offcpu_keeps_sums);
	assert_int_equal(f.rodata.offcpu_least_ns, 30000);
}

/* A clock, and all waits: short ones by chance. */
static void programs_of_wall(void **state)
{
	static const struct capture_event events[] = {
		{ .trigger = WIRE_TRIGGER_RAW },
		{ .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK,
		  .period = 20000000,
		  .is_wall = true },
	};
	struct bpf_session_options options = usual(events, 2);
	struct bpf_session *session;

	(void)state;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("offcpu_threads: %d entries\n", WIRE_OFFCPU_LEAST_THREADS);
	expect_line("yields: %d entries\n", WIRE_YIELDS);
	expect_line("unmounted_owed: %d entries\n", WIRE_YIELDS);
	expect_line(
		"sample_raw 1\nsample_offcpu 1\nnote_waking 1\nsample_offcpu_yield 1\nlist_parked 1\n");
	assert_true(f.rodata.event_is_clock[1]);
	assert_true(f.rodata.event_is_wall[1]);
	assert_false(f.rodata.event_is_wall[0]);
	assert_int_equal(f.rodata.trigger_event[WIRE_TRIGGER_OFFCPU], 1);
	assert_int_equal(f.rodata.offcpu_least_ns, 0);
	assert_int_equal(f.rodata.offcpu_step_ns, 20000000);
	assert_int_equal(f.rodata.offcpu_doubled, WIRE_OFFCPU_STEP_DOUBLED);
	assert_true(f.rodata.offcpu_keeps_sums);
	f.iterator = 33;
	assert_int_equal(bpf_session_list_parked(session), 33);
	f.iterator = -1;
	assert_int_equal(bpf_session_list_parked(session), -EPERM);
	bpf_session_free(session);
}

/* Memory that is followed has a program for returns, or one for all where the kernel can. */
static void programs_of_native_memory(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_MALLOC };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session;

	(void)state;
	options.follow_memory = true;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("sample_malloc 1\nnote_malloc_return 1\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC_SESSION), -1);
	bpf_session_free(session);
	strbuf_reset(&f.log);
	strbuf_addch(&f.log, '\n');
	options.has_sessions = true;
	session = opened(&options);
	expect_line("sample_malloc_session 1\n");
	expect_line("sample_malloc_session of 57\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC), -1);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC_RETURN), -1);
	bpf_session_free(session);
	strbuf_reset(&f.log);
	strbuf_addch(&f.log, '\n');
	options.follow_memory = false;
	session = opened(&options);
	expect_line("sample_malloc 1\n");
	expect_line("sample_malloc of 48\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_MALLOC_SESSION), -1);
	bpf_session_free(session);
}

/* Of --waker: who wakes threads is noted by another program. */
static void wakers_are_told(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_OFFCPU };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session;

	(void)state;
	options.tells_wakers = true;
	options.waker_count_at = -4711;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line("sample_offcpu 1\nsample_waker 1\nsample_offcpu_yield 1\n");
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_OFFCPU_WAKING), -1);
	assert_true(bpf_session_prog_fd(session, WIRE_TRIGGER_OFFCPU_WAKER) >= 1000);
	assert_int_equal(f.rodata.waker_count_at, -4711);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_LOCK_WAKER), -1);
	bpf_session_free(session);
}

/* Likewise of locks, beside what tells of their waits. */
static void wakers_of_locks_are_told(void **state)
{
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_LOCK_AGENT };
	struct bpf_session_options options = usual(&event, 1);
	struct bpf_session *session;

	(void)state;
	options.tells_wakers = true;
	options.waker_count_at = -4711;
	strbuf_addch(&f.log, '\n');
	session = opened(&options);
	expect_line(
		"sample_lock_agent 1\nnote_lock_begin 1\nsample_lock_park 1\nsample_lock_yield 1\nsample_lock_waker 1\n");
	assert_true(bpf_session_prog_fd(session, WIRE_TRIGGER_LOCK_WAKER) >= 1000);
	assert_int_equal(bpf_session_prog_fd(session, WIRE_TRIGGER_OFFCPU_WAKER), -1);
	assert_true(f.rodata.lock_tells_wakers);
	bpf_session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(programs_of_triggers, set_up),
		cmocka_unit_test_setup(walks_of_a_host, set_up),
		cmocka_unit_test_setup(books_of_a_host, set_up),
		cmocka_unit_test_setup(parks_of_a_host, set_up),
		cmocka_unit_test_setup(programs_of_native_locks, set_up),
		cmocka_unit_test_setup(programs_of_wall, set_up),
		cmocka_unit_test_setup(programs_of_native_memory, set_up),
		cmocka_unit_test_setup(wakers_are_told, set_up),
		cmocka_unit_test_setup(wakers_of_locks_are_told, set_up),
	};

	return cmocka_run_group_tests_name("bpf_events", tests, NULL, NULL);
}
