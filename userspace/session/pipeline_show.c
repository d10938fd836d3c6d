/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that hurries gets a sample before its turn: the registry, the symbols and the code maps are
 * those of now and not yet those of its time, since side-band is applied in order. What that changes
 * is found out when its turn comes, and told.
 */
#include "session/pipeline_show.h"

#include "base/clock.h"

const char *pipeline_thread_name(struct pipeline *pipeline, struct process *process,
				 const struct wire_sample *sample, char comm[WIRE_COMM_LEN + 1],
				 uint64_t *ret_java_tid)
{
	struct jvm *jvm = process ? jvm_table_get(pipeline->jvms, process) : NULL;
	const char *name = NULL;

	if (jvm)
		name = jvm_thread_name(jvm, sample->tid, sample->time_ns, ret_java_tid);
	if (name && *name)
		return name;
	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	comm[WIRE_COMM_LEN] = '\0';
	return comm;
}

/* Those that are applied go by the lot: memory is bounded by what the queue holds back. */
static void put_news(struct pipeline *pipeline, uint32_t pid, uint64_t time_ns)
{
	struct pipeline_news *news = &pipeline->news;
	struct hmap empty = news->older;

	if (news->older_newest_ns <= pipeline->applied_ns) {
		news->older = news->recent;
		news->older_newest_ns = news->newest_ns;
		hmap_clear(&empty);
		news->recent = empty;
	}
	hmap_put(&news->recent, pid, time_ns);
	news->newest_ns = MAX(news->newest_ns, time_ns);
}

/* Does a fork or an exec of PID, from before TIME_NS, wait in the queue? */
static bool has_news(const struct pipeline *pipeline, uint32_t pid, uint64_t time_ns)
{
	const struct pipeline_news *news = &pipeline->news;
	uint64_t news_ns;

	if (!hmap_get(&news->recent, pid, &news_ns) && !hmap_get(&news->older, pid, &news_ns))
		return false;
	return news_ns > pipeline->applied_ns && news_ns <= time_ns;
}

struct merge_shown pipeline_show_arrival(struct pipeline *pipeline, struct process *process,
					 const struct wire_sample *sample)
{
	struct profile *profile = &pipeline->profile;
	struct merge_shown shown = { .id = pipeline->samples,
				     .tables_serial = pipeline->tables_serial };
	char comm[WIRE_COMM_LEN + 1];
	struct sink_process known = { sample->tgid, sample->exec_id, sample->start_ns, comm,
				      "",	    "",		     "",	       "", "" };
	struct sink_sample told = { .id = shown.id,
				    .time_ns = sample->time_ns,
				    .weight = sample->weight,
				    .event = pipeline->event_ids[sample->event],
				    .state = sample->in_user ? STATE_RUNNING_USER :
							       STATE_RUNNING_KERNEL,
				    .tid = sample->tid,
				    .process = &known };
	uint64_t java_tid = 0;

	if (!sinks_hurry(&pipeline->sinks))
		return shown;
	if (process && has_news(pipeline, sample->tgid, sample->time_ns))
		process = NULL;
	told.thread = pipeline_thread_name(pipeline, process, sample, comm, &java_tid);
	told.java_tid = (uint32_t)java_tid;
	shown.thread_name = profile_string(profile, told.thread);
	told.thread = profile_get_string(profile, shown.thread_name);
	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	comm[WIRE_COMM_LEN] = '\0';
	if (process && process->comm[0])
		known.name = process->comm;
	shown.stack = told.stack =
		symbolizer_stack_now(pipeline->symbolizer, profile, process, sample);
	shown.is_shown = true;
	sinks_arrived(&pipeline->sinks, profile, &told);
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

void pipeline_show_finished(struct pipeline *pipeline, const struct merge_item *item,
			    const struct ledger_entry *entry, const struct profile_sample *row)
{
	const struct profile_thread *thread = profile_get_thread(&pipeline->profile, row->thread);
	struct sink_process process = { entry->pid,	    entry->exec_id,	 entry->start_ns,
					entry->name,	    entry->exe,		 entry->container_id,
					entry->cgroup,	    entry->jvm_version, entry->main_class };
	struct sink_sample told = { .id = item->shown.id,
				    .time_ns = row->time_ns,
				    .weight = row->weight,
				    .event = row->event,
				    .stack = row->stack,
				    .state = row->state,
				    .tid = thread->tid,
				    .java_tid = thread->java_tid,
				    .thread = profile_get_string(&pipeline->profile, thread->name),
				    .process = &process };

	sinks_finished(&pipeline->sinks, &pipeline->profile, &told,
		       compare(pipeline, &item->shown, row->stack, thread->name));
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
	if (sinks_hurry(&pipeline->sinks) && told.life != SINK_EXITED)
		put_news(pipeline, event->pid, event->time_ns);
	sinks_process(&pipeline->sinks, &told);
}

void pipeline_show_loss(struct pipeline *pipeline, uint32_t pid, unsigned int event,
			enum wire_loss why, const struct ledger_loss *loss)
{
	bool is_known = event < pipeline->options->event_count;

	sinks_lost(&pipeline->sinks,
		   &(struct sink_loss){
			   .event = is_known ? pipeline->options->events[event].name : "",
			   .reason = ledger_loss_id(why),
			   .pid = pid,
			   .samples = loss->count,
			   .weight = loss->weight });
}

int pipeline_show_end(struct pipeline *pipeline, struct err *err)
{
	struct capture_stats stats;
	struct sink_sums sums = { .samples = pipeline->ledger.samples,
				  .late_samples = pipeline->late_samples };

	capture_get_stats(pipeline->capture, &stats);
	sums.lost_samples = ledger_lost(&pipeline->ledger) +
			    stats.counters[WIRE_COUNTER_LOST_UNKNOWN];
	return sinks_end(&pipeline->sinks, &pipeline->profile, &sums, err);
}
