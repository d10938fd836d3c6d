// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwinder.h"

#include <string.h>

#include "process/proc.h"
#include "unwind/unwinder_private.h"

/* Files whose rows are being asked for: those of a few large programs. */
#define MAX_OPEN_FILES 512
/* A read of a JVM's layout takes up to 2 ms, and samples that are finished late come in dozens. */
#define LATE_JVM_NS (20 * NSEC_PER_MSEC)
/* Sooner no method's place becomes another's: a class is redefined, what was on the stack returns, another one is redefined. */
#define PROMPT_NS (4 * NSEC_PER_MSEC)
/* No honest process is known that has so many mappings of code. Of those that have, lists take this much. */
#define LATE_MANY	   4096
#define LATE_CREDIT_SHARE  10
#define LATE_CREDIT_MAX_NS (100 * NSEC_PER_MSEC)

struct unwinder *unwinder_new(struct table_memory *memory, struct image_cache *images,
			      const struct unwind_jvm_source *jvms, size_t file_bytes)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->memory = memory;
	unwinder->files = unwind_files_new(images, MAX_OPEN_FILES, file_bytes);
	unwinder->spaces = unwind_spaces_new(memory, unwinder->files, &unwinder->live);
	unwinder->jvms = unwind_jvms_new(memory, jvms, &unwinder->live);
	unwinder->pages = unwind_pages_new();
	unwinder->rest = stack_rest_new();
	unwinder->exits = code_exits_new();
	unwinder->rows = row_store_new(memory);
	return unwinder;
}

