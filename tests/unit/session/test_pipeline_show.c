// SPDX-License-Identifier: Apache-2.0
/* What a sink is told of a sample when it arrives, and when it is finished. */
#include "pipeline_parts.h"

static struct {
	struct strbuf log;
	uint64_t start_ns;
	bool whole_host;
	bool wants_rotation;
	struct sink_sums sums;
	uint64_t queued[2]; /* of the last one that arrived, and that was finished */
} seen;

static void note_sample(const char *what, const struct profile *p, const struct sink_sample *s)
{
	static const char *const states[] = { "user", "kernel" };
	struct profile_stack stack = profile_get_stack(p, s->stack);

	strbuf_addf(&seen.log, "%s %d: %d ms %s %d %s %s.%d/%s.%d", what, (int)s->id,
		    (int)((s->time_ns - seen.start_ns) / MS),
		    profile_get_string(p, profile_get_event(p, s->event)->name), (int)s->weight,
		    states[s->state], s->process->name, (int)number(s->process->pid), s->thread,
		    (int)number(s->tid));
	for (uint32_t i = 0; i < stack.len; i++)
		add_frame(&seen.log, p, stack.frames[i]);
	strbuf_addch(&seen.log, '\n');
}

static int on_begin(void *self, const struct profile *p, bool whole_host, struct err *err)
{
	(void)self, (void)err;
	seen.whole_host = whole_host;
	assert_string_equal(profile_get_string(p, p->command), "hostprof record");
	assert_int_equal(intern_len(&p->events), 2);
	return 0;
}

static void on_arrived(void *self, const struct profile *p, const struct sink_sample *sample)
{
	(void)self;
	seen.queued[0] = sample->queued;
	note_sample("arrived", p, sample);
}

static void on_finished(void *self, const struct profile *p, const struct sink_sample *sample,
			enum sink_finish finish)
{
	(void)self;
	seen.queued[1] = sample->queued;
	note_sample(finish == SINK_SAME ? "same" : "corrected", p, sample);
}

static void on_process(void *self, const struct sink_process_event *event)
{
	static const char *const lives[] = { "started", "execed", "exited" };

	(void)self;
	strbuf_addf(&seen.log, "%s %d by %d at %d ms %s\n", lives[event->life],
		    (int)number(event->pid), event->ppid ? (int)number(event->ppid) : 0,
		    (int)((event->time_ns - seen.start_ns) / MS), event->name);
}

static void on_lost(void *self, const struct sink_loss *loss)
{
	(void)self;
	strbuf_addf(&seen.log, "lost %d of %d, %s, %s, %d\n", (int)loss->samples,
		    loss->pid ? (int)number(loss->pid) : 0, loss->event, loss->reason,
		    (int)loss->weight);
}

static bool wants_rotation(const void *self, const struct profile *p)
{
	(void)self, (void)p;
	return seen.wants_rotation;
}

static int on_end(void *self, struct profile *p, const struct sink_sums *sums, struct err *err)
{
	(void)self, (void)err;
	assert_true(counter_of(p, "symbols.file-not-read") > 0); /* all figures are there */
	seen.sums = *sums;
	return 0;
}

static const struct sink_ops hurried = {
	.begin = on_begin,
	.arrived = on_arrived,
	.finished = on_finished,
	.process = on_process,
	.lost = on_lost,
	.wants_rotation = wants_rotation,
	.end = on_end,
};
static const struct sink_ops calm = { .finished = on_finished };

static void begin_with(struct fixture *f, const struct sink_ops *ops)
{
	memset(&seen, 0, sizeof(seen));
	seen.start_ns = f->start_ns;
	sinks_add(&f->pipeline_options.sinks, (struct sink){ ops, NULL });
	begin(f);
}

static const char *told(void)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s", strbuf_str(&seen.log));
	strbuf_release(&seen.log);
	return text;
}

static void put_known(struct fixture *f)
{
	put_process(f, 1, PID_A, "program", "[one]");
	apply_until(f, 10 + HELD_MS);
	told();
}

/* --- */

