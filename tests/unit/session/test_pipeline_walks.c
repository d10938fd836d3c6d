// SPDX-License-Identifier: Apache-2.0
/* Walks that BPF could not finish: now, again, or when their turn has come. */
#include "pipeline_parts.h"

#include <sched.h>

static void put_flagged(struct fixture *f, uint64_t ms, uint32_t pid, bool with_miss, uint8_t flags)
{
	const struct wire_miss miss = { .size = sizeof(miss),
					.kind = WIRE_MISS,
					.tgid = pid,
					.tid = pid,
					.time_ns = at_ms(f, ms) };
	struct sample_spec spec = { .pid = pid };
	struct wire_sample sample;

	fill_sample(f, ms, &spec, &sample);
	sample.flags = flags;
	if (with_miss)
		fake_put_miss(f->capture, &miss);
	fake_put_sample(f->capture, &sample);
}

static void put_resumed(struct fixture *f, uint64_t ms, uint32_t pid, bool with_miss)
{
	put_flagged(f, ms, pid, with_miss, WIRE_SAMPLE_RESUMED);
}

/* Only what is marked as resumed has a miss, and only what is marked as stale tells of mappings. */
static void samples_that_are_marked(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_flagged(f, 1, PID_A, true, 0);
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nunwinder turn\ngrant\n");
	assert_int_equal(f->pipeline.misses.waiting.len, 1);
	put_flagged(f, 2, PID_B, false, WIRE_SAMPLE_STALE);
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nunwinder: 2 is stale\nunwinder turn\ngrant\n");
	put_resumed(f, 3, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "grant\ntry 1"));
	assert_int_equal(f->pipeline.misses.waiting.len, 1);
}

static void a_walk_is_finished_at_once(void **state)
{
	struct fixture *f = *state;

	f->options.max_depth = 33;
	begin(f);
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "a");
	put_resumed(f, 1, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\ntry 1, 33 frames\narrive 1\n"
				     "unwinder turn\ngrant\n");
	apply_until(f, 1);
	assert_string_equal(noted(), "stack of 1\n");
}

/* When its turn has come, by what the registry knows. */
static void a_walk_is_finished_late(void **state)
{
	struct fixture *f = *state;

	f->options.max_depth = 33;
	parts.try_fails = true;
	begin(f);
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "a");
	put_resumed(f, 1, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_non_null(strstr(noted(), "try 1, 33 frames\narrive 1 unfinished\n"));
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nunwinder turn\ngrant\n");
	apply_until(f, 1);
	assert_string_equal(noted(), "finish 1, 33 frames\nstack of 1\n");
}

/* Its disk is slow: for a while that is waited for. */
static void a_walk_whose_file_is_being_read(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = parts.disk_is_slow = true;
	begin(f);
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "a");
	put_resumed(f, 1, PID_A, true);
	put_resumed(f, 2, PID_A, true);
	pipeline_drain(&f->pipeline);
	noted();
	assert_false(pipeline_apply_until(&f->pipeline, at_ms(f, 2)));
	assert_string_equal(noted(), "finish 1, which is read yet\n");
	parts.disk_is_slow = false;
	fake_advance(7 * MS);
	apply_until(f, 1);
	assert_string_equal(noted(), "finish 1, 0 frames\nstack of 1\n");
	assert_int_equal(f->pipeline.stall_ns, 7 * MS);
	/* Not for longer than names are. */
	parts.disk_is_slow = true;
	assert_false(pipeline_apply_until(&f->pipeline, at_ms(f, 2)));
	assert_string_equal(noted(), "finish 1, which is read yet\n");
	fake_advance(3 * NSEC_PER_SEC);
	apply_until(f, 2);
	assert_string_equal(noted(), "finish 1, 0 frames\nstack of 1\n");
}

/* For want of time: the newest first, then what cannot be had now is left for later. */
static void walks_are_tried_again(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = parts.wants_again = true;
	begin(f);
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "a");
	put_resumed(f, 1, PID_A, true);
	put_resumed(f, 2, PID_B, true);
	pipeline_drain(&f->pipeline);
	noted();
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 2, 0 frames\ntry 1, 0 frames\n");
	parts.waits_for_jvm = true; /* the first's JVM is still starting */
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 2, 0 frames\n");
	pipeline_drain(&f->pipeline); /* which does so in each turn */
	assert_string_equal(noted(), "grant\nunwinder turn\ntry 2, 0 frames\ngrant\n");
	parts.waits_for_jvm = false;
	parts.unwinder_busy = true;
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 2, 0 frames\n");
	parts.unwinder_busy = false;
	parts.wants_again = false; /* no more use */
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 2, 0 frames\ntry 1, 0 frames\n");
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "");
	apply_until(f, 2);
	assert_string_equal(noted(), "finish 1, 0 frames\nstack of 1\n"
				     "finish 2, 0 frames\nstack of 2\n");
}

