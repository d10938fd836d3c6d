/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event loop, and all that a recorder and who drives it wire, that note what they are asked and fail
 * on demand. Included once per test.
 */
#ifndef HOSTPROF_TESTS_RECORDER_STEPS_H
#define HOSTPROF_TESTS_RECORDER_STEPS_H

#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/loop.h"
#include "base/strbuf.h"
#include "cmd/drive/command.h"
#include "cmd/drive/drive.h"
#include "cmd/drive/priority.h"
#include "fake_clock.h"
#include "fake_registry.h"
#include "session/pipeline.h"
#include "session/pipeline_arrive.h"
#include "session/pipeline_spans.h"

#define MS	NSEC_PER_MSEC
#define CAPTURE ((struct capture *)0x1000)
#define LOOP	((struct loop *)0x2000)

struct timer {
	uint64_t period_ns;
	loop_fn fn;
	void *data;
};

static struct {
	struct strbuf log;
	const char *failing; /* this step, with -EIO */
	struct timer timers[6];
	bool is_calm; /* next to nothing comes */
	unsigned int timer_count;
	loop_fn on_fd, on_deadline;
	void (*on_wait)(bool waits, void *data);
	bool waits; /* the rings' drainer */
	unsigned int waits_told;
	loop_signal_fn on_signal;
	void *recorder, *drive; /* whose functions they are */
	uint64_t deadline_ns;
	char signals[64];
	void (*in_loop)(void); /* what happens there */
	unsigned int quits, turns, drains, flushes, cpus, progresses, tuned;
	bool has_ended; /* the command */
	bool samples_waits, samples_locks;
	struct drive_progress progress;
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
	run.drive = data;
	return step("signals", err);
}

int loop_add_fd(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	assert_int_equal(fd, 99);
	run.on_fd = fn;
	run.recorder = data;
	return step("fd", err);
}

int loop_add_edge(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	assert_int_equal(fd, 98);
	assert_ptr_equal(data, run.recorder);
	assert_true(fn == run.on_fd);
	return step("edge", err);
}

void loop_on_wait(struct loop *loop, void (*fn)(bool waits, void *data), void *data)
{
	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.recorder);
	run.on_wait = fn;
}

int loop_add_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data, struct err *err)
{
	char name[] = "timer0";

	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.timer_count < 3 ? run.recorder : run.drive);
	name[5] = (char)('0' + run.timer_count);
	assert_true(run.timer_count < 6);
	run.timers[run.timer_count++] = (struct timer){ period_ns, fn, data };
	return step(name, err);
}

void loop_set_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, const void *data)
{
	assert_ptr_equal(loop, LOOP);
	for (unsigned int i = 0; i < run.timer_count; i++)
		if (run.timers[i].fn == fn && run.timers[i].data == data)
			run.timers[i].period_ns = period_ns;
}

int loop_add_deadline(struct loop *loop, uint64_t deadline_ns, loop_fn fn, void *data,
		      struct err *err)
{
	assert_ptr_equal(loop, LOOP);
	assert_ptr_equal(data, run.drive);
	run.on_deadline = fn;
	run.deadline_ns = deadline_ns;
	return step("deadline", err);
}

/* What the recorder added, and nothing of who drives it. */
void loop_forget(struct loop *loop, const void *data)
{
	assert_ptr_equal(loop, LOOP);
	assert_true(!run.recorder || data == run.recorder);
	assert_true(!run.drive || data != run.drive);
	strbuf_addf(&run.log, "forget ");
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

int capture_wait(struct capture *capture, struct err *err)
{
	assert_ptr_equal(capture, CAPTURE);
	return step("wait", err);
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

int capture_edge_fd(const struct capture *capture)
{
	assert_ptr_equal(capture, CAPTURE);
	return 98;
}

void capture_drainer_waits(struct capture *capture, bool waits)
{
	assert_ptr_equal(capture, CAPTURE);
	run.waits = waits;
	run.waits_told++;
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

static int look_at_processes(struct err *err)
{
	return step("snapshot", err);
}

static void forget_processes(void)
{
	strbuf_addstr(&run.log, "no-processes ");
}

int pipeline_init(struct pipeline *pipeline, struct capture *capture, struct registry *registry,
		  const struct pipeline_options *options, struct err *err)
{
	run.samples_waits = options->samples_waits;
	run.samples_locks = options->samples_locks;
	assert_ptr_equal(capture, CAPTURE);
	assert_ptr_equal(registry, REGISTRY);
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

int pipeline_begin(struct pipeline *pipeline, const char *command_line, struct err *err)
{
	(void)pipeline, (void)command_line;
	return step("begin", err);
}

void pipeline_meet(struct pipeline *pipeline)
{
	struct err ignored;

	(void)pipeline;
	step("meet", &ignored);
}

void pipeline_spans_begin(struct pipeline *pipeline)
{
	struct err ignored;

	(void)pipeline;
	step("parked", &ignored);
}

void pipeline_spans_look(struct pipeline *pipeline)
{
	struct err ignored;

	(void)pipeline;
	step("look", &ignored);
}

void pipeline_take_records(struct pipeline *pipeline)
{
	(void)pipeline;
	run.drains++;
}

bool pipeline_is_calm(const struct pipeline *pipeline)
{
	(void)pipeline;
	return run.is_calm;
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

void jvm_table_show(struct jvm_table *table, uint32_t shows)
{
	(void)table, (void)shows;
}

uint32_t jvm_table_without_inlining(const struct jvm_table *table)
{
	(void)table;
	return 0;
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

	assert_int_equal(run.limits_set, 0); /* it has the old limit */
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
	if (resource != RLIMIT_NOFILE) /* a sanitizer's, before all tests */
		return (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);
	*limit = run.limit;
	return run.limit_error;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	if (resource != RLIMIT_NOFILE)
		return (int)syscall(SYS_prlimit64, 0, resource, limit, NULL);
	run.limit = *limit;
	run.limits_set++;
	return 0;
}

/* --- */

static struct err err;

static inline int set_up(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	fake_begin();
	run.limit = (struct rlimit){ 1024, 1 << 20 };
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	strbuf_release(&run.log);
	return 0;
}

#endif
