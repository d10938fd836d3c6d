/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that hurries gets a sample before its turn: the registry, the symbols and the code maps are
 * those of now and not yet those of its time, since side-band is applied in order. What that changes
 * is found out when its turn comes, and told.
 */
#include "session/pipeline_show.h"

#include "session/pipeline_apply.h"

#include "base/clock.h"
#include "session/alloc/alloc_objects.h"
#include "session/compilations/compilation_row.h"
#include "symbolize/waits/wait.h"

/* The labels that the ledger will give it, but for those of JVMs. */
static struct sink_process describe(const struct process *process, const struct wire_sample *sample,
				    char comm[WIRE_COMM_LEN + 1])
{
	struct sink_process known = {
		sample->tgid, sample->exec_id, sample->start_ns, comm, "", "", "", "", "", "", ""
	};

	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	comm[WIRE_COMM_LEN] = '\0';
	if (!process)
		return known;
	known.name = process->comm[0] ? process->comm : comm;
	known.exe = process->exe ? process->exe : "";
	known.cgroup = process->cgroup ? process->cgroup : "";
	known.container_id = process->container_id;
	return known;
}

static void describe_compilation(const struct wire_sample *sample, struct sink_sample *told)
{
	struct profile_sample row = { .weight = sample->weight };

	compilation_fill_row(&row, sample);
	told->queued = row.queued;
	told->chance = row.chance;
}

/* *RET_TOLD: all that is said of it but its process; texts are the profile's. */
static struct merge_shown resolve_now(struct pipeline *pipeline, struct process *process,
				      const struct wire_sample *sample,
				      struct sink_sample *ret_told)
{
	struct profile *profile = &pipeline->profile;
	struct symbolized now = symbolizer_take_now(pipeline->symbolizer, profile, process, sample);
	uint32_t reason = pipeline_reason(pipeline, sample, now.stack);

	*ret_told = (struct sink_sample){
		.id = pipeline->samples,
		.time_ns = pipeline_begin_ns(sample),
		.weight = sample->weight,
		.objects = alloc_objects(sample),
		.event = pipeline->event_ids[sample->event],
		.stack = now.stack,
		.state = wait_state(sample->state, sample->in_user),
		.tid = sample->tid,
		.java_tid = now.java_tid,
		.is_virtual = now.is_virtual,
		.thread = profile_get_string(profile, now.thread_name),
		.reason = profile_get_string(profile, reason),
	};
	return (struct merge_shown){
		.id = pipeline->samples,
		.stack = now.stack,
		.thread_name = now.thread_name,
		.tables_serial = pipeline->tables_serial,
		.is_shown = true,
	};
}

struct merge_shown pipeline_show_arrival(struct pipeline *pipeline, struct process *process,
					 const struct wire_sample *sample,
					 const struct merge_wait *wait)
{
	char comm[WIRE_COMM_LEN + 1];
	struct sink_process known;
	struct merge_shown shown;
	struct sink_sample told;

	if (process &&
	    process_news_has(&pipeline->news, sample->tgid, sample->time_ns, pipeline->applied_ns))
		process = NULL;
	shown = resolve_now(pipeline, process, sample, &told);
	told.queued = pipeline_queued_ns(sample, wait);
	told.chance = pipeline_chance(pipeline, sample, wait);
	if (sample->text == WIRE_TEXT_COMPILATION)
		describe_compilation(sample, &told);
	known = describe(process, sample, comm);
	told.process = &known;
	sinks_arrived(&pipeline->sinks, &pipeline->profile, &told);
	return shown;
}

static enum sink_finish compare(const struct pipeline *pipeline, const struct merge_shown *shown,
				uint32_t stack, uint32_t thread_name)
{
	if (shown->is_shown && shown->tables_serial == pipeline->tables_serial &&
	    shown->stack == stack && shown->thread_name == thread_name)
		return SINK_SAME;
	return SINK_CORRECTED;
}

static struct sink_process process_of(const struct ledger_entry *entry)
{
	return (struct sink_process){
		entry->pid,	   entry->exec_id,	  entry->start_ns,	 entry->name,
		entry->exe,	   entry->container_id,	  entry->cgroup,	 entry->jvm_version,
		entry->main_class, entry->container_name, entry->container_image
	};
}