static void shown_at_once_and_finished_in_order(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	assert_true(seen.whole_host);
	put_known(f);
	put_sample(f, 500,
		   (struct sample_spec){ .pid = PID_A, .tid = PID_B, .weight = 7, .event = 1 });
	put_sample(f, 490, (struct sample_spec){ .pid = PID_A, .in_user = 1 });
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "arrived 1: 500 ms faults 7 kernel program.1/kernel's.2 frame\n"
				    "arrived 2: 490 ms cpu 100 user program.1/kernel's.1 frame\n");
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "");
	apply_until(f, 600);
	assert_string_equal(told(), "same 2: 490 ms cpu 100 user program.1/kernel's.1 frame\n"
				    "same 1: 500 ms faults 7 kernel program.1/kernel's.2 frame\n");
}

/* It costs nothing where nobody asks for it. */
static void nobody_hurries(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &calm);
	put_known(f);
	noted();
	put_leaf(f, 500, PID_A);
	pipeline_drain(&f->pipeline);
	assert_null(strstr(noted(), "early stack"));
	apply_until(f, 600);
	assert_string_equal(told(),
			    "corrected 1: 500 ms cpu 100 kernel program.1/kernel's.1 frame\n");
	assert_int_equal(f->pipeline.news.recent.len, 0);
}

/* Of a futex it is not known that it is a lock before its frames have names. */
static void what_may_be_none(void **state)
{
	struct fixture *f = *state;
	struct sample_spec spec = { .pid = PID_A, .event = 1, .weight = 7 };

	begin_with(f, &hurried);
	put_known(f);
	f->events[1].only_locks = true;
	spec.cause = WIRE_CAUSE_FUTEX;
	put_sample(f, 500, spec);
	spec.cause = WIRE_CAUSE_MUTEX;
	put_sample(f, 510, spec);
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "");
	apply_until(f, 600);
	assert_string_equal(told(), "arrived 2: 510 ms faults 7 kernel program.1/kernel's.1 frame\n"
				    "same 2: 510 ms faults 7 kernel program.1/kernel's.1 frame\n");
}

/* Of no wait more was for a cpu than it weighs, at once and in the end. */
static void a_wait_for_a_cpu(void **state)
{
	struct fixture *f = *state;
	struct sample_spec spec = {
		.pid = PID_A, .event = 1, .flags = WIRE_SAMPLE_OPEN, .state = WIRE_STATE_RUNNING
	};
	struct wire_span span = { .size = sizeof(span),
				  .kind = WIRE_SPAN,
				  .event = 1,
				  .halved = 2,
				  .length_ns = 8 * MS,
				  .queued_ns = 4 * MS,
				  .weight_ns = 10 * MS,
				  .tgid = PID_A,
				  .tid = PID_A };

	begin_with(f, &hurried);
	put_known(f);
	span.time_ns = at_ms(f, 500);
	put_sample(f, 500, spec);
	fake_put_span(f->capture, &span);
	pipeline_drain(&f->pipeline);
	assert_int_equal(seen.queued[0], 10 * MS);
	apply_until(f, 600);
	assert_int_equal(seen.queued[1], 10 * MS);
	told();
}

static void a_name_that_comes_late(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	parts.early_frame = "[file+0x12]";
	put_leaf(f, 500, PID_A);
	pipeline_drain(&f->pipeline);
	apply_until(f, 600);
	assert_string_equal(told(),
			    "arrived 1: 500 ms cpu 100 kernel program.1/kernel's.1 [file+0x12]\n"
			    "corrected 1: 500 ms cpu 100 kernel program.1/kernel's.1 frame\n");
}

static void a_thread_that_gets_its_name(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	parts.is_jvm = true;
	put_leaf(f, 500, PID_A);
	put_leaf(f, 501, PID_A);
	parts.thread_name = "early";
	pipeline_drain(&f->pipeline);
	parts.thread_name = "http-worker-1";
	apply_until(f, 600);
	assert_string_equal(told(),
			    "arrived 1: 500 ms cpu 100 kernel program.1/early.1 frame\n"
			    "arrived 2: 501 ms cpu 100 kernel program.1/early.1 frame\n"
			    "corrected 1: 500 ms cpu 100 kernel program.1/http-worker-1.1 frame\n"
			    "corrected 2: 501 ms cpu 100 kernel program.1/http-worker-1.1 frame\n");
}