static void a_later_try_succeeds(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = parts.wants_again = true;
	begin(f);
	registry_exec(f->pipeline.registry, f->start_ns, PID_A, "a");
	put_resumed(f, 1, PID_A, true);
	pipeline_drain(&f->pipeline);
	noted();
	parts.try_fails = false;
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 1, 0 frames\narrive 1\n");
	apply_until(f, 1);
	assert_string_equal(noted(), "stack of 1\n");
}

/* Only what could not be finished, and of which there is a miss. */
static void what_is_whole_is_not_tried_again(void **state)
{
	struct fixture *f = *state;

	parts.wants_again = true;
	begin(f);
	put_resumed(f, 1, PID_A, true);
	put_resumed(f, 2, PID_A, false);
	put_leaf(f, 3, PID_A);
	pipeline_drain(&f->pipeline);
	noted();
	parts.try_fails = true;
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "");
}

/* It runs another program now: nothing of the old one may be read any more. */
static void not_after_an_exec(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = parts.wants_again = true;
	begin(f);
	put_resumed(f, 1, PID_A, true);
	put_resumed(f, 2, PID_B, true);
	put_named(f, 3, SIDE_EXEC, PID_A, "next");
	pipeline_drain(&f->pipeline);
	noted();
	pipeline_walk_again(&f->pipeline);
	assert_string_equal(noted(), "try 2, 0 frames\n");
}

/* While the unwinder has no time the rings come first; not when too much is held back. */
static void finishing_can_wait(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = true;
	begin(f);
	put_resumed(f, 1, PID_A, true);
	pipeline_drain(&f->pipeline);
	parts.unwinder_busy = true;
	noted();
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	queue_holds(f, f->pipeline.queue.bytes);
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "");
	f->pipeline.plan.queue_bytes--;
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_non_null(strstr(noted(), "finish 1"));
}