void unwinder_set_room(struct unwinder *unwinder, size_t bytes)
{
	unwind_files_set_room(unwinder->files, bytes);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	unwind_spaces_free(unwinder->spaces);
	unwind_jvms_free(unwinder->jvms);
	unwind_pages_free(unwinder->pages);
	stack_rest_free(unwinder->rest);
	code_exits_free(unwinder->exits);
	live_processes_release(&unwinder->live);
	unwind_files_free(unwinder->files);
	row_store_free(unwinder->rows);
	unwind_ranges_release(&unwinder->late);
	vec_release(&unwinder->page.v);
	free(unwinder);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Is its first piece what the thread knows of frames that it puts in place? */
static bool has_array(const struct wire_miss *miss)
{
	return miss->unpacking && miss->unpacking != WIRE_MISS_UNKNOWN;
}

static struct walk_request request_of(const struct job *job, const struct wire_space *space,
				      const struct wire_jvm *jvm)
{
	const struct wire_miss *miss = job->miss;
	struct walk_request request = {
		.pc = miss->pc,
		.caller = !miss->leaf,
		.linked = miss->linked,
		.guessed = miss->guessed,
		.stack_top = miss->stack_top,
		.tls = miss->tls,
		.regs_kept = miss->regs_kept,
		.exact = miss->exact,
		.at_entry = miss->at_entry,
		.trampoline = miss->trampoline,
		.max_frames = job->max_frames,
		.jvm = jvm,
		.jvm_serial = jvm ? jvm->serial : space->jvm,
		.thread = miss->thread,
		.has_anchor = miss->thread != 0,
		.has_unpacking = miss->thread && miss->unpacking != WIRE_MISS_UNKNOWN,
		.has_heap = miss->heap_count > has_array(miss),
		.chunk = miss->unmounted ? miss->pc : 0,
		.serial = space->serial,
		.first = space->first,
		.count = space->count,
	};

	memcpy(request.regs, miss->regs, sizeof(request.regs));
	memcpy(request.anchor, miss->anchor, sizeof(request.anchor));
	return request;
}

static void count_frames(struct unwinder *unwinder)
{
	const struct unwind_cursor *c = &unwinder->walk.cursor;

#define WIRE_WALK_COUNTER(name, field, figure, text) unwinder->field += c->field;
#include "wire_counters.def"
}

/* JVM is NULL when there is none, or it is not known yet. */
static void begin(struct unwinder *unwinder, struct job *job, const struct wire_space *space,
		  const struct wire_jvm *jvm)
{
	struct walk_request request = request_of(job, space, jvm);
	struct walk_result *result = &unwinder->result;
	const struct wire_sample *sample = job->sample;

	unwind_pages_drop(unwinder->pages);
	stack_rest_drop(unwinder->rest);
	job->stack.miss = job->miss;
	job->stack.cursor = &unwinder->walk.cursor;
	job->stack.pages = unwinder->pages;
	job->stack.rest = unwinder->rest;
	job->stack.exits = unwinder->exits;
	job->stack.failed_at = &job->failed_at;
	job->memory = unwind_stack_memory(&job->stack, &job->tables);
	memcpy(result->words, sample->words + sample->kernel_frames,
	       sample->user_words * sizeof(result->words[0]));
	result->word_count = sample->user_words;
	result->frames = sample->user_frames;
	walk_begin(&unwinder->walk, &request, &job->memory, result);
}

/* Methods were read after the sample: is each the one that was on the stack then? */
static void mark_late(struct unwinder *unwinder, const struct job *job)
{
	struct walk_result *result = &unwinder->result;
	bool ended;

	if (!result->interpreted_count || clock_now_ns() - job->miss->time_ns < PROMPT_NS)
		return;
	unwind_pages_drop(unwinder->pages);
	ended = !proc_has_thread(job->miss->tgid, job->miss->tid);
	for (uint32_t i = 0; i < result->interpreted_count; i++) {
		const struct walk_interpreted *frame = &result->interpreted[i];
		uint64_t *words = result->words + frame->at;

		if (ended || !unwind_stack_still_has(&job->stack, frame->fp, words[1]))
			words[0] |= WIRE_FRAME_LATE;
	}
}

/* False: something that it wanted cannot be had; the result ends there. */
static bool go(struct unwinder *unwinder, struct job *job)
{
	const struct unwind_cursor *c = &unwinder->walk.cursor;
	struct walk_result *result = &unwinder->result;
	bool whole = true;

	while (whole && walk_go_on(&unwinder->walk))
		whole = unwinder_supply(unwinder, job);
	if (result->reason == UNWIND_PAGE && unwind_stack_ended(&job->stack))
		result->reason = UNWIND_COPY_END;
	if (c->far_blob && job->live)
		unwind_jvms_note_far(unwinder->jvms, &c->jvm, c->far_pc, c->far_blob);
	count_frames(unwinder);
	mark_late(unwinder, job);
	return whole;
}

static struct wire_sample *make_sample(const struct job *job, const struct walk_result *result)
{
	const struct wire_sample *from = job->sample;
	size_t kernel_bytes = from->kernel_frames * sizeof(from->words[0]);
	size_t user_bytes = result->word_count * sizeof(from->words[0]);
	size_t name_bytes = WIRE_NAME_WORDS(from->name_bytes) * sizeof(from->words[0]);
	size_t size = sizeof(*from) + kernel_bytes + user_bytes + name_bytes;
	struct wire_sample *sample = xmalloc(size);

	memcpy(sample, from, sizeof(*sample) + kernel_bytes);
	memcpy(sample->words + from->kernel_frames, result->words, user_bytes);
	memcpy(sample->words + from->kernel_frames + result->word_count,
	       from->words + from->kernel_frames + from->user_words, name_bytes);
	sample->size = (uint32_t)size;
	sample->user_words = (uint16_t)result->word_count;
	sample->user_frames = (uint16_t)result->frames;
	sample->reason = (uint8_t)result->reason;
	sample->flags &= (uint8_t)~WIRE_SAMPLE_RESUMED;
	return sample;
}

/* The process runs another program since the sample. */
static bool is_older(const struct unwinder *unwinder, const struct wire_sample *sample)
{
	return live_processes_execed_since(&unwinder->live, sample->tgid, sample->time_ns);
}

/* --- at once ---------------------------------------------------------------------------------- */

static void drop_revived(struct unwinder *unwinder)
{
	uint32_t file;

	while ((file = unwind_files_take_revived(unwinder->files)))
		row_store_drop_file(unwinder->rows, file, clock_now_ns());
}

static void look_at_warmed(struct unwinder *unwinder)
{
	uint32_t pid;

	while ((pid = unwind_files_take_warmed(unwinder->files)))
		unwind_spaces_note_warmed(unwinder->spaces, pid);
}

static bool take_space(struct unwinder *unwinder, struct job *job, struct wire_space *ret_space)
{
	if (unwind_spaces_get(unwinder->spaces, job->sample, ret_space) == 0)
		return true;
	if (unwind_spaces_read(unwinder->spaces, job->miss, job->sample, clock_now_ns()) < 0)
		return false;
	job->read = true;
	drop_revived(unwinder);
	return unwind_spaces_get(unwinder->spaces, job->sample, ret_space) == 0;
}

static bool try_live(struct unwinder *unwinder, struct job *job)
{
	struct wire_space space;

	if (!take_space(unwinder, job, &space))
		return false;
	row_store_tables(unwinder->rows, &job->tables);
	job->tables.ranges = unwinder->memory->ranges;
	job->tables.range_count = unwinder->memory->range_count;
	begin(unwinder, job, &space, unwind_jvms_find(unwinder->jvms, space.jvm));
	return go(unwinder, job);
}

struct wire_sample *unwinder_try(struct unwinder *unwinder, const struct wire_miss *miss,
				 const struct wire_sample *sample, uint32_t max_frames)
{
	struct job job = { .miss = miss,
			   .sample = sample,
			   .max_frames = max_frames,
			   .live = true,
			   .stack.alive = !is_older(unwinder, sample),
			   .begin_ns = clock_now_ns() };
	struct wire_sample *finished = NULL;

	unwinder->wants_again = unwinder_is_busy(unwinder);
	if (unwinder->wants_again)
		return NULL;
	if (try_live(unwinder, &job)) {
		finished = make_sample(&job, &unwinder->result);
		unwinder->at_once++;
	}
	unwinder->spent_ns += clock_now_ns() - job.begin_ns;
	unwinder->wants_again = !finished && (job.waits || unwinder_is_busy(unwinder));
	return finished;
}

bool unwinder_wants_again(const struct unwinder *unwinder)
{
	return unwinder->wants_again;
}

bool unwinder_waits_for_jvm(const struct unwinder *unwinder, const struct wire_sample *sample)
{
	return unwind_jvms_pauses(unwinder->jvms, sample->tgid, clock_now_ns());
}

/* --- later ------------------------------------------------------------------------------------ */

/* Making the list of 20,000 mappings takes 10 ms. */
static bool may_take(struct unwinder *unwinder, const struct process *process, uint64_t now_ns)
{
	uint64_t earned_ns = (now_ns - unwinder->late_credited_ns) / LATE_CREDIT_SHARE;

	unwinder->late_credited_ns = now_ns;
	unwinder->late_credit_ns =
		MIN(unwinder->late_credit_ns + (int64_t)MIN(earned_ns, LATE_CREDIT_MAX_NS),
		    (int64_t)LATE_CREDIT_MAX_NS);
	return process->mappings.len <= LATE_MANY || unwinder->late_credit_ns > 0;
}

static void take_process(struct unwinder *unwinder, const struct process *process)
{
	const uint64_t delays = unwind_files_delays(unwinder->files);
	uint64_t now_ns;

	if (unwinder->late_serial == process->serial &&
	    unwinder->late_mappings_serial == process->mappings_serial)
		return;
	now_ns = clock_now_ns();
	unwinder->late_serial = 0;
	unwinder->late.v.len = 0;
	unwinder->late.libjvm.start = unwinder->late.libjvm.end = 0;
	if (!may_take(unwinder, process, now_ns))
		return;
	unwind_ranges_of_process(&unwinder->late, unwinder->files, process);
	if (process->mappings.len > LATE_MANY)
		unwinder->late_credit_ns -= (int64_t)(clock_now_ns() - now_ns);
	drop_revived(unwinder);
	for (size_t i = 0; i < unwinder->late.v.len; i++)
		unwinder->late.v.items[i].serial = 1;
	unwinder->late_jvm_ns = 0;
	/* A list without such a file is not the last word. */
	if (unwind_files_delays(unwinder->files) != delays)
		return;
	unwinder->late_serial = process->serial;
	unwinder->late_mappings_serial = process->mappings_serial;
}

/*
 * Of the process that take_process() took. NULL: it has none, or nothing was learnt of it while it
 * lived.
 */
static const struct wire_jvm *take_jvm(struct unwinder *unwinder, const struct process *process)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - unwinder->late_jvm_ns >= LATE_JVM_NS) {
		unwinder->late_jvm_ns = now_ns;
		if (unwind_jvms_read(unwinder->jvms, process->pid, &unwinder->late.libjvm,
				     &unwinder->late_jvm) < 0)
			unwinder->late_jvm.serial = 0;
	}
	return unwinder->late_jvm.serial ? &unwinder->late_jvm : NULL;
}