/* What the registry says of it is of the program before: nothing is better than that. */
static void a_program_that_is_new(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	put_leaf(f, 499, PID_A);
	put_named(f, 500, SIDE_EXEC, PID_A, "next");
	put_leaf(f, 501, PID_A);
	put_leaf(f, 502, PID_C); /* nobody knows it */
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "arrived 1: 499 ms cpu 100 kernel program.1/kernel's.1 frame\n"
				    "execed 1 by 0 at 500 ms next\n"
				    "arrived 2: 501 ms cpu 100 kernel kernel's.1/kernel's.1 raw\n"
				    "arrived 3: 502 ms cpu 100 kernel kernel's.3/kernel's.3 raw\n");
	apply_until(f, 600);
	told();
	put_leaf(f, 700, PID_A);
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "arrived 4: 700 ms cpu 100 kernel next.1/kernel's.1 frame\n");
}

static void forks_are_news(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	put_fork(f, 500, PID_A, PID_B); /* the number is used again */
	put_leaf(f, 501, PID_A);
	put_side(f, 502,
		 (struct side_event){
			 .kind = SIDE_FORK, .pid = PID_A, .ppid = PID_A, .tid = PID_A + 9 });
	put_side(f, 503, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A, .tid = PID_A + 9 });
	put_side(f, 504, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	put_mmap(f, 505, PID_A, "[two]");
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "started 1 by 2 at 500 ms \n"
				    "arrived 1: 501 ms cpu 100 kernel kernel's.1/kernel's.1 raw\n"
				    "exited 1 by 0 at 504 ms \n");
}

/* Numbers of tables that were emptied say nothing. */
static void a_chunk_ends_meanwhile(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	put_leaf(f, 500, PID_A);
	pipeline_drain(&f->pipeline);
	seen.wants_rotation = true;
	flush(f);
	seen.wants_rotation = false;
	put_leaf(f, 501, PID_A);
	pipeline_drain(&f->pipeline);
	told();
	apply_until(f, 600);
	assert_string_equal(told(),
			    "corrected 1: 500 ms cpu 100 kernel program.1/kernel's.1 frame\n"
			    "same 2: 501 ms cpu 100 kernel program.1/kernel's.1 frame\n");
}

static void losses(void **state)
{
	struct fixture *f = *state;
	struct fake_lost lost = { { .tgid = PID_A, .event = 1, .why = WIRE_LOSS_RING },
				  { .count = 3, .weight = 450, .comm = "lost" } };

	begin_with(f, &hurried);
	put_known(f);
	vec_push(&f->capture->lost, lost);
	flush(f);
	assert_string_equal(told(), "lost 3 of 1, faults, ring, 450\n");
	fake_put_invalid(f->capture, "?", 1);
	put_sample(f, 500, (struct sample_spec){ .pid = PID_A, .weight = 7, .reason = 255 });
	pipeline_drain(&f->pipeline);
	assert_string_equal(told(), "lost 1 of 0, , invalid, 0\nlost 1 of 1, cpu, invalid, 7\n");
}

/* What is invalid has no number and comes to no sink. */
static void sums_of_the_end(void **state)
{
	struct fixture *f = *state;

	begin_with(f, &hurried);
	put_known(f);
	put_sample(f, 500, (struct sample_spec){ .pid = PID_A, .reason = 255 });
	put_leaf(f, 501, PID_A);
	pipeline_drain(&f->pipeline);
	apply_until(f, 600);
	put_leaf(f, 200, PID_A);
	pipeline_drain(&f->pipeline);
	f->capture->stats.counters[WIRE_COUNTER_LOST_UNKNOWN] = 40;
	finish(f);
	assert_int_equal(seen.sums.samples, 2);
	assert_int_equal(seen.sums.late_samples, 1);
	assert_int_equal(seen.sums.lost_samples, 41);
	assert_int_equal(f->read.samples.len, 2);
	told();
}

static void targets(void **state)
{
	static const uint32_t pids[] = { PID_A };
	struct fixture *f = *state;

	f->options.pids = pids;
	f->options.pid_count = 1;
	begin_with(f, &hurried);
	assert_false(seen.whole_host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(shown_at_once_and_finished_in_order),
		TEST(nobody_hurries),
		TEST(what_may_be_none),
		TEST(a_wait_for_a_cpu),
		TEST(a_name_that_comes_late),
		TEST(a_thread_that_gets_its_name),
		TEST(a_program_that_is_new),
		TEST(forks_are_news),
		TEST(a_chunk_ends_meanwhile),
		TEST(losses),
		TEST(sums_of_the_end),
		TEST(targets),
	};

	return cmocka_run_group_tests_name("pipeline_show", tests, NULL, NULL);
}
