/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_arrive.h"

#include "base/clock.h"
#include "session/alloc/alloc_weight.h"
#include "session/pipeline_apply.h"
#include "session/pipeline_books.h"
#include "session/pipeline_locks.h"
#include "session/pipeline_malloc.h"
#include "session/pipeline_show.h"
#include "session/pipeline_spans.h"
#include "symbolize/words/sample_words.h"

/* What the sample weighs is known. */
#define SEEN_OUTSIDE (WIRE_SAMPLE_NEW_TLAB | WIRE_SAMPLE_OUTSIDE_TLAB)

/* A miss and its sample are sent in one go; not together only when the sample was lost. */
#define ORPHAN_NS NSEC_PER_SEC
/* After a wait of this length names are read again. */
#define REREAD_NS NSEC_PER_SEC

static void arrive_side(const struct side_event *event, void *data)
{
	struct pipeline *pipeline = data;

	pipeline->arrived++;
	pipeline_books_now(pipeline, event);
	pipeline_show_side(pipeline, event);
	merge_push_side(&pipeline->queue, event);
}

static void arrive_miss(const struct wire_miss *miss, void *data)
{
	struct pipeline *pipeline = data;

	miss_join_put(&pipeline->misses, miss);
}

/* The walk of SAMPLE, finished by the mappings of now; NULL: not now. */
static struct wire_sample *try_now(struct pipeline *pipeline, const struct wire_miss *miss,
				   const struct wire_sample *sample)
{
	return unwinder_try(pipeline->unwinder, miss, sample, pipeline->options->max_depth);
}

/*
 * MISS is to be held until its walk can be finished; where there is no room for it the stack ends as BPF has left it. Not as soon as the
 * queue is full: samples are applied early then, and the walk of each that goes is finished first.
 */
static void hold_miss(struct pipeline *pipeline, struct wire_miss **miss)
{
	if (!*miss || !pipeline_queue_overflows(pipeline))
		return;
	free(TAKE_PTR(*miss));
	pipeline->misses_no_room++;
}

/* Later the class may be unloaded. */
static void read_class(struct pipeline *pipeline, struct process *process,
		       const struct wire_sample *sample)
{
	struct jvm *jvm = NULL;

	if (process && wire_sample_has_klass(sample) &&
	    sample->alloc_class > WIRE_PARKED_FOR_NOTHING)
		jvm = jvm_table_get(pipeline->jvms, process);
	if (jvm)
		jvm_read_class(jvm, sample->alloc_class, sample->time_ns);
}

/* The files and names that SAMPLE needs are opened and read now. */
static void read_early(struct pipeline *pipeline, struct process *process,
		       const struct wire_sample *sample)
{
	struct jvm *jvm;

	read_class(pipeline, process, sample);
	if (symbolizer_arrive(pipeline->symbolizer, process, sample)) {
		jvm = process ? jvm_table_get(pipeline->jvms, process) : NULL;
	} else {
		jvm = pipeline_new_jvm(pipeline, sample);
		if (jvm)
			symbolizer_read_names(jvm, sample);
	}
	/* A virtual thread's name came with the sample. */
	if (jvm && !sample->virtual_id)
		jvm_note_thread(jvm, sample->tid, sample_words_need_names(sample), sample->time_ns);
}

/* What turns out later to be none cannot be taken back. */
static bool may_be_shown(const struct pipeline *pipeline, struct process *process,
			 const struct wire_sample *sample, const struct wire_miss *miss)
{
	if (pipeline_is_native_lock(pipeline, sample))
		return false;
	if (!(sample->flags & WIRE_SAMPLE_NATIVE))
		return true;
	return !miss && process && !pipeline_malloc_hides(pipeline, process, sample);
}

