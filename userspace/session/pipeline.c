/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline.h"

#include <errno.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/strbuf.h"

/*
 * How long a record is held back. Rings are drained every 50 ms; a JVM's Service Thread publishes
 * a compilation some milliseconds after its code first ran, on a loaded host some tens.
 */
#define HOLD_NS (300 * NSEC_PER_MSEC)
/* A sample does not wait longer for the symbols of its files. */
#define STALL_LIMIT_NS (3 * NSEC_PER_SEC)
/* An exited process is kept until every sample of its life has surely been handled. */
#define EXPIRE_NS (2 * NSEC_PER_SEC)
/* Beyond this much held back, order is given up rather than memory. */
#define QUEUE_LIMIT_BYTES (32ULL << 20)

int pipeline_init(struct pipeline *pipeline, struct capture *capture,
		  const struct capture_options *options, bool attach, int fd, struct err *err)
{
	int r;

	memset(pipeline, 0, sizeof(*pipeline));
	profile_init(&pipeline->profile);
	ledger_init(&pipeline->ledger);
	pipeline->capture = capture;
	pipeline->events = options->events;
	pipeline->event_count = options->event_count;
	r = worker_pool_new(1, &pipeline->pool, err);
	if (r == 0)
		r = registry_new(&pipeline->registry, err);
	if (r == 0)
		r = image_cache_new(pipeline->pool, &pipeline->images, err);
	if (r == 0)
		r = jvm_table_new(&pipeline->jvms, err);
	if (r == 0)
		r = symbolizer_new(pipeline->images, pipeline->jvms, &pipeline->symbolizer, err);
	if (r == 0)
		r = recording_writer_new(fd, &pipeline->writer, err);
	if (r == 0)
		r = agents_new(pipeline->registry, pipeline->jvms, capture, attach,
			       &pipeline->agents, err);
	return r;
}

void pipeline_release(struct pipeline *pipeline)
{
	/* Workers first: their jobs refer to everything else. */
	agents_free(pipeline->agents);
	worker_pool_free(pipeline->pool);
	recording_writer_free(pipeline->writer);
	symbolizer_free(pipeline->symbolizer);
	jvm_table_free(pipeline->jvms);
	image_cache_free(pipeline->images);
	registry_free(pipeline->registry);
	merge_release(&pipeline->queue);
	hmap_release(&pipeline->touched);
	ledger_release(&pipeline->ledger);
	profile_release(&pipeline->profile);
}

static void add_events(struct pipeline *pipeline)
{
	for (unsigned int i = 0; i < pipeline->event_count; i++) {
		const struct capture_event *event = &pipeline->events[i];
		struct profile_event row = {
			.name = profile_string(&pipeline->profile, event->name),
			.unit = profile_string(&pipeline->profile, event->unit),
			.period = event->period,
		};

		pipeline->event_ids[i] = profile_event(&pipeline->profile, &row);
	}
}

void pipeline_describe(struct pipeline *pipeline, const char *command_line)
{
	struct profile *profile = &pipeline->profile;
	struct utsname uts;

	profile->start_ns = clock_now_ns();
	profile->start_wall_ns = clock_wall_ns();
	profile->host = profile_string(profile, uname(&uts) == 0 ? uts.nodename : "");
	profile->command = profile_string(profile, command_line ? command_line : "");
	add_events(pipeline);
}

static void add_if_jvm(struct process *process, void *data)
{
	struct pipeline *pipeline = data;

	if (jvm_table_get(pipeline->jvms, process))
		agents_add(pipeline->agents, process);
}

int pipeline_snapshot(struct pipeline *pipeline, struct err *err)
{
	int r = registry_snapshot(pipeline->registry, err);

	if (r < 0)
		return r;
	registry_for_each(pipeline->registry, add_if_jvm, pipeline);
	return 0;
}

/* --- arrival ---------------------------------------------------------------------------------- */

static void touch_once(struct pipeline *pipeline, struct process *process)
{
	uint64_t seen;

	if (hmap_get(&pipeline->touched, process->serial, &seen) && seen == process->mappings.len)
		return;
	hmap_put(&pipeline->touched, process->serial, process->mappings.len);
	symbolizer_touch(pipeline->symbolizer, process);
}

