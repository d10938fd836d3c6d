/* SPDX-License-Identifier: Apache-2.0 */
#include "session/recorder.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/loop.h"
#include "session/command.h"
#include "session/pipeline_arrive.h"
#include "session/priority.h"

#define DEFAULT_FLUSH_NS (1 * NSEC_PER_SEC)
#define TURN_NS		 (50 * NSEC_PER_MSEC)
#define CPU_CHECK_NS	 (1 * NSEC_PER_SEC)
#define PROGRESS_NS	 (500 * NSEC_PER_MSEC)

struct recorder {
	const struct recorder_options *options;
	struct recorder_result *result;
	struct capture_options capture_options; /* those of `options`, or for its command */
	struct memory_plan plan;
	uint32_t command_pid;
	struct loop *loop;
	struct capture *capture;
	struct pipeline pipeline;
	struct command command;
	uint64_t start_ns;
	struct err failure; /* of a flush inside the loop */
};

/* The rest of a turn can wait for its time; the rings and the files of short processes cannot. */
static void on_records(void *data)
{
	struct recorder *rec = data;

	pipeline_drain(&rec->pipeline);
}

static void on_turn(void *data)
{
	struct recorder *rec = data;

	pipeline_turn(&rec->pipeline);
}

static void on_flush(void *data)
{
	struct recorder *rec = data;

	if (pipeline_flush(&rec->pipeline, &rec->failure) < 0)
		loop_quit(rec->loop);
}

static void on_cpus(void *data)
{
	struct recorder *rec = data;
	struct err ignored = { 0 };

	/* A cpu that cannot be opened now is tried again in a second. */
	capture_update_cpus(rec->capture, &ignored);
}

static void on_progress(void *data)
{
	struct recorder *rec = data;
	struct recorder_progress progress = {
		.elapsed_ns = clock_now_ns() - rec->start_ns,
		.duration_ns = rec->options->duration_ns,
		.samples = rec->pipeline.samples,
		.lost = ledger_lost(&rec->pipeline.ledger),
		.processes = rec->pipeline.ledger.processes,
	};
	uint32_t with_agent;

	agents_count(rec->pipeline.agents, &progress.jvms, &with_agent);
	rec->options->progress(&progress);
}

static void on_deadline(void *data)
{
	struct recorder *rec = data;

	loop_quit(rec->loop);
}

static void on_signal(int signo, void *data)
{
	struct recorder *rec = data;

	if (signo == SIGCHLD) {
		if (command_reap(&rec->command))
			loop_quit(rec->loop);
		return;
	}
	rec->result->interrupted = true;
	loop_quit(rec->loop);
}

static int add_sources(struct recorder *rec, struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	const struct recorder_options *options = rec->options;
	uint64_t flush_ns = options->flush_ns ? options->flush_ns : DEFAULT_FLUSH_NS;
	int r = loop_add_signals(rec->loop, signals, ARRAY_SIZE(signals), on_signal, rec, err);

	if (r == 0)
		r = loop_add_fd(rec->loop, capture_fd(rec->capture), on_records, rec, err);
	if (r == 0)
		r = loop_add_timer(rec->loop, TURN_NS, on_turn, rec, err);
	if (r == 0)
		r = loop_add_timer(rec->loop, flush_ns, on_flush, rec, err);
	if (r == 0)
		r = loop_add_timer(rec->loop, CPU_CHECK_NS, on_cpus, rec, err);
	if (r == 0 && options->progress)
		r = loop_add_timer(rec->loop, PROGRESS_NS, on_progress, rec, err);
	return r;
}

static void note_refusal(uint32_t pid, const char *why, void *data)
{
	struct recorder_result *result = data;

	if (!result->agents_refused++) {
		result->refused_pid = pid;
		snprintf(result->refusal, sizeof(result->refusal), "%s", why);
	}
}