static void push_sample(struct pipeline *pipeline, const struct wire_sample *sample,
			struct process *process, struct wire_miss *miss, bool again,
			const struct merge_wait *wait)
{
	uint64_t place_ns = sample->time_ns + (wait ? wait->length_ns : 0);
	struct merge_shown shown = { 0 };

	/* Who wakes another thread: it becomes a part of that one's sample. */
	if (sample->waker) {
		merge_push_sample(&pipeline->queue, sample, miss, again);
		return;
	}
	shown.id = ++pipeline->samples;
	if (place_ns < pipeline->applied_ns)
		pipeline->late_samples++;
	if (pipeline->sinks.hurry && may_be_shown(pipeline, process, sample, miss))
		shown = pipeline_show_arrival(pipeline, process, sample, wait);
	merge_push_wait(&pipeline->queue, sample, miss, again, wait)->shown = shown;
}

/* RAW as it counts: weighed, and with who had the lock; NULL: it is as it came. */
static struct wire_sample *complete(struct pipeline *pipeline, struct process *process,
				    const struct wire_sample *raw)
{
	bool is_weighed = !raw->alloc_size || raw->flags & (SEEN_OUTSIDE | WIRE_SAMPLE_WEIGHED);
	struct wire_sample *sample;

	if (is_weighed && !raw->lock_owner)
		return NULL;
	sample = xmemdup(raw, raw->size);
	if (!is_weighed)
		sample->weight = alloc_weight_bytes(raw->alloc_size, raw->alloc_interval);
	sample->lock_owner = pipeline_locks_find(pipeline, process, raw);
	return sample;
}

static void queue_walked(struct pipeline *pipeline, const struct wire_sample *raw,
			 struct process *process, struct wire_miss *left)
{
	_cleanup_free_ struct wire_miss *miss = left;
	_cleanup_free_ struct wire_sample *finished = miss ? try_now(pipeline, miss, raw) : NULL;
	_cleanup_free_ struct wire_sample *completed = NULL;
	const struct wire_sample *sample = finished ? finished : raw;
	bool again;

	if (finished)
		free(TAKE_PTR(miss));
	hold_miss(pipeline, &miss);
	again = miss && unwinder_wants_again(pipeline->unwinder);
	completed = complete(pipeline, process, sample);
	if (completed)
		sample = completed;
	read_early(pipeline, process, sample);
	if (sample->flags & WIRE_SAMPLE_OPEN)
		pipeline_spans_hold(pipeline, xmemdup(sample, sample->size), TAKE_PTR(miss));
	else
		push_sample(pipeline, sample, process, TAKE_PTR(miss), again, NULL);
}

static void queue_sample(struct pipeline *pipeline, const struct wire_sample *raw,
			 struct process *process)
{
	bool resumed = raw->flags & WIRE_SAMPLE_RESUMED;

	queue_walked(pipeline, raw, process,
		     resumed ? miss_join_take(&pipeline->misses, raw) : NULL);
}

void pipeline_arrive_told(struct pipeline *pipeline, const struct wire_sample *raw,
			  struct wire_miss *miss)
{
	queue_walked(pipeline, raw, registry_find_complete(pipeline->registry, raw->tgid), miss);
}

void pipeline_arrive_open(struct pipeline *pipeline, const struct wire_sample *raw,
			  struct wire_miss *miss)
{
	struct process *process = registry_find_complete(pipeline->registry, raw->tgid);
	_cleanup_free_ struct wire_miss *left = miss;
	_cleanup_free_ struct wire_sample *finished = left ? try_now(pipeline, left, raw) : NULL;
	const struct wire_sample *sample = finished ? finished : raw;

	if (finished)
		free(TAKE_PTR(left));
	hold_miss(pipeline, &left);
	read_early(pipeline, process, sample);
	pipeline_spans_hold(pipeline, xmemdup(sample, sample->size), TAKE_PTR(left));
}

void pipeline_arrive_wait(struct pipeline *pipeline, const struct wire_sample *sample,
			  struct wire_miss *miss, const struct merge_wait *wait)
{
	struct process *process = registry_find_complete(pipeline->registry, sample->tgid);
	_cleanup_free_ struct wire_miss *left = miss;
	_cleanup_free_ struct wire_sample *finished = left ? try_now(pipeline, left, sample) : NULL;
	bool again;