/* A file that a process maps now may be gone in a moment: open it before anything else. */
static void arrive_side(const struct side_event *event, void *data)
{
	struct pipeline *pipeline = data;
	struct image_key key = { event->major, event->minor, event->inode,
				 event->inode_generation };

	if (event->kind == SIDE_MMAP && event->inode)
		image_cache_open(pipeline->images, &key, event->pid, event->addr,
				 event->addr + event->len, event->name);
	merge_push_side(&pipeline->queue, event);
}

static void arrive_sample(const struct wire_sample *sample, void *data)
{
	struct pipeline *pipeline = data;
	struct process *process = registry_find(pipeline->registry, sample->tgid);

	if (sample->event >= pipeline->event_count || sample->reason >= UNWIND_REASON_COUNT)
		return;
	pipeline->samples++;
	if (process)
		touch_once(pipeline, process);
	if (sample->time_ns < pipeline->applied_ns)
		pipeline->late_samples++;
	merge_push_sample(&pipeline->queue, sample);
}

/* --- in order --------------------------------------------------------------------------------- */

static bool is_libjvm(const char *path)
{
	const char *base = strrchr(path, '/');

	return strncmp(base ? base + 1 : path, "libjvm.so", 9) == 0;
}

static void forget(struct process *process, void *data)
{
	struct pipeline *pipeline = data;

	agents_forget(pipeline->agents, process);
	symbolizer_forget(pipeline->symbolizer, process);
	jvm_table_forget(pipeline->jvms, process);
	hmap_remove(&pipeline->touched, process->serial);
}

static void apply_mmap(struct pipeline *pipeline, const struct side_event *event)
{
	_cleanup_free_ char *path = xstrdup(event->name);
	struct mapping mapping = {
		.start = event->addr,
		.end = event->addr + event->len,
		.pgoff = event->pgoff,
		.key = { event->major, event->minor, event->inode, event->inode_generation },
		.path = path,
	};
	struct process *process;

	registry_mmap(pipeline->registry, event->time_ns, event->pid, &mapping);
	if (!is_libjvm(event->name))
		return;
	process = registry_find(pipeline->registry, event->pid);
	if (process && jvm_table_get(pipeline->jvms, process))
		agents_add(pipeline->agents, process);
}

static void apply_side(struct pipeline *pipeline, const struct side_event *event)
{
	struct process *process;

	switch (event->kind) {
	case SIDE_MMAP: apply_mmap(pipeline, event); break;
	case SIDE_COMM:
		registry_comm(pipeline->registry, event->time_ns, event->pid, event->tid,
			      event->name);
		break;
	case SIDE_EXEC:
		process = registry_find(pipeline->registry, event->pid);
		if (process)
			forget(process, pipeline);
		registry_exec(pipeline->registry, event->time_ns, event->pid, event->name);
		break;
	case SIDE_FORK:
		/* A new thread of a known process is no new process. */
		if (event->pid != event->ppid)
			registry_fork(pipeline->registry, event->time_ns, event->pid, event->ppid);
		break;
	case SIDE_EXIT:
		if (event->pid == event->tid)
			registry_exit(pipeline->registry, event->time_ns, event->pid);
		break;
	case SIDE_LOST:
		profile_add_counter(&pipeline->profile, "sideband.lost", "", event->lost);
		break;
	}
}

static const char *thread_name(struct pipeline *pipeline, struct process *process,
			       const struct wire_sample *sample, char comm[WIRE_COMM_LEN + 1],
			       uint64_t *ret_java_tid)
{
	struct jvm *jvm = jvm_table_get(pipeline->jvms, process);
	const char *name = NULL;

	*ret_java_tid = 0;
	if (jvm)
		name = jvm_thread_name(jvm, sample->tid, sample->time_ns, ret_java_tid);
	if (name && *name)
		return name;
	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	comm[WIRE_COMM_LEN] = '\0';
	return comm;
}

