// SPDX-License-Identifier: Apache-2.0
/* Waits: a sample goes on when its length is there, in the order of its end. */
#include "pipeline_fixture.h"

#include "session/pipeline_spans.h"

#define TID (PID_A + 5)

/* The second event's; its thread leaves at MS. */
static void put_open(struct fixture *f, uint64_t ms, uint32_t tid, enum wire_cause cause)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = PID_A,
					 .tid = tid,
					 .event = 1,
					 .flags = WIRE_SAMPLE_OPEN,
					 .state = WIRE_STATE_SLEEPING,
					 .cause = (uint8_t)cause,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
}

static void put_span(struct fixture *f, uint64_t ms, uint32_t tid, uint64_t length_ms,
		     uint64_t queued_ms, uint8_t halved)
{
	const struct wire_span span = { .size = sizeof(span),
					.kind = WIRE_SPAN,
					.event = 1,
					.halved = halved,
					.time_ns = at_ms(f, ms),
					.length_ns = length_ms * MS,
					.queued_ns = queued_ms * MS,
					.weight_ns = length_ms * MS << halved,
					.tgid = PID_A,
					.tid = tid };

	fake_put_span(f->capture, &span);
}

static const struct profile_sample *row(struct fixture *f, size_t at)
{
	assert_true(at < f->pipeline.profile.samples.len);
	return &f->pipeline.profile.samples.items[at];
}

static size_t rows(const struct fixture *f)
{
	return f->pipeline.profile.samples.len;
}

static uint64_t figure(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->counters.len; i++)
		if (!strcmp(profile_get_string(p, p->counters.items[i].name), name))
			return p->counters.items[i].value;
	return 0;
}

static void begin(struct fixture *f)
{
	open_pipeline(f);
	put_process(f, 10, PID_A, "busy", "[one]");
}

/* Nothing is known of it until it is over; then it has its begin, its weight and its reason. */
static void one_wait(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_open(f, 100, TID, WIRE_CAUSE_SOCKET_READ);
	run_until(f, 2000);
	assert_int_equal(rows(f), 0);
	put_span(f, 100, TID, 2000, 50, 3);
	run_until(f, 2100 + HELD_MS);
	assert_int_equal(rows(f), 1);
	assert_int_equal(row(f, 0)->time_ns, at_ms(f, 100));
	assert_true(row(f, 0)->weight == 8 * 2000 * MS);
	assert_true(row(f, 0)->queued == 8 * 50 * MS);
	assert_int_equal(row(f, 0)->chance, 8);
	assert_int_equal(row(f, 0)->count, 1);
	assert_int_equal(row(f, 0)->state, STATE_SLEEPING);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason),
			    "socket read");
	finish(f);
	assert_string_equal(quality_of(f, &f->read), "busy.1 faults 1 1 16000000000 0 0\n");
}

/* A wait for a lock is told when it is over, and is a sample as others are: its object is none that is followed. */
static void a_lock(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->pipeline.live_mode = LIVE_ON;
	put_sample(f, 100,
		   (struct sample_spec){ .pid = PID_A,
					 .event = 1,
					 .weight = 3 * 5000,
					 .object = 0xabc,
					 .object_bytes = 5000,
					 .interval = 3,
					 .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED,
					 .state = WIRE_STATE_SLEEPING,
					 .cause = WIRE_CAUSE_MONITOR_ENTER,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 110 + HELD_MS);
	f->pipeline.live_mode = LIVE_OFF;
	assert_int_equal(rows(f), 1);
	assert_int_equal(row(f, 0)->weight, 3 * 5000);
	assert_int_equal(row(f, 0)->chance, 3);
	assert_int_equal(row(f, 0)->identity, 0xabc);
	assert_int_equal(row(f, 0)->objects, 0);
	assert_int_equal(row(f, 0)->state, STATE_SLEEPING);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason),
			    "monitor enter");
	assert_int_equal(f->pipeline.live.owners.len, 0);
}

/* Of one that had parked an eighth of the object's address says which it was. */
static void a_park(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_sample(f, 100,
		   (struct sample_spec){ .pid = PID_A,
					 .event = 1,
					 .weight = 5000,
					 .object = 0x6f8001238,
					 .object_bytes = 5000,
					 .interval = 1,
					 .flags = WIRE_SAMPLE_LOCK | WIRE_SAMPLE_WEIGHED,
					 .state = WIRE_STATE_SLEEPING,
					 .cause = WIRE_CAUSE_PARK,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 110 + HELD_MS);
	assert_int_equal(row(f, 0)->identity, 0x6f8001238 >> 3);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason), "park");
}

