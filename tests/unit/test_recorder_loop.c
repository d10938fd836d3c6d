// SPDX-License-Identifier: Apache-2.0
/* What a run hangs into its event loop, and what it does when one of its steps fails. All else is the test's. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/loop.h"
#include "base/strbuf.h"
#include "fake_clock.h"
#include "session/command.h"
#include "session/pipeline.h"
#include "session/pipeline_arrive.h"
#include "session/priority.h"
#include "session/recorder.h"

#define MS	NSEC_PER_MSEC
#define CAPTURE ((struct capture *)0x1000)
#define LOOP	((struct loop *)0x2000)

struct timer {
	uint64_t period_ns;
	loop_fn fn;
};

static struct {
	struct strbuf log;
	const char *failing; /* this step, with -EIO */
	struct timer timers[6];
	unsigned int timer_count;
	loop_fn on_fd, on_deadline;
	loop_signal_fn on_signal;
	void *data;
	uint64_t deadline_ns;
	char signals[64];
	void (*in_loop)(void); /* what happens there */
	unsigned int quits, turns, drains, flushes, cpus, progresses, tuned;
	bool has_ended; /* the command */
	struct recorder_progress progress;
	struct rlimit limit;
	int limit_error;
	unsigned int limits_set;
} run;

/* Is it the step that fails? */
static int step(const char *name, struct err *err)
{
	strbuf_addf(&run.log, "%s ", name);
	if (!run.failing || strcmp(run.failing, name) != 0)
		return 0;
	return err_set(err, -EIO, "%s failed", name);
}

/* --- in place of base/loop.c --- */

int loop_new(struct loop **ret_loop, struct err *err)
{
	int r = step("loop", err);

	if (r == 0)
		*ret_loop = LOOP;
	return r;
}

void loop_free(struct loop *loop)
{
	strbuf_addf(&run.log, "%s ", loop ? "free-loop" : "no-loop");
}

int loop_add_signals(struct loop *loop, const int *signals, int n, loop_signal_fn fn, void *data,
		     struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	for (int i = 0; i < n; i++)
		snprintf(run.signals + strlen(run.signals),
			 sizeof(run.signals) - strlen(run.signals), "%d ", signals[i]);
	run.on_signal = fn;
	run.data = data;
	return step("signals", err);
}

int loop_add_fd(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.data);
	assert_int_equal(fd, 99);
	run.on_fd = fn;
	return step("fd", err);
}

int loop_add_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data, struct err *err)
{
	char name[] = "timer0";

	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.data);
	name[5] = (char)('0' + run.timer_count);
	assert_true(run.timer_count < 6);
	run.timers[run.timer_count++] = (struct timer){ period_ns, fn };
	return step(name, err);
}

int loop_add_deadline(struct loop *loop, uint64_t deadline_ns, loop_fn fn, void *data,
		      struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.data);
	run.on_deadline = fn;
	run.deadline_ns = deadline_ns;
	return step("deadline", err);
}

int loop_run(struct loop *loop, struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	if (run.in_loop)
		run.in_loop();
	return step("run", err);
}

void loop_quit(struct loop *loop)
{
	assert_ptr_equal(loop, LOOP);
	run.quits++;
}

/* --- in place of capture/, the rest of session/ and the C library --- */

int capture_open(const struct capture_options *options, struct capture **ret_capture,
		 struct err *err)
{
	int r = step("open", err);

	(void)options;
	if (r == 0)
		*ret_capture = CAPTURE;
	return r;
}

void capture_free(struct capture *capture)
{
	strbuf_addf(&run.log, "%s ", capture ? "free" : "no-capture");
}

void capture_start(struct capture *capture)
{
	struct err ignored;

	assert_ptr_equal(capture, CAPTURE);
	step("start", &ignored);
}

void capture_stop(struct capture *capture)
{
	struct err ignored;

	assert_ptr_equal(capture, CAPTURE);
	step("stop", &ignored);
}

int capture_fd(const struct capture *capture)
{
	assert_ptr_equal(capture, CAPTURE);
	return 99;
}

int capture_update_cpus(struct capture *capture, struct err *err)
{
	assert_ptr_equal(capture, CAPTURE);
	run.cpus++;
	return err_set(err, -ENODEV, "ignored");
}

void capture_get_stats(const struct capture *capture, struct capture_stats *ret_stats)
{
	assert_ptr_equal(capture, CAPTURE);
	memset(ret_stats, 0, sizeof(*ret_stats));
}

int pipeline_init(struct pipeline *pipeline, struct capture *capture,
		  const struct pipeline_options *options, struct err *err)
{
	(void)options;
	assert_ptr_equal(capture, CAPTURE);
	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->samples = 14;
	return step("init", err);
}

