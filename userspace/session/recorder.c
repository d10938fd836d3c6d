/* SPDX-License-Identifier: Apache-2.0 */
#include "session/recorder.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rights.h"
#include "elf/cfi/cfi_file.h"
#include "elf/reader/reader.h"
#include "jvm/attach/attach_reach.h"
#include "process/process_memory.h"
#include "session/alloc/alloc_probes.h"
#include "session/locks/lock_probes.h"
#include "session/pipeline_arrive.h"
#include "session/pipeline_spans.h"
#include "session/probes/jvm_phase.h"
#include "session/recorder_rights.h"
#include "symbolize/perf_map.h"

#define DEFAULT_FLUSH_NS (1 * NSEC_PER_SEC)
#define TURN_NS		 (50 * NSEC_PER_MSEC)
/* Where next to nothing comes, so that what turns take by themselves is not most of our time. */
#define CALM_TURN_NS (100 * NSEC_PER_MSEC)
/* With a sink that is to have samples within 50 ms; half of this is what one waits on average. */
#define HURRIED_TURN_NS (20 * NSEC_PER_MSEC)
#define CPU_CHECK_NS	(1 * NSEC_PER_SEC)
/* For the last turns and the last flush, when there is no more memory. */
#define RESERVE_BYTES (16U << 20)

struct recorder {
	const struct recorder_options *options;
	struct capture_options capture_options; /* those of `options`, and what memory they have */
	struct memory_plan plan;
	struct loop *loop; /* borrowed */
	struct capture *capture;
	struct registry *registry; /* owned; NULL: the pipeline has it */
	struct pipeline pipeline;
	uint64_t start_ns, elapsed_ns;
	uint64_t turned_ns, period_ns; /* of the last turn, and until the next one */
	struct err failure;	       /* of a sink */
};

static void fail(struct recorder *rec, int r)
{
	if (r < 0)
		loop_quit(rec->loop);
}

/* The rest of a turn can wait for its time; the rings and the files of short processes cannot. */
static void on_records(void *data)
{
	struct recorder *rec = data;

	pipeline_take_records(&rec->pipeline);
	fail(rec, sinks_turn(&rec->options->sinks, &rec->failure));
}

void recorder_turn(struct recorder *rec)
{
	uint64_t now_ns = clock_now_ns();

	if (alloc_is_short())
		loop_quit(rec->loop);
	if (rec->options->sinks.hurry && now_ns - rec->turned_ns < TURN_NS - HURRIED_TURN_NS) {
		on_records(rec);
		return;
	}
	rec->turned_ns = now_ns;
	pipeline_turn(&rec->pipeline);
	fail(rec, sinks_turn(&rec->options->sinks, &rec->failure));
}

static uint64_t choose_period_ns(const struct recorder *rec)
{
	if (rec->options->sinks.hurry)
		return HURRIED_TURN_NS;
	return pipeline_is_calm(&rec->pipeline) ? CALM_TURN_NS : TURN_NS;
}

static void on_turn(void *data)
{
	struct recorder *rec = data;
	uint64_t period_ns;

	recorder_turn(rec);
	period_ns = choose_period_ns(rec);
	if (period_ns == rec->period_ns)
		return;
	rec->period_ns = period_ns;
	loop_set_timer(rec->loop, period_ns, on_turn, rec);
}

static void on_flush(void *data)
{
	struct recorder *rec = data;

	fail(rec, pipeline_flush(&rec->pipeline, &rec->failure));
}

static void on_cpus(void *data)
{
	struct recorder *rec = data;
	struct err ignored = { 0 };

	/* A cpu that cannot be opened now is tried again in a second. */
	capture_update_cpus(rec->capture, &ignored);
}

static void on_wait(bool waits, void *data)
{
	struct recorder *rec = data;

	capture_drainer_waits(rec->capture, waits);
}

static int add_sources(struct recorder *rec, struct err *err)
{
	const struct recorder_options *options = rec->options;
	uint64_t flush_ns = options->flush_ns ? options->flush_ns : DEFAULT_FLUSH_NS;
	int r = loop_add_fd(rec->loop, capture_fd(rec->capture), on_records, rec, err);

	if (r == 0)
		r = loop_add_edge(rec->loop, capture_edge_fd(rec->capture), on_records, rec, err);
	rec->period_ns = options->sinks.hurry ? HURRIED_TURN_NS : TURN_NS;
	if (r == 0)
		r = loop_add_timer(rec->loop, rec->period_ns, on_turn, rec, err);
	if (r == 0)
		r = loop_add_timer(rec->loop, flush_ns, on_flush, rec, err);
	if (r == 0)
		r = loop_add_timer(rec->loop, CPU_CHECK_NS, on_cpus, rec, err);
	loop_on_wait(rec->loop, on_wait, rec);
	return r;
}