	if (finished)
		free(TAKE_PTR(left));
	hold_miss(pipeline, &left);
	again = left && unwinder_wants_again(pipeline->unwinder);
	/* Since it was read when the thread left the names may have been given up for others'. */
	if (finished || wait->length_ns > REREAD_NS)
		read_early(pipeline, process, finished ? finished : sample);
	push_sample(pipeline, finished ? finished : sample, process, TAKE_PTR(left), again, wait);
}

/* All that is taken from it is whose it was, where it has a sample's header. */
static void arrive_invalid(const void *record, size_t len, void *data)
{
	struct pipeline *pipeline = data;
	struct ledger_entry *entry = NULL;
	struct ledger_loss loss = { .count = 1 };
	struct wire_sample header = { 0 };
	char comm[WIRE_COMM_LEN + 1] = { 0 };

	if (len >= sizeof(header))
		memcpy(&header, record, sizeof(header));
	if (header.kind == WIRE_SAMPLE && header.event < pipeline->options->event_count) {
		memcpy(comm, header.comm, WIRE_COMM_LEN);
		entry = ledger_get(&pipeline->ledger, header.tgid, header.exec_id, header.start_ns,
				   NULL, comm);
		loss.weight = header.weight;
	}
	ledger_count_lost(&pipeline->ledger, entry, header.event, WIRE_LOSS_INVALID, &loss);
	pipeline_show_loss(pipeline, entry ? header.tgid : 0,
			   entry ? header.event : WIRE_MAX_EVENTS, WIRE_LOSS_INVALID, &loss);
}

static void arrive_sample(const struct wire_sample *raw, void *data)
{
	struct pipeline *pipeline = data;
	struct process *process = registry_find_complete(pipeline->registry, raw->tgid);

	pipeline->arrived++;
	if (raw->event >= pipeline->options->event_count || raw->reason >= UNWIND_REASON_COUNT) {
		arrive_invalid(raw, raw->size, pipeline);
		return;
	}
	if (raw->flags & WIRE_SAMPLE_STALE)
		unwinder_note_stale(pipeline->unwinder, raw);
	queue_sample(pipeline, raw, process);
}

/* --- again ------------------------------------------------------------------------------------ */

static bool walk_again(struct merge_item *item, void *data)
{
	struct pipeline *pipeline = data;
	struct process *process = registry_find(pipeline->registry, item->sample->tgid);
	struct wire_sample *sample;

	if (unwinder_waits_for_jvm(pipeline->unwinder, item->sample))
		return true;
	sample = try_now(pipeline, item->miss, item->sample);
	if (sample) {
		merge_finish(&pipeline->queue, item, sample);
		read_early(pipeline, process, sample);
	} else if (!unwinder_wants_again(pipeline->unwinder)) {
		merge_keep_for_later(&pipeline->queue, item);
	}
	return !unwinder_is_busy(pipeline->unwinder);
}

void pipeline_walk_again(struct pipeline *pipeline)
{
	merge_walk_again(&pipeline->queue, walk_again, pipeline);
}

void pipeline_drain(struct pipeline *pipeline)
{
	const struct capture_handler handler = { .miss = arrive_miss,
						 .sample = arrive_sample,
						 .span = pipeline_spans_arrive,
						 .lock_begin = pipeline_locks_begin,
						 .side = arrive_side,
						 .invalid = arrive_invalid,
						 .data = pipeline };
	uint64_t now_ns = clock_now_ns();

	unwinder_grant(pipeline->unwinder);
	capture_drain(pipeline->capture, &handler);
	miss_join_expire(&pipeline->misses, now_ns - ORPHAN_NS);
	pipeline_spans_turn(pipeline, now_ns);
	unwinder_turn(pipeline->unwinder, now_ns);
	pipeline_walk_again(pipeline);
	unwinder_grant(pipeline->unwinder); /* for what is applied now */
}

void pipeline_take_records(struct pipeline *pipeline)
{
	if (!pipeline_queue_overflows(pipeline)) {
		pipeline_drain(pipeline);
		return;
	}
	unwinder_grant(pipeline->unwinder);
	pipeline_apply_in_turn(pipeline, clock_now_ns());
}
