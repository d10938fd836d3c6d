// SPDX-License-Identifier: Apache-2.0
/* A run on a loop of ours: what is opened, how it ends, what is told of it. Capture and pipeline are the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "fake_registry.h"
#include "idle_rings.h"
#include "recorder_jvms.h"
#include "session/pipeline.h"
#include "session/pipeline_arrive.h"
#include "session/pipeline_spans.h"
#include "session/recorder.h"

#define MS NSEC_PER_MSEC

static struct {
	struct strbuf log;
	struct capture_options asked;
	uint32_t pids[4];
	struct pipeline_options pipeline;
	int fd; /* of the capture, readable */
	int fail_at_flush, fail_at_finish, fail_at_open, fail_at_turn;
	uint64_t started_ns, stopped_ns;
	unsigned int turns, flushes, drains;
	bool running;
	struct recorder_figures figures;
	unsigned int sink_turns;
} run;

static void note(const char *text)
{
	strbuf_addf(&run.log, "%s ", text);
}

/* --- in place of capture/ and the rest of session/ --- */

int capture_open(const struct capture_options *options, struct capture **ret_capture,
		 struct err *err)
{
	note("open");
	run.asked = *options;
	for (unsigned int i = 0; i < options->pid_count && i < 4; i++)
		run.pids[i] = options->pids[i];
	if (run.fail_at_open)
		return err_set(err, run.fail_at_open, "no capture");
	*ret_capture = (struct capture *)0x1000;
	return 0;
}

void capture_free(struct capture *capture)
{
	note(capture ? "free" : "free-none");
}

int capture_wait(struct capture *capture, struct err *err)
{
	(void)err;
	assert_ptr_equal(capture, (struct capture *)0x1000);
	note("wait");
	return 0;
}

void capture_start(struct capture *capture)
{
	(void)capture;
	note("start");
	run.started_ns = clock_now_ns();
	run.running = true;
}

void capture_stop(struct capture *capture)
{
	(void)capture;
	note("stop");
	run.stopped_ns = clock_now_ns();
	run.running = false;
}

int capture_fd(const struct capture *capture)
{
	(void)capture;
	return run.fd;
}

int capture_update_cpus(struct capture *capture, struct err *err)
{
	(void)capture;
	return err_set(err, -ENODEV, "ignored");
}

void capture_get_stats(const struct capture *capture, struct capture_stats *ret_stats)
{
	(void)capture;
	*ret_stats = (struct capture_stats){ .side_lost = 91, .cpus = 92 };
	ret_stats->counters[WIRE_COUNTER_LOST_UNKNOWN] = 1000;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	assert_int_equal(who, RUSAGE_SELF);
	*usage = (struct rusage){ .ru_utime = { 3, 400000 },
				  .ru_stime = { 1, 200000 },
				  .ru_maxrss = 5000 };
	return 0;
}

static int look_at_processes(struct err *err)
{
	(void)err;
	note("snapshot");
	return 0;
}

static void forget_processes(void)
{
	fail();
}

int pipeline_init(struct pipeline *pipeline, struct capture *capture, struct registry *registry,
		  const struct pipeline_options *options, struct err *err)
{
	(void)err;
	assert_non_null(capture);
	assert_ptr_equal(registry, REGISTRY);
	note("init");
	memset(pipeline, 0, sizeof(*pipeline));
	run.pipeline = *options;
	pipeline->plan.limit_bytes = options->plan->limit_bytes;
	pipeline->late_samples = 11;
	pipeline->stall_ns = 12;
	pipeline->ledger.losses[WIRE_LOSS_RING] = (struct ledger_loss){ 6, 600 };
	pipeline->ledger.losses[WIRE_LOSS_INVALID] = (struct ledger_loss){ 7, 700 };
	pipeline->samples = 14;
	pipeline->ledger.processes = 15;
	pipeline->ledger.samples = 16;
	pipeline->ledger.complete = 17;
	for (uint64_t i = 0; i < UNWIND_REASON_COUNT; i++)
		pipeline->ledger.reasons[i] = 100 + i;
	return 0;
}

void pipeline_release(struct pipeline *pipeline)
{
	(void)pipeline;
	note("release");
}

int pipeline_begin(struct pipeline *pipeline, const char *command_line, struct err *err)
{
	(void)pipeline, (void)err;
	assert_string_equal(command_line, "hostprof record");
	note("begin");
	return 0;
}

void pipeline_meet(struct pipeline *pipeline)
{
	(void)pipeline;
	note("meet");
}

void pipeline_spans_begin(struct pipeline *pipeline)
{
	(void)pipeline;
	assert_true(run.running);
	note("parked");
}

void pipeline_spans_look(struct pipeline *pipeline)
{
	(void)pipeline;
	assert_true(run.running);
	note("look");
}

void pipeline_take_records(struct pipeline *pipeline)
{
	uint64_t count;

	(void)pipeline;
	run.drains++;
	if (read(run.fd, &count, sizeof(count)) < 0)
		note("drained-too-often");
}