static void fill_result(struct recorder *rec)
{
	struct recorder_result *result = rec->result;
	struct pipeline *pipeline = &rec->pipeline;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	result->own_cpu_ns =
		(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
	result->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	result->memory_limit_bytes = pipeline->plan.limit_bytes;
	result->processes = pipeline->ledger.processes;
	agents_count(pipeline->agents, &result->jvms, &result->jvms_with_agent);
	agents_for_each_failure(pipeline->agents, note_refusal, result);
	result->late_samples = pipeline->late_samples;
	result->merge_stall_ns = pipeline->stall_ns;
	memcpy(result->losses, pipeline->ledger.losses, sizeof(result->losses));
	memcpy(result->reasons, pipeline->ledger.reasons, sizeof(result->reasons));
	result->samples = pipeline->ledger.samples;
	result->complete = pipeline->ledger.complete;
	result->exit_status = rec->command.exit_status;
	capture_get_stats(rec->capture, &result->capture);
	result->lost = ledger_lost(&pipeline->ledger) +
		       result->capture.counters[WIRE_COUNTER_LOST_UNKNOWN];
}

/* From "everything is open" to "the recording is ended". */
static int run(struct recorder *rec, struct err *err)
{
	const struct recorder_options *options = rec->options;
	struct err finish_err = { 0 };
	int r = 0, finished;

	capture_start(rec->capture);
	rec->start_ns = clock_now_ns();
	if (rec->command.pid)
		r = command_go(&rec->command, options->command[0], err);
	if (r == 0 && options->duration_ns)
		r = loop_add_deadline(rec->loop, rec->start_ns + options->duration_ns, on_deadline,
				      rec, err);
	if (r == 0)
		r = loop_run(rec->loop, err);
	rec->result->start_ns = rec->start_ns;
	rec->result->elapsed_ns = clock_now_ns() - rec->start_ns;
	capture_stop(rec->capture);
	priority_restore();
	if (rec->failure.code) {
		*err = rec->failure;
		return rec->failure.code;
	}
	finished = pipeline_finish(&rec->pipeline, r < 0 ? &finish_err : err);
	return r < 0 ? r : finished;
}

/* The command is forked now, so that its pid is a target before it runs. */
static int prepare_command(struct recorder *rec, struct err *err)
{
	int r = command_prepare(&rec->command, rec->options->command, err);

	if (r < 0 || rec->options->whole_host)
		return r;
	rec->command_pid = (uint32_t)rec->command.pid;
	rec->capture_options.pids = &rec->command_pid;
	rec->capture_options.pid_count = 1;
	rec->capture_options.follow_children = true;
	return 0;
}

/*
 * Rings, events, and the files of programs not parsed yet: on large hosts more than the usual 1024.
 * The command has the old limit, it is forked already.
 */
static void raise_descriptor_limit(void)
{
	const rlim_t enough = 65536;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= enough)
		return;
	limit.rlim_cur = MIN(limit.rlim_max, enough);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void plan_memory(struct recorder *rec)
{
	memory_tune_allocator();
	memory_plan_begin(&rec->plan, rec->options->memory_limit_bytes);
	rec->capture_options.table_bytes = rec->plan.table_bytes;
	rec->capture_options.rings_limit_bytes = rec->plan.rings_bytes;
}

static int open_all(struct recorder *rec, int fd, struct err *err)
{
	const struct pipeline_options pipeline = {
		.capture = &rec->capture_options,
		.plan = &rec->plan,
		.attach = rec->options->agent == RECORDER_AGENT_ALWAYS,
		.fd = fd,
		.chunk_bytes = rec->options->chunk_bytes,
		.chunk_ns = rec->options->chunk_ns,
	};
	int r = loop_new(&rec->loop, err);

	if (r == 0 && rec->options->command)
		r = prepare_command(rec, err);
	priority_raise(); /* the command is forked */
	raise_descriptor_limit();
	plan_memory(rec);
	if (r == 0)
		r = capture_open(&rec->capture_options, &rec->capture, err);
	if (r == 0)
		r = pipeline_init(&rec->pipeline, rec->capture, &pipeline, err);
	if (r < 0)
		return r;
	pipeline_describe(&rec->pipeline, rec->options->command_line);
	r = pipeline_snapshot(&rec->pipeline, err);
	return r < 0 ? r : add_sources(rec, err);
}

int recorder_run(const struct recorder_options *options, int fd, struct recorder_result *ret_result,
		 struct err *err)
{
	struct recorder_result result = { 0 };
	struct recorder rec = { .options = options,
				.result = &result,
				.capture_options = options->capture,
				.command = COMMAND_INIT };
	int r = open_all(&rec, fd, err);

	if (r == 0)
		r = run(&rec, err);
	if (r == 0) {
		fill_result(&rec);
		*ret_result = result;
	}
	priority_restore();
	command_release(&rec.command);
	pipeline_release(&rec.pipeline);
	capture_free(rec.capture);
	loop_free(rec.loop);
	return r;
}