/* Where far too much is held back a copy of a stack is not kept until its walk can be finished: the stack ends where BPF has left it. */
static void copies_need_room(void **state)
{
	struct fixture *f = *state;

	parts.try_fails = parts.wants_again = true;
	begin(f);
	queue_holds(f, 0);
	put_resumed(f, 1, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_int_equal(f->pipeline.misses_no_room, 0);
	assert_non_null(merge_peek(&f->pipeline.queue)->miss);
	/* Full, but no more than that. */
	f->pipeline.plan.queue_bytes = f->pipeline.queue.bytes - 1;
	assert_true(pipeline_queue_is_full(&f->pipeline));
	put_resumed(f, 2, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_int_equal(f->pipeline.misses_no_room, 0);
	f->pipeline.plan.queue_bytes = f->pipeline.queue.bytes / 2 - 1;
	put_resumed(f, 3, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_int_equal(f->pipeline.misses_no_room, 1);
	assert_int_equal(f->pipeline.queue.heap.len, 3);
	assert_int_equal(f->pipeline.queue.again_count, 2);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_int_equal(f->pipeline.profile.samples.len, 3);
	/* What waits for its thread is held back, too. */
	f->pipeline.spans.bytes = 2 * f->pipeline.plan.queue_bytes + 1;
	put_resumed(f, 4, PID_A, true);
	pipeline_drain(&f->pipeline);
	assert_int_equal(f->pipeline.misses_no_room, 2);
	f->pipeline.spans.bytes = 0;
}

/* Beyond that nothing more is taken from the rings until what was taken has gone on. */
static void an_overflow_stays_in_the_rings(void **state)
{
	struct fixture *f = *state;
	uint64_t one;

	begin(f);
	parts.agents_busy = true;
	put_leaf(f, 1, PID_A);
	pipeline_take_records(&f->pipeline);
	one = f->pipeline.queue.bytes;
	queue_holds(f, one / 2);
	put_leaf(f, 2, PID_A);
	pipeline_take_records(&f->pipeline);
	assert_int_equal(f->pipeline.queue.heap.len, 2);
	put_leaf(f, 3, PID_A);
	fake_advance(10 * MS);
	pipeline_take_records(&f->pipeline);
	assert_int_equal(f->pipeline.queue.heap.len, 0);
	assert_int_equal(f->pipeline.profile.samples.len, 2);
	pipeline_take_records(&f->pipeline);
	assert_int_equal(f->pipeline.queue.heap.len, 1);
}

/* Most of what is left of the limit may be held back besides; not what was left before. */
static void a_full_queue_waits_where_there_is_room(void **state)
{
	struct fixture *f = *state;

	begin(f);
	parts.not_ready = true;
	put_leaf(f, 1, PID_A);
	pipeline_drain(&f->pipeline);
	queue_holds(f, f->pipeline.queue.bytes - 1);
	f->pipeline.guard.limit_bytes = 1ULL << 40;
	f->pipeline.guard.next_ns = 0;
	pipeline_turn(&f->pipeline);
	assert_in_range(f->pipeline.guard.room_bytes, 7ULL << 36, 7ULL << 37);
	assert_int_equal(f->pipeline.queue_room_bytes,
			 f->pipeline.queue.bytes + f->pipeline.guard.room_bytes * 3 / 4);
	assert_false(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	fake_advance(60000 * MS);
	f->pipeline.guard.limit_bytes = 1;
	pipeline_turn(&f->pipeline);
	assert_int_equal(f->pipeline.guard.room_bytes, 0);
	assert_int_equal(f->pipeline.queue_room_bytes, 0);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
}

static void take_time(void)
{
	fake_advance(20 * MS);
}

/* Rings are to be emptied between; at the end all is applied, however long it takes. */
static void a_turn_is_not_for_all_that_is_left(void **state)
{
	struct fixture *f = *state;
	size_t left;

	begin(f);
	for (uint64_t ms = 1; ms <= 20; ms++)
		put_leaf(f, ms, PID_A);
	pipeline_drain(&f->pipeline);
	parts.asked_if_ready = take_time;
	left = f->pipeline.queue.heap.len;
	assert_false(pipeline_apply_in_turn(&f->pipeline, UINT64_MAX));
	assert_in_range(left - f->pipeline.queue.heap.len, 2, 5);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_int_equal(f->pipeline.queue.heap.len, 0);
	parts.asked_if_ready = NULL;
}

static void the_end_waits_for_the_unwinder(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	parts.try_fails = true;
	begin(f);
	put_resumed(f, 100000, PID_A, true); /* never due before the end */
	pipeline_drain(&f->pipeline);
	parts.busy_finishes = 3;
	noted();
	before = now_ms(f);
	finish(f);
	assert_int_equal(now_ms(f) - before, 300 + 3); /* a millisecond each time */
	assert_int_equal(f->read.samples.len, 1);
	assert_non_null(strstr(noted(), "grant\nunwinder turn\nunwinder turn\nunwinder turn\n"
					"finish 1, 0 frames\nstack of 1\n"
					"release leases\n"));
}

/* A file that a worker reads at the very end. */
static struct {
	struct worker_job job;
	struct worker_pool *pool;
	bool asked, ran;
} file;

static void file_run(struct worker_job *job)
{
	(void)job;
	__atomic_store_n(&file.ran, true, __ATOMIC_SEQ_CST);
}

static void file_done(struct worker_job *job)
{
	(void)job;
	parts.not_ready = false;
}

static void read_file(void)
{
	if (!file.asked)
		worker_pool_submit(file.pool, &file.job);
	file.asked = true;
	while (!__atomic_load_n(&file.ran, __ATOMIC_SEQ_CST))
		sched_yield();
}

static void the_end_waits_for_files(void **state)
{
	struct fixture *f = *state;

	begin(f);
	file.pool = f->pipeline.pool;
	file.job = (struct worker_job){ .run = file_run, .done = file_done };
	parts.not_ready = true;
	parts.asked_if_ready = read_file;
	put_leaf(f, 100000, PID_A);
	finish(f);
	assert_false(parts.not_ready);
	assert_int_equal(f->read.samples.len, 1);
}

/* A miss whose sample was lost is dropped after a second, and counted. */
static void orphans(void **state)
{
	struct fixture *f = *state;
	struct wire_miss miss = { .size = sizeof(miss),
				  .kind = WIRE_MISS,
				  .tgid = PID_A,
				  .tid = PID_A,
				  .time_ns = at_ms(f, 5) };

	begin(f);
	fake_put_miss(f->capture, &miss);
	put_resumed(f, 6, PID_A, false); /* another one of its thread */
	run_until(f, 1000);
	assert_null(strstr(noted(), "try"));
	assert_int_equal(f->pipeline.misses.waiting.len, 1);
	assert_int_equal(f->pipeline.misses.orphans, 0);
	run_until(f, 1100);
	assert_int_equal(f->pipeline.misses.orphans, 1);
	finish(f);
	assert_int_equal(counter_of(&f->read, "unwind.orphans"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_that_are_marked),
		TEST(a_walk_is_finished_at_once),
		TEST(a_walk_is_finished_late),
		TEST(a_walk_whose_file_is_being_read),
		TEST(walks_are_tried_again),
		TEST(a_later_try_succeeds),
		TEST(not_after_an_exec),
		TEST(what_is_whole_is_not_tried_again),
		TEST(finishing_can_wait),
		TEST(a_full_queue_waits_where_there_is_room),
		TEST(copies_need_room),
		TEST(an_overflow_stays_in_the_rings),
		TEST(a_turn_is_not_for_all_that_is_left),
		TEST(the_end_waits_for_the_unwinder),
		TEST(the_end_waits_for_files),
		TEST(orphans),
	};

	return cmocka_run_group_tests_name("pipeline_walks", tests, NULL, NULL);
}