/* What a JVM's threads were stopped for is not asked of frames; no object is followed. */
static void a_safepoint(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].trigger = WIRE_TRIGGER_SAFEPOINT;
	f->pipeline.live_mode = LIVE_ON;
	put_sample(f, 100,
		   (struct sample_spec){ .pid = PID_A,
					 .event = 1,
					 .weight = 700,
					 .interval = 100,
					 .object = 20,
					 .cause = WIRE_CAUSE_SAFEPOINT,
					 .in_user = 1,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 110 + HELD_MS);
	f->pipeline.live_mode = LIVE_OFF;
	assert_int_equal(rows(f), 3);
	assert_int_equal(row(f, 0)->weight, 100);
	assert_int_equal(row(f, 1)->weight, 580);
	assert_int_equal(row(f, 1)->chance, 1);
	assert_int_equal(row(f, 1)->objects, 0);
	assert_int_equal(row(f, 2)->weight, 20);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 1)->reason),
			    "safepoint");
	assert_int_equal(f->pipeline.live.owners.len, 0);
}

/* A futex of which nothing says that it is a lock is none; that is counted, and nothing else is said of it. */
static void native_locks(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].trigger = WIRE_TRIGGER_OFFCPU;
	f->events[1].only_locks = true;
	put_open(f, 100, TID, WIRE_CAUSE_FUTEX);
	put_span(f, 100, TID, 50, 0, 0);
	run_until(f, 200 + HELD_MS);
	assert_int_equal(rows(f), 0);
	put_open(f, 300, TID, WIRE_CAUSE_RWLOCK);
	put_span(f, 300, TID, 20, 4, 1);
	run_until(f, 400 + HELD_MS);
	assert_int_equal(rows(f), 1);
	assert_true(row(f, 0)->weight == 2 * 20 * MS);
	assert_true(row(f, 0)->queued == 2 * 4 * MS);
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason), "rwlock");
	put_open(f, 500, TID, WIRE_CAUSE_FUTEX);
	put_span(f, 500, TID, 50, 0, 0);
	run_until(f, 600 + HELD_MS);
	finish(f);
	assert_int_equal(counter_of(&f->read, "nativelock.others"), 2);
	assert_string_equal(quality_of(f, &f->read), "busy.1 faults 1 1 40000000 0 0\n");
}

/* The chance is the sample's; where the lock lies is no object that is followed. */
static void a_kernel_lock(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].trigger = WIRE_TRIGGER_KERNEL_LOCK;
	f->pipeline.live_mode = LIVE_ON;
	put_sample(f, 100,
		   (struct sample_spec){ .pid = PID_A,
					 .event = 1,
					 .weight = 4 * 2500,
					 .interval = 4,
					 .object = 0xffff888100000100,
					 .flags = WIRE_SAMPLE_WEIGHED,
					 .state = WIRE_STATE_BLOCKED,
					 .cause = WIRE_CAUSE_RWSEM_WRITE,
					 .user = { MAPPED | WIRE_FRAME_EXACT } });
	run_until(f, 110 + HELD_MS);
	f->pipeline.live_mode = LIVE_OFF;
	assert_int_equal(rows(f), 1);
	assert_int_equal(row(f, 0)->weight, 4 * 2500);
	assert_int_equal(row(f, 0)->chance, 4);
	assert_int_equal(row(f, 0)->identity, 0);
	assert_int_equal(row(f, 0)->objects, 0);
	assert_int_equal(row(f, 0)->state, STATE_BLOCKED);
	assert_int_equal(row(f, 0)->time_ns, at_ms(f, 100));
	assert_string_equal(profile_get_string(&f->pipeline.profile, row(f, 0)->reason),
			    "rwsem write");
	assert_int_equal(f->pipeline.live.owners.len, 0);
}