bool pipeline_is_calm(const struct pipeline *pipeline)
{
	return pipeline == NULL;
}

void pipeline_turn(struct pipeline *pipeline)
{
	(void)pipeline;
	assert_true(run.running);
	run.turns++;
}

int pipeline_flush(struct pipeline *pipeline, struct err *err)
{
	(void)pipeline;
	run.flushes++;
	return run.fail_at_flush ? err_set(err, run.fail_at_flush, "disk full") : 0;
}

int pipeline_finish(struct pipeline *pipeline, struct err *err)
{
	(void)pipeline;
	assert_false(run.running);
	note("finish");
	return run.fail_at_finish ? err_set(err, run.fail_at_finish, "no end") : 0;
}

/* --- */

static const struct capture_event event = { .name = "cpu" };

static struct recorder_options usual(void)
{
	return (struct recorder_options){
		.capture = { .events = &event, .event_count = 1 },
		.flush_ns = 20 * MS,
		.command_line = "hostprof record",
	};
}

static int setup(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	run.fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	return run.fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	strbuf_release(&run.log);
	close(run.fd);
	return 0;
}

/* Whoever drives it ends it after MS. */
static void time_is_over(void *data)
{
	loop_quit(data);
}

static int run_for(const struct recorder_options *options, unsigned int ms,
		   struct recorder_result *result)
{
	struct recorder *recorder = NULL;
	struct loop *loop = NULL;
	struct err err = { 0 };
	int r;

	strbuf_reset(&run.log);
	memset(result, 0xee, sizeof(*result));
	assert_int_equal(loop_new(&loop, &err), 0);
	r = recorder_open(options, loop, &recorder, &err);
	if (r == 0) {
		recorder_start(recorder);
		assert_int_equal(
			loop_add_deadline(loop, clock_now_ns() + ms * MS, time_is_over, loop, &err),
			0);
		assert_int_equal(loop_run(loop, &err), 0);
		recorder_get_figures(recorder, &run.figures);
		r = recorder_finish(recorder, result, &err);
		recorder_free(recorder);
	}
	assert_int_equal(r, err.code);
	loop_free(loop);
	return r;
}

/* --- */

static void a_run_of_some_time(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	assert_int_equal(run_for(&options, 120, &result), 0);
	assert_string_equal(strbuf_str(&run.log),
			    "open snapshot wait init begin meet start parked look stop "
			    "finish release free ");
	assert_in_range(result.elapsed_ns, 120 * MS, 60000 * MS);
	/* Whoever compares with other clocks has to know when that was. */
	assert_in_range(result.start_ns, run.started_ns, run.stopped_ns - result.elapsed_ns);
	assert_false(result.interrupted);
	assert_int_equal(run.drains, 1); /* when the rings say so */
	assert_true(run.turns >= 1);
	assert_true(run.flushes >= 1);
	assert_false(run.pipeline.attach);
	assert_int_equal(run.asked.pid_count, 0);
}

static void what_is_told_of_it(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	options.memory_limit_bytes = 99 << 20;
	assert_int_equal(run_for(&options, 120, &result), 0);
	assert_int_equal(result.late_samples, 11);
	assert_int_equal(result.merge_stall_ns, 12);
	assert_int_equal(result.lost, 1013); /* those of unknown processes, too */
	assert_int_equal(result.losses[WIRE_LOSS_RING].count, 6);
	assert_int_equal(result.losses[WIRE_LOSS_INVALID].weight, 700);
	assert_int_equal(result.processes, 15);
	assert_int_equal(result.samples, 16);
	assert_int_equal(result.complete, 17);
	assert_int_equal(result.jvms, 21);
	assert_int_equal(result.jvms_with_agent, 22);
	assert_int_equal(result.jvms_without_inlining, 23);
	assert_int_equal(result.agents_refused, 2);
	assert_int_equal(result.refused_pid, 31);
	assert_string_equal(result.refusal, "first");
	assert_int_equal(result.capture.side_lost, 91);
	assert_int_equal(result.capture.cpus, 92);
	assert_int_equal(result.memory_limit_bytes, 99 << 20);
	for (uint64_t i = 0; i < UNWIND_REASON_COUNT; i++)
		assert_int_equal(result.reasons[i], 100 + i);
	assert_int_equal(result.own_cpu_ns, 4600 * MS);
	assert_int_equal(result.peak_rss_bytes, 5000 * 1024);
	assert_int_equal(result.exit_status, 0);
	assert_int_equal(run.figures.samples, 14);
	assert_int_equal(run.figures.lost, 13);
	assert_int_equal(run.figures.processes, 15);
	assert_int_equal(run.figures.jvms, 21);
}