static struct sink_sample sample_of(const struct profile *profile, const struct profile_sample *row,
				    const struct sink_process *process, uint64_t id)
{
	const struct profile_thread *thread = profile_get_thread(profile, row->thread);

	return (struct sink_sample){ .id = id,
				     .time_ns = row->time_ns,
				     .weight = row->weight,
				     .objects = row->objects,
				     .age = row->age,
				     .event = row->event,
				     .stack = row->stack,
				     .state = row->state,
				     .queued = row->queued,
				     .chance = row->chance,
				     .reason = profile_get_string(profile, row->reason),
				     .tid = thread->tid,
				     .java_tid = thread->java_tid,
				     .is_virtual = thread->is_virtual,
				     .thread = profile_get_string(profile, thread->name),
				     .process = process };
}

void pipeline_show_finished(struct pipeline *pipeline, const struct merge_item *item,
			    const struct ledger_entry *entry, const struct profile_sample *row)
{
	const struct profile_thread *thread = profile_get_thread(&pipeline->profile, row->thread);
	struct sink_process process = process_of(entry);
	struct sink_sample told = sample_of(&pipeline->profile, row, &process, item->shown.id);
	enum sink_finish finish = compare(pipeline, &item->shown, row->stack, thread->name);

	/* It was not known to be one. */
	if (!item->shown.is_shown && pipeline->sinks.hurry) {
		sinks_arrived(&pipeline->sinks, &pipeline->profile, &told);
		finish = SINK_SAME;
	}
	sinks_finished(&pipeline->sinks, &pipeline->profile, &told, finish);
}

void pipeline_show_live(struct pipeline *pipeline, const struct ledger_entry *entry, size_t first)
{
	struct sink_process process = process_of(entry);

	for (size_t i = first; i < pipeline->profile.samples.len; i++) {
		uint64_t id = pipeline->samples + ++pipeline->live_shown;
		struct sink_sample told = sample_of(
			&pipeline->profile, &pipeline->profile.samples.items[i], &process, id);

		sinks_arrived(&pipeline->sinks, &pipeline->profile, &told);
		sinks_finished(&pipeline->sinks, &pipeline->profile, &told, SINK_SAME);
	}
}

/* A JVM's threads are forks, too, and have no news of their own. */
void pipeline_show_side(struct pipeline *pipeline, const struct side_event *event)
{
	struct sink_process_event told = { .time_ns = event->time_ns,
					   .pid = event->pid,
					   .name = "" };

	if (event->kind == SIDE_FORK && event->pid != event->ppid) {
		told.life = SINK_STARTED;
		told.ppid = event->ppid;
	} else if (event->kind == SIDE_EXEC) {
		told.life = SINK_EXECED;
		told.name = event->name;
	} else if (event->kind == SIDE_EXIT && event->pid == event->tid) {
		told.life = SINK_EXITED;
	} else {
		return;
	}
	if (pipeline->sinks.hurry && told.life != SINK_EXITED)
		process_news_put(&pipeline->news, event->pid, event->time_ns, pipeline->applied_ns);
	sinks_process(&pipeline->sinks, &told);
}

void pipeline_show_loss(struct pipeline *pipeline, uint32_t pid, unsigned int event,
			enum wire_loss why, const struct ledger_loss *loss)
{
	bool is_known = event < pipeline->options->event_count;

	sinks_lost(
		&pipeline->sinks,
		&(struct sink_loss){ .event = is_known ? pipeline->options->events[event].name : "",
				     .reason = ledger_loss_id(why),
				     .pid = pid,
				     .samples = loss->count,
				     .weight = loss->weight });
}

int pipeline_show_end(struct pipeline *pipeline, struct err *err)
{
	struct capture_stats stats;
	struct sink_sums sums = { .samples = pipeline->ledger.samples + pipeline->live_shown,
				  .late_samples = pipeline->late_samples };

	capture_get_stats(pipeline->capture, &stats);
	sums.lost_samples =
		ledger_lost(&pipeline->ledger) + stats.counters[WIRE_COUNTER_LOST_UNKNOWN];
	return sinks_end(&pipeline->sinks, &pipeline->profile, &sums, err);
}
