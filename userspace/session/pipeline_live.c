// SPDX-License-Identifier: Apache-2.0
#include "session/pipeline_live.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "jvm/jvm_live.h"
#include "session/pipeline_show.h"

/* A JVM answers in some milliseconds; one that stands still must not hold up the end. */
#define ANSWER_NS (2 * NSEC_PER_SEC)
/* A full collection takes about a second for each gigabyte that lives. */
#define COLLECT_NS (10 * NSEC_PER_SEC)

void pipeline_live_init(struct pipeline *pipeline, enum live_mode mode)
{
	pipeline->live_mode = mode;
	if (mode == LIVE_OFF)
		return;
	live_objects_set_limit(&pipeline->live, pipeline->plan.object_bytes);
	jvm_table_follow_objects(pipeline->jvms);
}

void pipeline_live_add_event(struct pipeline *pipeline)
{
	if (pipeline->live_mode != LIVE_OFF)
		pipeline->live_event = live_objects_event(&pipeline->profile, "live");
}

void pipeline_live_note(struct pipeline *pipeline, const struct process *process,
			const struct wire_sample *sample, const struct profile_sample *row)
{
	if (pipeline->live_mode != LIVE_OFF && process)
		live_objects_add_sample(&pipeline->live, process->serial, sample->alloc_object,
					row);
}

static void drop_one(uint64_t serial, uint64_t id, uint32_t level, void *data)
{
	struct pipeline *pipeline = data;

	if (id)
		live_objects_drop(&pipeline->live, serial, id);
	else
		live_objects_thin(&pipeline->live, serial, level);
}

void pipeline_live_settle(struct pipeline *pipeline, uint64_t until_ns)
{
	if (pipeline->live_mode != LIVE_OFF)
		jvm_table_take_gone(pipeline->jvms, until_ns, drop_one, pipeline);
}

void pipeline_live_ask(struct pipeline *pipeline)
{
	bool collect = pipeline->live_mode == LIVE_COLLECT;

	if (pipeline->live_mode != LIVE_OFF)
		jvm_table_ask_live(pipeline->jvms, collect,
				   clock_now_ns() + (collect ? COLLECT_NS : ANSWER_NS));
}

bool pipeline_live_waits(const struct pipeline *pipeline)
{
	return pipeline->live_mode != LIVE_OFF &&
	       !jvm_table_told_live(pipeline->jvms, clock_now_ns());
}

static void show(struct pipeline *pipeline, const struct jvm_live_report *report, size_t first)
{
	const struct process *process = registry_find(pipeline->registry, report->pid);
	const struct ledger_entry *entry = NULL;

	if (process && process->serial == report->serial)
		entry = ledger_find(&pipeline->ledger, process);
	if (entry && pipeline->sinks.one_by_one)
		pipeline_show_live(pipeline, entry, first);
}

static void tell_one(const struct jvm_live_report *report, void *data)
{
	struct pipeline *pipeline = data;
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	if (report->alive) {
		size_t first = pipeline->profile.samples.len;

		live_objects_tell(&pipeline->live, report->serial, report->alive, report->count,
				  report->level, pipeline->live_event, &pipeline->profile);
		show(pipeline, report, first);
		return;
	}
	strbuf_addf(&detail, "pid %u did not say which objects are alive", report->pid);
	profile_add_counter(&pipeline->profile, "jvm.no-live", strbuf_str(&detail), 1);
	if (!pipeline->live_missing++)
		pipeline->live_missing_pid = report->pid;
}

void pipeline_live_tell(struct pipeline *pipeline)
{
	if (pipeline->live_mode != LIVE_OFF)
		jvm_table_for_each_live(pipeline->jvms, tell_one, pipeline);
}