static struct ledger_entry *entry_of(struct pipeline *pipeline, struct process *process,
				     const struct wire_sample *sample)
{
	char comm[WIRE_COMM_LEN + 1] = { 0 };
	struct ledger_entry *entry;
	struct jvm *jvm;

	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	entry = ledger_get(&pipeline->ledger, sample->tgid, sample->exec_id, sample->start_ns,
			   process, comm);
	jvm = jvm_table_get(pipeline->jvms, process);
	if (jvm && entry->profile_id == PROFILE_NONE)
		ledger_entry_set_jvm(entry, jvm_version(jvm), jvm_main_class(jvm));
	return entry;
}

static void apply_sample(struct pipeline *pipeline, struct process *process,
			 const struct wire_sample *sample)
{
	struct ledger_entry *entry = entry_of(pipeline, process, sample);
	char comm[WIRE_COMM_LEN + 1];
	struct profile_sample row = {
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.count = 1,
		.event = pipeline->event_ids[sample->event],
		.state = sample->in_user ? STATE_RUNNING_USER : STATE_RUNNING_KERNEL,
	};
	uint64_t java_tid;
	const char *name = thread_name(pipeline, process, sample, comm, &java_tid);

	row.stack = symbolizer_stack(pipeline->symbolizer, &pipeline->profile, process, sample);
	row.thread = ledger_profile_thread(entry, &pipeline->profile, sample->tid, name, java_tid);
	profile_add(&pipeline->profile, &row);
	ledger_count_sample(&pipeline->ledger, entry, sample);
}

/* False: its files are still being read; try again later. */
static bool try_sample(struct pipeline *pipeline, const struct wire_sample *sample)
{
	struct process *process = registry_get(pipeline->registry, sample->tgid, sample->time_ns);
	uint64_t now_ns;

	touch_once(pipeline, process);
	if (!symbolizer_ready(pipeline->symbolizer, process, sample)) {
		now_ns = clock_now_ns();
		if (!pipeline->stalled_since_ns)
			pipeline->stalled_since_ns = now_ns;
		if (now_ns - pipeline->stalled_since_ns < STALL_LIMIT_NS)
			return false;
	}
	if (pipeline->stalled_since_ns)
		pipeline->stall_ns += clock_now_ns() - pipeline->stalled_since_ns;
	pipeline->stalled_since_ns = 0;
	apply_sample(pipeline, process, sample);
	return true;
}

/* Apply everything up to WATERMARK_NS; false when a sample must wait for its files. */
static bool apply_until(struct pipeline *pipeline, uint64_t watermark_ns)
{
	const struct merge_item *top;
	struct merge_item item;

	while ((top = merge_peek(&pipeline->queue)) && top->time_ns <= watermark_ns) {
		if (top->sample && !try_sample(pipeline, top->sample))
			return false;
		if (top->side)
			apply_side(pipeline, top->side);
		if (top->time_ns > pipeline->applied_ns)
			pipeline->applied_ns = top->time_ns;
		item = merge_pop(&pipeline->queue);
		merge_item_release(&item);
	}
	return true;
}

static void drain(struct pipeline *pipeline)
{
	const struct capture_handler handler = { arrive_sample, arrive_side, pipeline };

	capture_drain(pipeline->capture, &handler);
}

void pipeline_turn(struct pipeline *pipeline)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t watermark_ns = now_ns - HOLD_NS;

	drain(pipeline);
	worker_pool_reap(pipeline->pool);
	jvm_table_poll(pipeline->jvms);
	agents_poll(pipeline->agents);
	if (pipeline->queue.bytes > QUEUE_LIMIT_BYTES)
		watermark_ns = now_ns - HOLD_NS / 10;
	else if (agents_busy(pipeline->agents))
		return;
	apply_until(pipeline, watermark_ns);
	registry_expire(pipeline->registry, watermark_ns - EXPIRE_NS, forget, pipeline);
}

/* --- lost samples, flush, finish -------------------------------------------------------------- */

static void count_lost(const struct wire_lost_key *key, const struct wire_lost *lost, void *data)
{
	struct pipeline *pipeline = data;
	struct process *process = registry_find(pipeline->registry, key->tgid);
	struct ledger_entry *entry;
	char comm[WIRE_COMM_LEN + 1] = { 0 };

	if (key->event >= pipeline->event_count)
		return;
	memcpy(comm, lost->comm, WIRE_COMM_LEN);
	entry = ledger_get(&pipeline->ledger, key->tgid, key->exec_id, key->start_ns, process,
			   comm);
	entry->counts[key->event].lost += lost->count;
	entry->counts[key->event].lost_weight += lost->weight;
	pipeline->lost += lost->count;
}