void pipeline_release(struct pipeline *pipeline)
{
	struct err ignored;

	(void)pipeline;
	step("release", &ignored);
}

void pipeline_describe(struct pipeline *pipeline, const char *command_line)
{
	(void)pipeline, (void)command_line;
}

int pipeline_snapshot(struct pipeline *pipeline, struct err *err)
{
	(void)pipeline;
	return step("snapshot", err);
}

void pipeline_drain(struct pipeline *pipeline)
{
	(void)pipeline;
	run.drains++;
}

void pipeline_turn(struct pipeline *pipeline)
{
	(void)pipeline;
	run.turns++;
}

int pipeline_flush(struct pipeline *pipeline, struct err *err)
{
	(void)pipeline;
	run.flushes++;
	return step("flush", err);
}

int pipeline_finish(struct pipeline *pipeline, struct err *err)
{
	(void)pipeline;
	return step("finish", err);
}

void agents_count(const struct agents *agents, uint32_t *ret_jvms, uint32_t *ret_with_agent)
{
	(void)agents;
	*ret_jvms = *ret_with_agent = 0;
}

void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)agents, (void)fn, (void)data;
}

void priority_raise(void)
{
}

void priority_restore(void)
{
	struct err ignored;

	step("restore", &ignored);
}

int command_prepare(struct command *command, char *const *argv, struct err *err)
{
	int r = step("prepare", err);

	assert_string_equal(argv[0], "program");
	if (r == 0)
		command->pid = 4711;
	return r;
}

int command_go(struct command *command, const char *name, struct err *err)
{
	assert_int_equal(command->pid, 4711);
	assert_string_equal(name, "program");
	return step("go", err);
}

bool command_reap(struct command *command)
{
	(void)command;
	return run.has_ended;
}

void command_release(struct command *command)
{
	(void)command;
}

int mallopt(int param, int value)
{
	(void)param, (void)value;
	run.tuned++;
	return 1;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	assert_int_equal(resource, RLIMIT_NOFILE);
	*limit = run.limit;
	return run.limit_error;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	assert_int_equal(resource, RLIMIT_NOFILE);
	run.limit = *limit;
	run.limits_set++;
	return 0;
}

/* --- */

static char program[] = "program";
static char *argv[] = { program, NULL };
static struct err err;

static int set_up(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	fake_begin();
	run.limit = (struct rlimit){ 1024, 1 << 20 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	strbuf_release(&run.log);
	return 0;
}

static int record(const struct recorder_options *options)
{
	struct recorder_result result = { .processes = 4711 };
	int r;

	strbuf_reset(&run.log);
	run.timer_count = 0;
	run.signals[0] = '\0';
	err = (struct err){ 0 };
	r = recorder_run(options, 77, &result, &err);
	assert_int_equal(result.processes, r < 0 ? 4711 : 0); /* a failure leaves it alone */
	return r;
}

static void see_progress(const struct recorder_progress *progress)
{
	run.progresses++;
	run.progress = *progress;
}

/* --- */

static void what_is_in_the_loop(void **state)
{
	struct recorder_options options = { .progress = see_progress };
	char signals[64];

	(void)state;
	assert_int_equal(record(&options), 0);
	snprintf(signals, sizeof(signals), "%d %d %d %d ", SIGINT, SIGTERM, SIGHUP, SIGCHLD);
	assert_string_equal(run.signals, signals);
	assert_int_equal(run.timer_count, 4);
	assert_int_equal(run.timers[0].period_ns, 50 * MS);
	assert_int_equal(run.timers[1].period_ns, 1000 * MS);
	assert_int_equal(run.timers[2].period_ns, 1000 * MS);
	assert_int_equal(run.timers[3].period_ns, 500 * MS);
	assert_int_equal(run.deadline_ns, 0);
	/* As asked for. */
	options.flush_ns = 7;
	options.progress = NULL;
	options.duration_ns = 5000 * MS;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.timer_count, 3);
	assert_int_equal(run.timers[1].period_ns, 7);
	assert_int_equal(run.deadline_ns, fake_begun_ns + 5000 * MS);
	assert_true(run.tuned > 0);
}

/* Each of them once. */
static void all_of_it(void)
{
	run.on_fd(run.data);
	assert_int_equal(run.drains, 1);
	run.timers[0].fn(run.data);
	assert_int_equal(run.turns, 1);
	run.timers[1].fn(run.data);
	assert_int_equal(run.flushes, 1);
	run.timers[2].fn(run.data);
	assert_int_equal(run.cpus, 1);
	fake_advance(300 * MS);
	run.timers[3].fn(run.data);
	assert_int_equal(run.progresses, 1);
	assert_int_equal(run.progress.elapsed_ns, 300 * MS);
	assert_int_equal(run.progress.samples, 14);
	assert_int_equal(run.drains + run.turns + run.flushes + run.cpus, 4);
	assert_int_equal(run.quits, 0);
	run.on_deadline(run.data);
	assert_int_equal(run.quits, 1);
}