/* By their ends, among other samples; whichever record came first. */
static void in_order(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_open(f, 100, TID, WIRE_CAUSE_FUTEX);
	put_leaf(f, 150, PID_A);
	put_span(f, 120, TID + 1, 100, 0, 0);
	put_span(f, 100, TID, 200, 0, 0);
	put_leaf(f, 250, PID_A);
	put_open(f, 120, TID + 1, WIRE_CAUSE_POLL);
	run_until(f, 310 + HELD_MS);
	assert_int_equal(rows(f), 4);
	assert_int_equal(row(f, 0)->time_ns, at_ms(f, 150));
	assert_int_equal(row(f, 1)->time_ns, at_ms(f, 120));
	assert_int_equal(row(f, 2)->time_ns, at_ms(f, 250));
	assert_int_equal(row(f, 3)->time_ns, at_ms(f, 100));
	assert_int_equal(row(f, 0)->chance, 0);
	assert_int_equal(row(f, 0)->reason, 0);
	assert_int_equal(row(f, 1)->chance, 1);
	finish(f);
	assert_int_equal(f->pipeline.late_samples, 0);
}

static void too_short(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_open(f, 100, TID, WIRE_CAUSE_FUTEX);
	put_span(f, 100, TID, 0, 7, 0);
	run_until(f, 310 + HELD_MS);
	assert_int_equal(rows(f), 0);
	finish(f);
	assert_string_equal(quality_of(f, &f->read), "");
}

/* Who is not back at the end has waited until then; who is, and whose length was lost, is counted where that was. */
static void at_the_end(void **state)
{
	struct fixture *f = *state;
	const struct profile_sample *sample;

	begin(f);
	f->events[1].least_ns = 10 * MS;
	put_open(f, 100, TID, WIRE_CAUSE_PIPE_READ);
	put_open(f, 110, TID + 1, WIRE_CAUSE_PIPE_READ);
	run_until(f, 1100);
	f->capture->waiting_tid = TID;
	f->capture->waiting = (struct wire_offcpu){ .out_ns = at_ms(f, 100),
						    .woken_ns = at_ms(f, 1000),
						    .halved = 1,
						    .state = WIRE_STATE_SLEEPING };
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	sample = &f->read.samples.items[0];
	assert_int_equal(profile_get_thread(&f->read, sample->thread)->tid, TID);
	assert_true(sample->weight == 2 * 1000 * MS);
}

/* It left too shortly before. */
static void short_at_the_end(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].least_ns = 10 * MS;
	put_open(f, 1095, TID, WIRE_CAUSE_PIPE_READ);
	run_until(f, 1100);
	f->capture->waiting_tid = TID;
	f->capture->waiting = (struct wire_offcpu){ .out_ns = at_ms(f, 1095) };
	finish(f);
	assert_int_equal(f->read.samples.len, 0);
}

/* --- who was off the cpus before --- */

/* The second event's; all wait since MS. Their processes have nothing that could be read. */
static void put_parked(struct fixture *f, struct wire_parked *parked, uint64_t ms, uint32_t tid)
{
	*parked = (struct wire_parked){ .size = sizeof(*parked),
					.tgid = PID_A,
					.tid = tid,
					.since_ns = at_ms(f, ms),
					.stack_top = 0x7fff00000000,
					.has_regs = 1,
					.state = WIRE_STATE_SLEEPING,
					.cause = WIRE_CAUSE_FUTEX };
	parked->regs[WIRE_PARKED_CS] = 0x33;
	f->events[1].is_wall = true;
	for (size_t i = 0; i < 4; i++) {
		if (f->capture->parked[i])
			continue;
		f->capture->parked[i] = parked;
		return;
	}
}

/* One is there yet, the other one was back before anybody had looked at its stack. */
static void parked_before(void **state)
{
	struct fixture *f = *state;
	struct wire_parked parked[2];

	begin(f);
	put_parked(f, &parked[0], 20, TID);
	put_parked(f, &parked[1], 20, TID + 1);
	f->capture->waiting_tid = TID;
	f->capture->waiting =
		(struct wire_offcpu){ .out_ns = at_ms(f, 20), .state = WIRE_STATE_SLEEPING };
	pipeline_spans_begin(&f->pipeline);
	put_span(f, 20, TID + 1, 300, 0, 0);
	run_until(f, 1020);
	assert_int_equal(rows(f), 1);
	assert_int_equal(profile_get_thread(&f->pipeline.profile, row(f, 0)->thread)->tid, TID + 1);
	assert_true(row(f, 0)->weight == 300 * MS);
	finish(f);
	assert_int_equal(f->read.samples.len, 2);
	assert_int_equal(profile_get_thread(&f->read, f->read.samples.items[1].thread)->tid, TID);
	assert_true(f->read.samples.items[1].weight == 1000 * MS);
	assert_int_equal(figure(&f->read, "wall.parked"), 2);
	assert_int_equal(figure(&f->read, "wall.parked-gone"), 1);
}