/* A new chunk begins with empty tables; every cached id is void. */
static int rotate(struct pipeline *pipeline, struct err *err)
{
	struct profile *profile = &pipeline->profile;
	struct profile fresh;
	int r = recording_writer_rotate(pipeline->writer, profile, err);

	if (r < 0)
		return r;
	profile_init(&fresh);
	fresh.start_ns = profile->start_ns;
	fresh.start_wall_ns = profile->start_wall_ns;
	fresh.host = profile_string(&fresh, profile_get_string(profile, profile->host));
	fresh.command = profile_string(&fresh, profile_get_string(profile, profile->command));
	for (size_t i = 0; i < profile->counters.len; i++)
		profile_add_counter(&fresh,
				    profile_get_string(profile, profile->counters.items[i].name),
				    profile_get_string(profile, profile->counters.items[i].detail),
				    profile->counters.items[i].value);
	profile_release(profile);
	*profile = fresh;
	add_events(pipeline);
	symbolizer_reset_ids(pipeline->symbolizer);
	ledger_reset_ids(&pipeline->ledger);
	return 0;
}

int pipeline_flush(struct pipeline *pipeline, struct err *err)
{
	pipeline->profile.duration_ns = clock_now_ns() - pipeline->profile.start_ns;
	capture_take_lost(pipeline->capture, count_lost, pipeline);
	if (recording_writer_wants_rotation(pipeline->writer))
		return rotate(pipeline, err);
	return recording_writer_flush(pipeline->writer, &pipeline->profile, err);
}

static void count_failed_file(const char *path, const char *why, void *data)
{
	struct pipeline *pipeline = data;
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	strbuf_addf(&detail, "%s: %s", path, why);
	profile_add_counter(&pipeline->profile, "symbols.file-not-read", strbuf_str(&detail), 1);
}

static void count_failed_agent(uint32_t pid, const char *why, void *data)
{
	struct pipeline *pipeline = data;
	_cleanup_strbuf_ struct strbuf detail = STRBUF_INIT;

	strbuf_addf(&detail, "pid %u: %s", pid, why);
	profile_add_counter(&pipeline->profile, "jvm.no-agent", strbuf_str(&detail), 1);
}

static void write_figures(struct pipeline *pipeline)
{
	struct capture_stats stats;

	capture_get_stats(pipeline->capture, &stats);
	ledger_write(&pipeline->ledger, &pipeline->profile, pipeline->event_ids,
		     pipeline->event_count);
	image_cache_for_each_failed(pipeline->images, count_failed_file, pipeline);
	agents_for_each_failure(pipeline->agents, count_failed_agent, pipeline);
	if (stats.counters[WIRE_COUNTER_NESTED])
		profile_add_counter(&pipeline->profile, "samples.nested", "",
				    stats.counters[WIRE_COUNTER_NESTED]);
	if (pipeline->late_samples)
		profile_add_counter(&pipeline->profile, "samples.late", "", pipeline->late_samples);
}

int pipeline_finish(struct pipeline *pipeline, struct err *err)
{
	uint64_t end_ns = clock_now_ns();

	pipeline->profile.duration_ns = end_ns - pipeline->profile.start_ns;
	/* Code maps and symbols of the last samples are still on their way. */
	while (clock_now_ns() < end_ns + HOLD_NS || agents_busy(pipeline->agents)) {
		pipeline_turn(pipeline);
		usleep(20000);
	}
	drain(pipeline);
	while (!apply_until(pipeline, UINT64_MAX)) {
		worker_pool_reap(pipeline->pool);
		usleep(1000);
	}
	capture_take_lost(pipeline->capture, count_lost, pipeline);
	jvm_table_release_leases(pipeline->jvms);
	write_figures(pipeline);
	return recording_writer_finish(pipeline->writer, &pipeline->profile, err);
}