static void what_is_passed_on(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;
	struct memory_plan plan;

	(void)state;
	options.agent = RECORDER_AGENT_ALWAYS;
	options.memory_limit_bytes = 64 << 20;
	options.capture.max_depth = 19;
	assert_int_equal(run_for(&options, 120, &result), 0);
	memory_plan_begin(&plan, 64 << 20);
	assert_true(run.pipeline.attach);
	assert_int_equal(run.asked.table_bytes, plan.table_bytes);
	assert_int_equal(run.asked.rings_limit_bytes, plan.rings_bytes);
	assert_int_equal(run.asked.max_depth, 19);
	options.agent = RECORDER_AGENT_NEVER;
	run_for(&options, 120, &result);
	assert_false(run.pipeline.attach);
}

static int sink_turn(void *self, struct err *err)
{
	run.sink_turns++;
	assert_ptr_equal(self, &run);
	return run.fail_at_turn ? err_set(err, run.fail_at_turn, "nobody reads") : 0;
}

static void sink_arrived(void *self, const struct profile *profile,
			 const struct sink_sample *sample)
{
	(void)self, (void)profile, (void)sample;
	fail();
}

static const struct sink_ops calm_ops = { .turn = sink_turn };
static const struct sink_ops hurried_ops = { .turn = sink_turn, .arrived = sink_arrived };

/* The rings are emptied between two turns of the rest, and what came is sent. */
static void a_sink_that_hurries(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	sinks_add(&options.sinks, (struct sink){ &calm_ops, &run });
	assert_int_equal(run_for(&options, 300, &result), 0);
	assert_int_equal(run.drains, 1);
	assert_int_equal(run.sink_turns, run.turns + run.drains);
	assert_int_equal(run.pipeline.sinks.count, 1);
	run.turns = run.drains = run.sink_turns = 0;
	sinks_add(&options.sinks, (struct sink){ &hurried_ops, &run });
	assert_int_equal(run_for(&options, 300, &result), 0);
	assert_true(run.drains >= 1);
	assert_int_equal(run.sink_turns, 2 * (run.turns + run.drains));
}

/* Between two of its own timers a caller may turn as it likes. */
static void turns_of_the_caller(void **state)
{
	struct recorder_options options = usual();
	struct recorder *recorder = NULL;
	struct loop *loop = NULL;
	struct err err = { 0 };

	(void)state;
	sinks_add(&options.sinks, (struct sink){ &hurried_ops, &run });
	assert_int_equal(loop_new(&loop, &err), 0);
	assert_int_equal(recorder_open(&options, loop, &recorder, &err), 0);
	recorder_start(recorder);
	for (int i = 0; i < 1000; i++)
		recorder_turn(recorder);
	assert_true(run.turns >= 1);
	assert_int_equal(run.turns + run.drains, 1000);
	assert_int_equal(run.sink_turns, 1000);
	recorder_free(recorder);
	loop_free(loop);
}

/* A loop that goes on after a recording has nothing of it any more. */
static void nothing_stays_on_the_loop(void **state)
{
	struct recorder_options options = usual();
	struct recorder *recorder = NULL;
	struct recorder_result result;
	struct loop *loop = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(loop_new(&loop, &err), 0);
	assert_int_equal(recorder_open(&options, loop, &recorder, &err), 0);
	recorder_start(recorder);
	assert_int_equal(recorder_finish(recorder, &result, &err), 0);
	assert_int_equal(
		loop_add_deadline(loop, clock_now_ns() + 120 * MS, time_is_over, loop, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(run.turns + run.flushes + run.drains, 0);
	recorder_free(recorder);
	loop_free(loop);
}

/* --- how it ends --- */

static void a_sink_that_fails_ends_it(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	run.fail_at_turn = -EPIPE;
	sinks_add(&options.sinks, (struct sink){ &calm_ops, &run });
	assert_int_equal(run_for(&options, 60000, &result), -EPIPE);
	assert_int_equal(run.sink_turns, 1);
	assert_null(strstr(strbuf_str(&run.log), "finish"));
}

static void a_full_disk_ends_it(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	run.fail_at_flush = -ENOSPC;
	assert_int_equal(run_for(&options, 120, &result), -ENOSPC);
	assert_int_equal(run.flushes, 1);
	assert_null(strstr(strbuf_str(&run.log), "finish"));
	assert_non_null(strstr(strbuf_str(&run.log), "stop release free"));
}

static void failures(void **state)
{
	struct recorder_options options = usual();
	struct recorder_result result;

	(void)state;
	run.fail_at_finish = -EIO;
	assert_int_equal(run_for(&options, 120, &result), -EIO);
	run.fail_at_open = -EACCES;
	assert_int_equal(run_for(&options, 120, &result), -EACCES);
	assert_string_equal(strbuf_str(&run.log), "open release free-none ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_of_some_time),
		TEST(what_is_told_of_it),
		TEST(what_is_passed_on),
		TEST(a_sink_that_hurries),
		TEST(turns_of_the_caller),
		TEST(nothing_stays_on_the_loop),
		TEST(a_sink_that_fails_ends_it),
		TEST(a_full_disk_ends_it),
		TEST(failures),
	};

	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