/* Of threads of the kernel, and of those that exit, there is no user stack. */
static void parked_without_a_stack(void **state)
{
	struct fixture *f = *state;
	struct wire_parked parked;

	begin(f);
	put_parked(f, &parked, 20, TID);
	parked.stack_top = 0;
	pipeline_spans_begin(&f->pipeline);
	put_span(f, 20, TID, 300, 0, 0);
	run_until(f, 1020);
	assert_int_equal(rows(f), 1);
	finish(f);
	assert_int_equal(figure(&f->read, "wall.parked-gone"), 0);
	assert_string_equal(quality_of(f, &f->read), "busy.1 faults 1 1 300000000 0 0\n");
}

/* The recording ends before anybody has looked at it: it has its time. */
static void parked_and_over(void **state)
{
	struct fixture *f = *state;
	struct wire_parked parked;

	begin(f);
	run_until(f, 100);
	put_parked(f, &parked, 20, TID);
	f->capture->waiting_tid = TID;
	f->capture->waiting = (struct wire_offcpu){ .out_ns = at_ms(f, 20) };
	pipeline_spans_begin(&f->pipeline);
	pipeline_spans_end(&f->pipeline, at_ms(f, 120));
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	assert_true(f->read.samples.items[0].weight == 100 * MS);
	assert_int_equal(figure(&f->read, "wall.parked-gone"), 1);
}

/* One that outlasts the recording stands for itself, and for the others as those were. */
static void a_native_lock_at_the_end(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->events[1].trigger = WIRE_TRIGGER_OFFCPU;
	f->events[1].only_locks = true;
	put_open(f, 100, TID, WIRE_CAUSE_MUTEX);
	run_until(f, 1000);
	f->capture->waiting_tid = TID;
	f->capture->waiting =
		(struct wire_offcpu){ .out_ns = at_ms(f, 100), .halved = 2, .site = 1 };
	f->capture->waiting.sites[1] =
		(struct wire_offcpu_site){ .skips = 9,
					   .skipped = 2 * MS << WIRE_OFFCPU_SKIPPED_SHIFT };
	pipeline_spans_end(&f->pipeline, at_ms(f, 1100));
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	assert_true(f->read.samples.items[0].weight == 1000 * MS + 3 * 2 * MS);
}

/* Chance has left it out when it left; at the end it is told of, with all that is owed to it. */
static void long_ones_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct wire_parked parked;

	begin(f);
	run_until(f, 1020);
	put_parked(f, &parked, 20, TID);
	f->capture->waiting_tid = TID;
	f->capture->waiting = (struct wire_offcpu){ .out_ns = at_ms(f, 20), .halved = 0 };
	f->capture->waiting.sites[0].owed_ns = 7 * MS;
	pipeline_spans_look(&f->pipeline);
	assert_int_equal(f->pipeline.parked.threads.len, 1);
	finish(f);
	assert_int_equal(f->read.samples.len, 1);
	assert_true(f->read.samples.items[0].weight == 1007 * MS);
	assert_int_equal(figure(&f->read, "wall.parked-gone"), 0);
}

static void nobody_tells_of_them(void **state)
{
	struct fixture *f = *state;
	struct wire_parked parked;

	begin(f);
	put_parked(f, &parked, 20, TID);
	f->events[1].is_wall = false;
	pipeline_spans_begin(&f->pipeline);
	assert_int_equal(f->pipeline.parked.threads.len, 0);
	f->events[1].is_wall = true;
	f->capture->parked_error = -EPERM;
	pipeline_spans_begin(&f->pipeline);
	assert_int_equal(f->pipeline.parked.threads.len, 1);
	/* That the end can be told does not make it true of the begin. */
	f->capture->parked_error = 0;
	pipeline_spans_begin(&f->pipeline);
	finish(f);
	assert_int_equal(figure(&f->read, "wall.parked-not-listed"), 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_wait),
		TEST(a_safepoint),
		TEST(native_locks),
		TEST(a_native_lock_at_the_end),
		TEST(a_kernel_lock),
		TEST(in_order),
		TEST(too_short),
		TEST(at_the_end),
		TEST(short_at_the_end),
		TEST(parked_before),
		TEST(parked_without_a_stack),
		TEST(parked_and_over),
		TEST(long_ones_at_the_end),
		TEST(nobody_tells_of_them),
		TEST(a_lock),
		TEST(a_park),
	};

	return cmocka_run_group_tests_name("pipeline_waits", tests, NULL, NULL);
}
