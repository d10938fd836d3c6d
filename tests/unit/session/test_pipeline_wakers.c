// SPDX-License-Identifier: Apache-2.0
/* Waits with those that have ended them: another thread's sample becomes a part of the wait's. */
#include "pipeline_fixture.h"

#include "session/pipeline_spans.h"

#define TID   (PID_A + 5)
#define GIVER (PID_B + 7)

static void begin(struct fixture *f)
{
	f->events[1] =
		(struct capture_event){ .name = "offcpu", .unit = "nanoseconds", .least_ns = MS };
	f->options.tells_wakers = true;
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
	put_process(f, 10, PID_B, "other", "[two]");
}

/* TID leaves at MS, and is away for LENGTH_MS. */
static void put_wait(struct fixture *f, uint64_t ms, uint64_t length_ms, uint64_t queued_ms,
		     uint8_t state)
{
	const struct wire_span span = { .size = sizeof(span),
					.kind = WIRE_SPAN,
					.event = 1,
					.time_ns = at_ms(f, ms),
					.length_ns = length_ms * MS,
					.queued_ns = queued_ms * MS,
					.weight_ns = length_ms * MS,
					.tgid = PID_A,
					.tid = TID };

	put_sample(f, ms,
		   (struct sample_spec){ .pid = PID_A,
					 .tid = TID,
					 .event = 1,
					 .flags = WIRE_SAMPLE_OPEN,
					 .state = state,
					 .cause = WIRE_CAUSE_FUTEX,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	if (length_ms)
		fake_put_span(f->capture, &span);
}

/* GIVER wakes at MS TID, which had left at OUT_MS. */
static void put_waker(struct fixture *f, uint64_t ms, uint64_t out_ms, enum wire_waker waker)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = PID_B,
					 .tid = GIVER,
					 .event = 1,
					 .comm = "giver",
					 .object = at_ms(f, out_ms),
					 .woken_tid = TID,
					 .waker = (uint8_t)waker,
					 .kernel = { KERNEL, KERNEL + 1 },
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
}

static const struct profile_waker *waker_of(const struct profile *p, size_t at)
{
	assert_true(at < p->samples.len);
	return profile_get_waker(p, p->samples.items[at].waker);
}

static void expect_giver(const struct profile *p, const struct profile_waker *waker)
{
	const struct profile_thread *thread;
	struct profile_stack stack;

	assert_non_null(waker);
	thread = profile_get_thread(p, waker->thread);
	stack = profile_get_stack(p, waker->stack);
	assert_int_equal(thread->tid, GIVER);
	assert_string_equal(profile_get_string(p, thread->name), "giver");
	assert_int_equal(profile_get_process(p, thread->process)->pid, PID_B);
	assert_int_equal(stack.len, 3);
	assert_string_equal(profile_get_string(p, profile_get_frame(p, stack.frames[2])->name),
			    "[two]");
}

/* It is no sample of its own. */
static void a_thread(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_waker(f, 150, 100, WIRE_WAKER_THREAD);
	put_wait(f, 100, 60, 10, WIRE_STATE_SLEEPING);
	run_until(f, 200 + HELD_MS);
	assert_int_equal(f->pipeline.profile.samples.len, 1);
	expect_giver(&f->pipeline.profile, waker_of(&f->pipeline.profile, 0));
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	expect_giver(&f->read, waker_of(&f->read, 0));
	assert_int_equal(f->pipeline.wakers.missing, 0);
	assert_string_equal(quality_of(f, &f->read), "busy.1 offcpu 1 1 60000000 0 0\n");
	assert_int_equal(f->pipeline.samples, 1);
	assert_int_equal(f->pipeline.ledger.processes, 1);
}

static void an_interrupt(void **state)
{
	struct fixture *f = *state;
	const struct profile_waker *waker;

	begin(f);
	put_waker(f, 150, 100, WIRE_WAKER_INTERRUPT);
	put_wait(f, 100, 60, 10, WIRE_STATE_SLEEPING);
	finish(f);
	waker = waker_of(&f->read, 0);
	assert_int_equal(waker->thread, PROFILE_NONE);
	assert_int_equal(profile_get_stack(&f->read, waker->stack).len, 2);
}

/* Another thread's wait, and another one of this thread. */
static void nobody_else(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_waker(f, 150, 99, WIRE_WAKER_THREAD);
	put_wait(f, 100, 60, 10, WIRE_STATE_SLEEPING);
	put_waker(f, 250, 200, WIRE_WAKER_THREAD);
	put_wait(f, 200, 60, 10, WIRE_STATE_SLEEPING);
	finish(f);
	assert_int_equal(f->read.samples.len, 2);
	assert_null(waker_of(&f->read, 0));
	expect_giver(&f->read, waker_of(&f->read, 1));
	assert_int_equal(f->pipeline.wakers.missing, 1);
}

/* Who was preempted, who was asleep for too short a time, and who does not run again have none, and none is missing. */
static void none_is_missing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].least_ns = 10 * MS;
	put_wait(f, 100, 60, 51, WIRE_STATE_SLEEPING);
	run_until(f, 200 + HELD_MS);
	f->events[1].least_ns = 0;
	put_wait(f, 200, 60, 60, WIRE_STATE_QUEUED);
	run_until(f, 300 + HELD_MS);
	f->capture->waiting_tid = TID;
	f->capture->waiting =
		(struct wire_offcpu){ .out_ns = at_ms(f, 300), .state = WIRE_STATE_SLEEPING };
	put_wait(f, 300, 0, 0, WIRE_STATE_SLEEPING);
	finish(f);
	assert_int_equal(f->read.samples.len, 3);
	assert_int_equal(f->pipeline.wakers.missing, 0);
}