/*
 * Rings, events, and the files of programs not parsed yet: on large hosts more than the usual 1024.
 * What is forked before has the old limit.
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
	alloc_reserve(RESERVE_BYTES);
	memory_plan_begin(&rec->plan, rec->options->memory_limit_bytes);
	process_budget()->limit_bytes = rec->plan.process_bytes;
	perf_map_budget()->limit_bytes = rec->plan.perf_map_bytes;
	rec->capture_options.table_bytes = rec->plan.table_bytes;
	rec->capture_options.rings_limit_bytes = rec->plan.rings_bytes;
}

static bool samples_memory(const struct recorder *rec)
{
	return capture_event_find(rec->capture_options.events, rec->capture_options.event_count,
				  capture_event_is_malloc);
}

/* While the kernel looks at the program, we look at the processes. */
static int open_capture(struct recorder *rec, struct err *err)
{
	int r = capture_open(&rec->capture_options, &rec->capture, err);

	if (r < 0)
		return r;
	rec->registry = registry_new();
	r = registry_snapshot(rec->registry, err);
	return r < 0 ? r : capture_wait(rec->capture, err);
}

static bool wants_virtual_waits(const struct capture_options *options)
{
	return capture_event_find(options->events, options->event_count,
				  capture_event_has_virtual_waits);
}

static int open_all(struct recorder *rec, struct err *err)
{
	uint32_t interval = alloc_probes_interval(&rec->capture_options);
	uint64_t lock_least_ns = 0;
	bool locks = lock_probes_wanted(&rec->capture_options, &lock_least_ns);
	bool waits = wants_virtual_waits(&rec->capture_options);
	uint32_t phases = jvm_phases_wanted(&rec->capture_options);
	enum recorder_agent_mode agent = rec->options->agent;
	const struct pipeline_options pipeline = {
		.capture = &rec->capture_options,
		.plan = &rec->plan,
		.attach = agent == RECORDER_AGENT_ALWAYS ||
			  (agent == RECORDER_AGENT_AUTO && (interval || locks)),
		.detach = agent == RECORDER_AGENT_AUTO,
		.outside_interval = interval,
		.alloc_interval = agent == RECORDER_AGENT_NEVER ? 0 : interval,
		.samples_locks = locks,
		.samples_waits = waits,
		.lock_least_ns = lock_least_ns,
		.phases = phases,
		.jvm_frames = rec->options->jvm_frames,
		.live = interval ? rec->options->live : LIVE_OFF,
		.attached = rec->options->attached,
		.unseen = rec->options->unseen,
		.sinks = rec->options->sinks,
	};
	int r;

	cfi_digest_begin();
	r = wall_begin(&reader_trade, pipeline.attach ? attach_reach_help : NULL, err);
	if (r < 0)
		return r;
	raise_descriptor_limit();
	plan_memory(rec);
	rec->capture_options.follow_memory = rec->options->live != LIVE_OFF && samples_memory(rec);
	r = open_capture(rec, err);
	if (r < 0)
		return r;
	/* Before there are workers. */
	if (rec->options->gives_up_rights)
		recorder_rights_keep(rec->options->other_rights |
				     (interval || locks || waits || phases || samples_memory(rec)
					      ? RIGHTS_TO_PROBE
					      : 0));
	r = pipeline_init(&rec->pipeline, rec->capture, TAKE_PTR(rec->registry), &pipeline, err);
	if (r < 0)
		return r;
	jvm_table_show(rec->pipeline.jvms, rec->options->jvm_shows);
	r = pipeline_begin(&rec->pipeline, rec->options->command_line, err);
	if (r < 0)
		return r;
	pipeline_meet(&rec->pipeline);
	return add_sources(rec, err);
}

int recorder_open(const struct recorder_options *options, struct loop *loop,
		  struct recorder **ret_recorder, struct err *err)
{
	struct recorder *rec = xcalloc(1, sizeof(*rec));
	int r;