/* False: it MAY_WAIT, and a slow disk has what it wants. */
static bool finish_late(struct unwinder *unwinder, struct job *job, const struct process *process,
			bool may_wait)
{
	const uint64_t delays = unwind_files_delays(unwinder->files);
	struct wire_space space = { .serial = 1 };
	bool whole;

	take_process(unwinder, process);
	space.count = (uint32_t)unwinder->late.v.len;
	row_store_tables(unwinder->rows, &job->tables);
	job->tables.ranges = unwinder->late.v.items;
	job->tables.range_count = space.count;
	begin(unwinder, job, &space, take_jvm(unwinder, process));
	whole = go(unwinder, job);
	if (may_wait && unwinder->result.reason == UNWIND_NO_ROWS &&
	    unwind_files_delays(unwinder->files) != delays)
		return false;
	if (!whole)
		unwinder->unfinished++;
	else
		unwinder->late_count++;
	return true;
}

/* The pid is that of the sample, and so is the program as far as we have heard. */
static bool is_still_there(const struct unwinder *unwinder, const struct wire_sample *sample,
			   const struct process *process)
{
	struct proc_stat stat;

	return !process->exited && !is_older(unwinder, sample) &&
	       proc_read_stat(sample->tgid, &stat) == 0 && stat.start_ns <= sample->time_ns;
}