static void what_it_does(void **state)
{
	const struct recorder_options options = { .progress = see_progress, .duration_ns = 1 };

	(void)state;
	run.in_loop = all_of_it;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.progresses, 1);
}

static void its_command(void)
{
	run.on_signal(SIGCHLD, run.data); /* a child of another's */
	assert_int_equal(run.quits, 0);
	run.has_ended = true;
	run.on_signal(SIGCHLD, run.data);
	assert_int_equal(run.quits, 1);
}

static void only_its_commands_end_is_its_end(void **state)
{
	const struct recorder_options options = { .command = argv };

	(void)state;
	run.in_loop = its_command;
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.quits, 1);
	assert_string_equal(strbuf_str(&run.log),
			    "loop prepare open init snapshot signals fd timer0 timer1 timer2 start "
			    "go run stop restore finish restore release free free-loop ");
}

/* --- failures --- */

static const char *log_of(const struct recorder_options *options, const char *failing)
{
	char text[64];

	run.failing = failing;
	assert_int_equal(record(options), -EIO);
	snprintf(text, sizeof(text), "%s failed", failing);
	assert_string_equal(err.text, text);
	return strbuf_str(&run.log);
}

/* What was opened is released, and nothing is begun. */
static void what_cannot_be_opened(void **state)
{
	static const char *const sources[] = { "snapshot", "signals", "fd",    "timer0",
					       "timer1",   "timer2",  "timer3" };
	const struct recorder_options options = { .command = argv, .progress = see_progress };

	(void)state;
	assert_string_equal(log_of(&options, "loop"), "loop restore release no-capture no-loop ");
	assert_string_equal(log_of(&options, "prepare"),
			    "loop prepare restore release no-capture free-loop ");
	assert_string_equal(log_of(&options, "open"),
			    "loop prepare open restore release no-capture free-loop ");
	assert_string_equal(log_of(&options, "init"),
			    "loop prepare open init restore release free free-loop ");
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		const char *log = log_of(&options, sources[i]);
		const char *after = strstr(log, sources[i]);

		assert_non_null(after);
		assert_string_equal(after + strlen(sources[i]), " restore release free free-loop ");
	}
}

/* It is sampled already: what there is is written, and the first reason told. */
static void what_fails_after_the_start(void **state)
{
	static const char *const steps[] = { "go", "deadline", "run" };
	const struct recorder_options options = { .command = argv, .duration_ns = 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const char *log = log_of(&options, steps[i]);
		const char *after = strstr(log, steps[i]);

		assert_non_null(after);
		assert_string_equal(after + strlen(steps[i]),
				    " stop restore finish restore release free free-loop ");
	}
	assert_non_null(strstr(log_of(&options, "finish"), "run stop restore finish "));
}

static void a_flush(void)
{
	run.timers[1].fn(run.data);
	assert_int_equal(run.quits, 1);
}

/* A full disk: the end cannot be written either. */
static void a_flush_that_fails(void **state)
{
	const struct recorder_options options = { 0 };

	(void)state;
	run.in_loop = a_flush;
	assert_non_null(strstr(log_of(&options, "flush"),
			       "flush run stop restore restore release free free-loop "));
}

/* --- descriptors --- */

static rlim_t limit_of(rlim_t cur, rlim_t max)
{
	const struct recorder_options options = { 0 };

	run.limits_set = 0;
	run.limit = (struct rlimit){ cur, max };
	assert_int_equal(record(&options), 0);
	assert_int_equal(run.limit.rlim_max, max);
	return run.limits_set ? run.limit.rlim_cur : 0;
}

static void more_descriptors(void **state)
{
	(void)state;
	assert_int_equal(limit_of(1024, 1 << 20), 65536);
	assert_int_equal(limit_of(1024, 4096), 4096);
	assert_int_equal(limit_of(65535, 65536), 65536);
	assert_int_equal(limit_of(65536, 1 << 20), 0);
	assert_int_equal(limit_of(1 << 20, 1 << 20), 0);
	run.limit_error = -1;
	assert_int_equal(limit_of(1024, 1 << 20), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_in_the_loop),
		TEST(what_it_does),
		TEST(only_its_commands_end_is_its_end),
		TEST(what_cannot_be_opened),
		TEST(what_fails_after_the_start),
		TEST(a_flush_that_fails),
		TEST(more_descriptors),
	};

	return cmocka_run_group_tests_name("recorder_loop", tests, NULL, NULL);
}