/* Woken before the end, and not back. */
static void at_the_end(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->capture->waiting_tid = TID;
	f->capture->waiting = (struct wire_offcpu){ .out_ns = at_ms(f, 100),
						    .woken_ns = at_ms(f, 150),
						    .state = WIRE_STATE_SLEEPING };
	put_wait(f, 100, 0, 0, WIRE_STATE_SLEEPING);
	put_waker(f, 150, 100, WIRE_WAKER_THREAD);
	run_until(f, 200);
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	expect_giver(&f->read, waker_of(&f->read, 0));
}

/* It waits for its wait for a minute, also on a host that has just begun. */
static void who_is_forgotten(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_waker(f, 150, 100, WIRE_WAKER_THREAD);
	run_until(f, 200 + HELD_MS);
	assert_int_equal(f->pipeline.wakers.waiting.len, 1);
	pipeline_spans_turn(&f->pipeline, 10 * NSEC_PER_SEC);
	pipeline_spans_turn(&f->pipeline, at_ms(f, 60100));
	assert_int_equal(f->pipeline.wakers.waiting.len, 1);
	pipeline_spans_turn(&f->pipeline, at_ms(f, 60200));
	assert_int_equal(f->pipeline.wakers.waiting.len, 0);
}

/* The chunk ends while the thread that was woken waits for a cpu. */
static void across_chunks(void **state)
{
	struct fixture *f = *state;

	f->chunk_ns = 1;
	begin(f);
	put_waker(f, 150, 100, WIRE_WAKER_THREAD);
	put_wait(f, 100, 2000, 1950, WIRE_STATE_SLEEPING);
	run_until(f, 600);
	flush(f);
	run_until(f, 700);
	assert_int_equal(f->pipeline.wakers.waiting.len, 1);
	flush(f);
	run_until(f, 2100 + HELD_MS);
	finish(f);
	assert_int_equal(f->pipeline.tables_serial, 1);
	assert_int_equal(f->read.samples.len, 1);
	expect_giver(&f->read, waker_of(&f->read, 0));
}

/* TID's wait for a lock ends at MS. */
static void put_lock(struct fixture *f, uint64_t ms, uint32_t number)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = PID_A,
					 .tid = TID,
					 .event = 1,
					 .object_bytes = 5 * MS,
					 .interval = 1,
					 .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED,
					 .cause = WIRE_CAUSE_PARK,
					 .wait_number = number,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
}

/* By the number of the wait; who had been woken in vain is woken again, and that counts. */
static void who_lets_go_of_a_lock(void **state)
{
	struct fixture *f = *state;
	const struct sample_spec vain = { .pid = PID_B,
					  .tid = GIVER + 1,
					  .event = 1,
					  .comm = "other",
					  .woken_tid = TID,
					  .wait_number = 3,
					  .waker = WIRE_WAKER_THREAD,
					  .user = { MAPPED | WIRE_FRAME_EXACT } };
	struct sample_spec waker = vain;

	begin(f);
	f->events[1] =
		(struct capture_event){ .name = "lock", .unit = "nanoseconds", .least_ns = MS };
	waker.tid = GIVER;
	waker.comm = "giver";
	waker.kernel[0] = KERNEL;
	waker.kernel[1] = KERNEL + 1;
	put_sample(f, 150, vain);
	put_sample(f, 151, waker);
	put_lock(f, 152, 3);
	put_lock(f, 160, 4);
	/* Nobody has told of its begin. */
	put_lock(f, 170, 0);
	finish(f);
	assert_int_equal(f->read.samples.len, 3);
	expect_giver(&f->read, waker_of(&f->read, 0));
	assert_null(waker_of(&f->read, 1));
	assert_null(waker_of(&f->read, 2));
	assert_int_equal(f->pipeline.wakers.waiting.len, 0);
}

/* With -e nativelock most waits are for something else: who has ended one does not stay for it. */
static void of_a_wait_that_is_left_out(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].only_locks = true;
	put_waker(f, 150, 100, WIRE_WAKER_THREAD);
	put_wait(f, 100, 60, 10, WIRE_STATE_SLEEPING);
	run_until(f, 200 + HELD_MS);
	assert_int_equal(f->pipeline.profile.samples.len, 0);
	assert_int_equal(f->pipeline.wakers.waiting.len, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thread),
		TEST(an_interrupt),
		TEST(nobody_else),
		TEST(none_is_missing),
		TEST(at_the_end),
		TEST(across_chunks),
		TEST(who_is_forgotten),
		TEST(of_a_wait_that_is_left_out),
		TEST(who_lets_go_of_a_lock),
	};

	return cmocka_run_group_tests_name("pipeline_wakers", tests, NULL, NULL);
}
