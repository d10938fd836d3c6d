/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_books.h"

#include "base/clock.h"
#include "jvm/layout/libjvm.h"
#include "session/pipeline_apply.h"
#include "session/pipeline_malloc.h"
#include "session/pipeline_outside.h"

/*
 * What twenty JVMs map, and their layouts, if it is they who are recorded; of a host's JVMs the first ten or so: a recording is to begin soon. Of others
 * it is read when their samples want it.
 */
#define LEARN_NS      (200 * NSEC_PER_MSEC)
#define LEARN_HOST_NS (30 * NSEC_PER_MSEC)

struct mapping pipeline_books_mapping(const struct side_event *event, char *path)
{
	return (struct mapping){
		.start = event->addr,
		.end = event->addr + event->len,
		.pgoff = event->pgoff,
		.key = { event->major, event->minor, event->inode, event->inode_generation },
		.path = path,
	};
}

/* --- files: one that a process maps may be gone in a moment ----------------------------------- */

static bool is_named(const struct capture_options *options, uint32_t pid)
{
	for (unsigned int i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return true;
	return false;
}

/* Some processes, and nobody else: of what others map, and there may be thousands of them, nothing is asked. */
static bool is_sampled(const struct capture_options *options, uint32_t pid)
{
	return !options->pid_count || options->follow_children || is_named(options, pid);
}

static void open_file(struct pipeline *pipeline, const struct side_event *event)
{
	const struct mapping mapping = pipeline_books_mapping(event, NULL);

	if (event->inode && is_sampled(pipeline->options, event->pid))
		image_cache_note(pipeline->images, &mapping.key, event->pid, mapping.start,
				 mapping.end, event->name);
}

/* --- the unwinder's tables -------------------------------------------------------------------- */

static void unwinder_maps(struct pipeline *pipeline, const struct side_event *event)
{
	_cleanup_free_ char *path = xstrdup(event->name);
	struct mapping mapping = pipeline_books_mapping(event, path);

	unwinder_note_mapping(pipeline->unwinder, event->pid, &mapping);
}

static void unwinder_execs(struct pipeline *pipeline, const struct side_event *event)
{
	unwinder_note_exec(pipeline->unwinder, event->pid, event->time_ns);
}

static void unwinder_exits(struct pipeline *pipeline, const struct side_event *event)
{
	if (event->pid == event->tid)
		unwinder_note_exit(pipeline->unwinder, event->pid);
}

/* --- samples that are held back --------------------------------------------------------------- */

static void keep_walks(struct pipeline *pipeline, const struct side_event *event)
{
	merge_keep_process_for_later(&pipeline->queue, event->pid);
}

/* --- the registry ----------------------------------------------------------------------------- */

/* The child inherits its exe and its cgroup. */
static void complete_parent(struct pipeline *pipeline, const struct side_event *event)
{
	(void)registry_find_complete(pipeline->registry, event->ppid);
}

static void registry_maps(struct pipeline *pipeline, const struct side_event *event)
{
	_cleanup_free_ char *path = xstrdup(event->name);
	struct mapping mapping = pipeline_books_mapping(event, path);

	registry_mmap(pipeline->registry, event->time_ns, event->pid, &mapping);
}

static void registry_renames(struct pipeline *pipeline, const struct side_event *event)
{
	registry_comm(pipeline->registry, event->pid, event->tid, event->name);
}

static void registry_execs(struct pipeline *pipeline, const struct side_event *event)
{
	struct process *process = registry_find(pipeline->registry, event->pid);

	if (process)
		pipeline_books_forget(process, pipeline);
	registry_exec(pipeline->registry, event->time_ns, event->pid, event->name);
}

/* A new thread of a known process is no new process. */
static void registry_forks(struct pipeline *pipeline, const struct side_event *event)
{
	if (event->pid != event->ppid)
		registry_fork(pipeline->registry, event->time_ns, event->pid, event->ppid);
}

static void registry_exits(struct pipeline *pipeline, const struct side_event *event)
{
	if (event->pid == event->tid)
		registry_exit(pipeline->registry, event->time_ns, event->pid);
}

static void registry_loses(struct pipeline *pipeline, const struct side_event *event)
{
	if (event->lost)
		profile_add_counter(&pipeline->profile, "sideband.lost", "", event->lost);
	registry_note_loss(pipeline->registry);
}

/* --- agents, names, accounts, JVMs ------------------------------------------------------------ */

void pipeline_books_add_agent(struct process *process, void *data)
{
	struct pipeline *pipeline = data;

	if (jvm_table_get(pipeline->jvms, process))
		pipeline_add_jvm(pipeline, process);
}

struct learning {
	struct pipeline *pipeline;
	uint64_t until_ns;
};

static void learn_jvm(struct process *process, void *data)
{
	const struct learning *learning = data;
	struct capture *capture = learning->pipeline->capture;
	const char *cgroup = process->cgroup ? process->cgroup : "";
	struct wire_process found;

	if (libjvm_find_mapping(process) && capture_is_target(capture, process->pid, cgroup) &&
	    clock_now_ns() < learning->until_ns &&
	    capture_find_process(capture, process->pid, &found) == 0)
		unwinder_learn_jvm(learning->pipeline->unwinder, &found);
}

void pipeline_books_learn_jvms(struct pipeline *pipeline)
{
	uint64_t most_ns = pipeline->options->pid_count ? LEARN_NS : LEARN_HOST_NS;
	struct learning learning = { pipeline, clock_now_ns() + most_ns };

	registry_for_each(pipeline->registry, learn_jvm, &learning);
}

static void add_agent(struct pipeline *pipeline, const struct side_event *event)
{
	struct process *process;

	if (!libjvm_is_path(event->name, strlen(event->name)))
		return;
	process = registry_find(pipeline->registry, event->pid);
	if (process)
		pipeline_books_add_agent(process, pipeline);
}

static void forget_agent(struct pipeline *pipeline, struct process *process)
{
	agents_forget(pipeline->agents, process);
	pipeline_outside_forget(pipeline, process);
	if (pipeline->samples_allocations || pipeline->samples_locks || pipeline->samples_waits ||
	    pipeline->outside_interval || pipeline->malloc.is_on || pipeline->phases.wanted)
		capture_drop_places(pipeline->capture, process->pid, process->serial);
}

static void forget_names(struct pipeline *pipeline, struct process *process)
{
	symbolizer_forget(pipeline->symbolizer, process);
}

static void forget_account(struct pipeline *pipeline, struct process *process)
{
	ledger_forget(&pipeline->ledger, process);
}

static void jvm_thread_begins(struct pipeline *pipeline, const struct side_event *event)
{
	jvm_table_note_thread(pipeline->jvms, event->pid, event->tid, true, event->time_ns);
}

static void jvm_thread_renames(struct pipeline *pipeline, const struct side_event *event)
{
	jvm_table_note_thread(pipeline->jvms, event->pid, event->tid, false, event->time_ns);
}

static void jvm_threads_lose(struct pipeline *pipeline, const struct side_event *event)
{
	jvm_table_note_loss(pipeline->jvms, event->time_ns);
}

static void forget_jvm(struct pipeline *pipeline, struct process *process)
{
	jvm_table_forget(pipeline->jvms, process);
	live_objects_forget(&pipeline->live, process->serial);
	pipeline_malloc_forget(pipeline, process);
}

/* --- the list --------------------------------------------------------------------------------- */

typedef void (*hear_fn)(struct pipeline *pipeline, const struct side_event *event);

/* From top to bottom; what a later one does may rely on what the earlier ones have done. */
static const struct {
	const char *name;
	hear_fn now[SIDE_KINDS], in_order[SIDE_KINDS];
	/* In order, too: a generation has ended, by exec or because nothing of it can come any more. */
	void (*forget)(struct pipeline *pipeline, struct process *process);
} books[] = {
	{ .name = "files", .now = { [SIDE_MMAP] = open_file } },
	{ .name = "unwinder",
	  .now = { [SIDE_MMAP] = unwinder_maps,
		   [SIDE_EXEC] = unwinder_execs,
		   [SIDE_EXIT] = unwinder_exits } },
	{ .name = "walks", .now = { [SIDE_EXEC] = keep_walks } },
	{ .name = "registry",
	  .now = { [SIDE_FORK] = complete_parent },
	  .in_order = { [SIDE_MMAP] = registry_maps,
			[SIDE_COMM] = registry_renames,
			[SIDE_EXEC] = registry_execs,
			[SIDE_FORK] = registry_forks,
			[SIDE_EXIT] = registry_exits,
			[SIDE_LOST] = registry_loses } },
	{ .name = "agents", .in_order = { [SIDE_MMAP] = add_agent }, .forget = forget_agent },
	{ .name = "memory",
	  .now = { [SIDE_MMAP] = pipeline_malloc_maps_now },
	  .in_order = { [SIDE_MMAP] = pipeline_malloc_maps } },
	{ .name = "names", .forget = forget_names },
	{ .name = "ledger", .forget = forget_account },
	{ .name = "jvms",
	  .now = { [SIDE_FORK] = jvm_thread_begins,
		   [SIDE_COMM] = jvm_thread_renames,
		   [SIDE_LOST] = jvm_threads_lose },
	  .forget = forget_jvm },
};

void pipeline_books_now(struct pipeline *pipeline, const struct side_event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(books); i++)
		if (books[i].now[event->kind])
			books[i].now[event->kind](pipeline, event);
}

void pipeline_books_in_order(struct pipeline *pipeline, const struct side_event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(books); i++)
		if (books[i].in_order[event->kind])
			books[i].in_order[event->kind](pipeline, event);
}

void pipeline_books_forget(struct process *process, void *data)
{
	struct pipeline *pipeline = data;

	for (size_t i = 0; i < ARRAY_SIZE(books); i++)
		if (books[i].forget)
			books[i].forget(pipeline, process);
}