struct wire_sample *unwinder_finish(struct unwinder *unwinder, const struct wire_miss *miss,
				    const struct wire_sample *sample, struct process *process,
				    uint32_t max_frames, bool may_wait)
{
	struct job job = { .miss = miss,
			   .sample = sample,
			   .max_frames = max_frames,
			   .stack.alive = is_still_there(unwinder, sample, process) };
	uint64_t begin_ns = clock_now_ns();
	bool finished;

	finished = finish_late(unwinder, &job, process, may_wait);
	unwinder->spent_ns += clock_now_ns() - begin_ns;
	return finished ? make_sample(&job, &unwinder->result) : NULL;
}

void unwinder_learn_jvm(struct unwinder *unwinder, const struct wire_process *process)
{
	const struct wire_sample of = { .tgid = process->tgid,
					.exec_id = process->exec_id,
					.start_ns = process->start_ns };
	const struct mapping *libjvm;
	const struct wire_jvm *jvm;

	if (unwind_spaces_learn(unwinder->spaces, &of, clock_now_ns()) < 0)
		return;
	drop_revived(unwinder);
	libjvm = unwind_spaces_libjvm(unwinder->spaces, &of);
	if (libjvm && unwind_jvms_learn(unwinder->jvms, of.tgid, libjvm, clock_now_ns(), &jvm) == 0)
		unwind_spaces_set_jvm(unwinder->spaces, &of, jvm->serial);
}

const struct mapping *unwinder_libjvm(const struct unwinder *unwinder,
				      const struct wire_sample *sample)
{
	return unwind_spaces_libjvm(unwinder->spaces, sample);
}

/* --- news ------------------------------------------------------------------------------------- */

bool unwinder_is_busy(const struct unwinder *unwinder)
{
	return unwinder->spent_ns > BUDGET_NS;
}

void unwinder_grant(struct unwinder *unwinder)
{
	unwinder->spent_ns = 0;
}

void unwinder_note_mapping(struct unwinder *unwinder, uint32_t pid, const struct mapping *mapping)
{
	unwind_spaces_note_mapping(unwinder->spaces, pid, mapping, clock_now_ns());
}

void unwinder_note_stale(struct unwinder *unwinder, const struct wire_sample *sample)
{
	unwind_spaces_note_differs(unwinder->spaces, sample->tgid, sample->time_ns);
}

static void forget(struct unwinder *unwinder, uint32_t pid)
{
	unwind_spaces_forget(unwinder->spaces, pid, clock_now_ns());
	unwind_jvms_forget(unwinder->jvms, pid);
}

void unwinder_note_exec(struct unwinder *unwinder, uint32_t pid, uint64_t time_ns)
{
	forget(unwinder, pid);
	live_processes_note_exec(&unwinder->live, pid, time_ns);
}

void unwinder_note_exit(struct unwinder *unwinder, uint32_t pid)
{
	forget(unwinder, pid);
	live_processes_note_exit(&unwinder->live, pid);
}

void unwinder_tidy(struct unwinder *unwinder, uint64_t now_ns)
{
	unwind_files_close_idle(unwinder->files);
	live_processes_tidy(&unwinder->live, now_ns);
}

static bool has_file(uint32_t number, const void *data)
{
	return unwind_files_has(data, number);
}

/*
 * What is not published any more may be wanted by the list that was made last; that is made anew. Who maps such a file again
 * has another number for it: nobody finds its rows.
 */
static void evict_files(struct unwinder *unwinder)
{
	if (!unwind_files_are_many(unwinder->files))
		return;
	unwind_spaces_mark_files(unwinder->spaces);
	if (!unwind_files_evict(unwinder->files))
		return;
	unwinder->late_serial = 0;
	row_store_drop_others(unwinder->rows, has_file, unwinder->files, clock_now_ns());
}

void unwinder_turn(struct unwinder *unwinder, uint64_t now_ns)
{
	unwinder_grant(unwinder);
	look_at_warmed(unwinder);
	unwind_spaces_turn(unwinder->spaces, now_ns);
	unwind_jvms_turn(unwinder->jvms, now_ns);
	drop_revived(unwinder);
	evict_files(unwinder);
}
