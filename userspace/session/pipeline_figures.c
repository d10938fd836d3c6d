/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_figures.h"

#include "base/strbuf.h"
#include "process/mappings.h"
#include "session/pipeline_malloc.h"
#include "session/pipeline_spans.h"
#include "symbolize/perf_map.h"

static void count_failed_file(const char *path, const char *why, void *data)
{
	struct pipeline *pipeline = data;
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	strbuf_addf(&detail, "%s: %s", path, why);
	profile_add_counter(&pipeline->profile, "symbols.file-not-read", strbuf_str(&detail), 1);
}

static void count_failed_jvm(struct pipeline *pipeline, const char *figure, uint32_t pid,
			     const char *why)
{
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	strbuf_addf(&detail, "pid %u: %s", pid, why);
	profile_add_counter(&pipeline->profile, figure, strbuf_str(&detail), 1);
}

static void count_failed_agent(uint32_t pid, const char *why, void *data)
{
	count_failed_jvm(data, "jvm.no-agent", pid, why);
}

static void count_unread_jvm(uint32_t pid, const char *why, void *data)
{
	count_failed_jvm(data, "jvm.not-read", pid, why);
}

static void add_figure(const char *name, const char *detail, uint64_t value, void *data)
{
	struct pipeline *pipeline = data;

	profile_add_counter(&pipeline->profile, name, detail, value);
}

static void add_unless_0(struct pipeline *pipeline, const char *name, const char *detail,
			 uint64_t value)
{
	if (value)
		add_figure(name, detail, value, pipeline);
}

/* What BPF counted; its frames and those that were walked here become one number. */
static void add_unwinding(struct pipeline *pipeline, const struct capture_stats *stats)
{
	static const char *const figures[] = {
#define WIRE_COUNTER(name, id, figure, text) figure,
#include "wire_counters.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (*figures[i])
			add_unless_0(pipeline, figures[i], "", stats->counters[i]);
	add_unless_0(pipeline, "unwind.orphans", "", pipeline->misses.orphans);
	add_unless_0(pipeline, "unwind.misses-no-room", "", pipeline->misses_no_room);
	add_unless_0(pipeline, "unwind.misses-no-time", "", pipeline->misses_no_time);
	unwinder_for_each_figure(pipeline->unwinder, add_figure, pipeline);
	pipeline_spans_for_each_figure(pipeline, add_unless_0);
	add_unless_0(pipeline, "memory.room-made", "", pipeline->guard.sheds);
	add_figure("files.known", "", pipeline->files.images, pipeline);
	add_figure("files.forgotten", "", pipeline->files.evicted, pipeline);
}

static void add_left_out(struct pipeline *pipeline, const char *figure, uint64_t count,
			 uint32_t pid, const char *comm)
{
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	if (!count)
		return;
	strbuf_addf(&detail, "pid %u%s%s", pid, *comm ? " " : "", comm);
	strbuf_disarm(&detail, 0);
	add_figure(figure, strbuf_str(&detail), count, pipeline);
}

/* What there was no room for, and whose the first of it was. */
static void add_limits(struct pipeline *pipeline)
{
	struct mappings_stats mappings;
	uint64_t count;
	uint32_t pid;

	mappings_get_stats(&mappings);
	add_left_out(pipeline, "limits.mappings", mappings.left_out, mappings.pid, mappings.comm);
	add_left_out(pipeline, "limits.files", pipeline->files.refused, pipeline->files.refused_pid,
		     "");
	count = perf_map_left_out(&pid);
	add_left_out(pipeline, "limits.perf-map-lines", count, pid, "");
	count = jvm_table_forgotten(pipeline->jvms, &pid);
	add_left_out(pipeline, "limits.code-maps", count, pid, "");
	count = jvm_frames_unnamed(&pid);
	add_left_out(pipeline, "limits.java-names", count, pid, "");
}

/* What the kernel counted and made no samples of. */
static void add_unseen(struct pipeline *pipeline, const struct capture_stats *stats)
{
	for (unsigned int i = 0; i < pipeline->options->event_count; i++) {
		const struct capture_event_figures *figures = &stats->events[i];
		const char *name = pipeline->options->events[i].name;

		if (!figures->counted)
			continue;
		add_figure("events.counted", name, figures->counted, pipeline);
		add_unless_0(pipeline, "events.unseen", name, figures->unseen);
		add_unless_0(pipeline, "events.not-running-ns", name,
			     figures->enabled_ns - MIN(figures->running_ns, figures->enabled_ns));
	}
}

void pipeline_write_figures(struct pipeline *pipeline)
{
	struct capture_stats stats;
	const char *why = symbolizer_kernel_failure(pipeline->symbolizer);

	capture_get_stats(pipeline->capture, &stats);
	image_cache_get_stats(pipeline->images, &pipeline->files);
	ledger_write(&pipeline->ledger, &pipeline->profile, pipeline->event_ids,
		     pipeline->options->event_count);
	ledger_write_reasons(&pipeline->ledger, &pipeline->profile);
	add_unwinding(pipeline, &stats);
	add_limits(pipeline);
	add_unseen(pipeline, &stats);
	pipeline_malloc_write(pipeline);
	image_cache_for_each_failed(pipeline->images, count_failed_file, pipeline);
	agents_for_each_failure(pipeline->agents, count_failed_agent, pipeline);
	jvm_table_for_each_unread(pipeline->jvms, count_unread_jvm, pipeline);
	add_unless_0(pipeline, "symbols.kernel-not-read", why, *why != '\0');
	add_unless_0(pipeline, "samples.lost", "of unknown processes",
		     stats.counters[WIRE_COUNTER_LOST_UNKNOWN]);
	add_unless_0(pipeline, "time.unobserved-ns", "", stats.unobserved_ns);
	add_unless_0(pipeline, "time.throttled-ns", "", stats.throttled_ns);
	add_unless_0(pipeline, "time.suspended-ns", "", stats.suspended_ns);
	add_unless_0(pipeline, "samples.late", "", pipeline->late_samples);
}