	rec->options = options;
	rec->capture_options = options->capture;
	rec->loop = loop;
	r = open_all(rec, err);
	if (r < 0) {
		recorder_free(rec);
		return r;
	}
	*ret_recorder = rec;
	return 0;
}

void recorder_start(struct recorder *rec)
{
	capture_start(rec->capture);
	rec->start_ns = clock_now_ns();
	pipeline_spans_begin(&rec->pipeline);
}

void recorder_get_figures(const struct recorder *rec, struct recorder_figures *ret_figures)
{
	uint32_t with_agent;

	*ret_figures = (struct recorder_figures){
		.samples = rec->pipeline.samples,
		.lost = ledger_lost(&rec->pipeline.ledger),
		.processes = rec->pipeline.ledger.processes,
	};
	agents_count(rec->pipeline.agents, &ret_figures->jvms, &with_agent);
}

static void note_refusal(uint32_t pid, const char *why, void *data)
{
	struct recorder_result *result = data;

	if (!result->agents_refused++) {
		result->refused_pid = pid;
		snprintf(result->refusal, sizeof(result->refusal), "%s", why);
	}
}

static void note_left_out(const struct image_cache_stats *files, struct recorder_result *result)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	if (!files->left_out)
		return;
	strbuf_addstr(
		&why,
		files->why
			? files->why
			: "files that are gone had more symbols than --memory-limit leaves for one");
	strbuf_disarm(&why, 0);
	result->symbols_left_out = files->left_out;
	snprintf(result->left_out, sizeof(result->left_out), "%s", strbuf_str(&why));
}

static void fill_result(struct recorder *rec, struct recorder_result *result)
{
	struct pipeline *pipeline = &rec->pipeline;
	struct rusage usage;

	*result = (struct recorder_result){ .start_ns = rec->start_ns,
					    .elapsed_ns = rec->elapsed_ns };
	getrusage(RUSAGE_SELF, &usage);
	result->own_cpu_ns =
		(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
	wall_get_figures(&result->wall);
	reader_get_figures(&result->readers);
	result->own_cpu_ns += result->wall.cpu_ns + result->readers.cpu_ns;
	result->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	result->memory_limit_bytes = pipeline->plan.limit_bytes;
	result->processes = pipeline->ledger.processes;
	agents_count(pipeline->agents, &result->jvms, &result->jvms_with_agent);
	result->jvms_without_inlining = jvm_table_without_inlining(pipeline->jvms);
	agents_for_each_failure(pipeline->agents, note_refusal, result);
	note_left_out(&pipeline->files, result);
	result->live_missing = pipeline->live_missing;
	result->live_missing_pid = pipeline->live_missing_pid;
	result->alloc_sources = pipeline->alloc_sources;
	result->sees_locks = pipeline->sees_locks;
	result->phases_seen = pipeline->phases.seen;
	result->malloc_files = pipeline->malloc.probed;
	result->late_samples = pipeline->late_samples;
	result->merge_stall_ns = pipeline->stall_ns;
	memcpy(result->losses, pipeline->ledger.losses, sizeof(result->losses));
	memcpy(result->reasons, pipeline->ledger.reasons, sizeof(result->reasons));
	result->samples = pipeline->ledger.samples;
	result->complete = pipeline->ledger.complete;
	capture_get_stats(rec->capture, &result->capture);
	result->lost = ledger_lost(&pipeline->ledger) +
		       result->capture.counters[WIRE_COUNTER_LOST_UNKNOWN];
}

int recorder_finish(struct recorder *rec, struct recorder_result *ret_result, struct err *err)
{
	int r;

	if (!rec->failure.code && !alloc_is_short())
		pipeline_spans_look(&rec->pipeline);
	rec->elapsed_ns = clock_now_ns() - rec->start_ns;
	capture_stop(rec->capture);
	loop_forget(rec->loop, rec);
	if (rec->failure.code) {
		*err = rec->failure;
		return rec->failure.code;
	}
	r = pipeline_finish(&rec->pipeline, err);
	if (r == 0 && alloc_is_short())
		r = err_set(err, -ENOMEM,
			    "there was no more memory: the recording has ended early");
	if (r == 0)
		fill_result(rec, ret_result);
	return r;
}

void recorder_free(struct recorder *rec)
{
	if (!rec)
		return;
	loop_forget(rec->loop, rec);
	pipeline_release(&rec->pipeline);
	registry_free(rec->registry);
	capture_free(rec->capture);
	reader_end();
	wall_end();
	alloc_drop_reserve();
	free(rec);
}
