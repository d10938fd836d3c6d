/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_apply.h"

#include "base/clock.h"
#include "session/alloc/alloc_objects.h"
#include "session/compilations/compilation_row.h"
#include "session/compilations/gc_reason.h"
#include "session/locks/kernel_lock.h"
#include "session/locks/lock_identity.h"
#include "session/pipeline_books.h"
#include "session/pipeline_live.h"
#include "session/pipeline_locks.h"
#include "session/pipeline_malloc.h"
#include "session/pipeline_show.h"
#include "session/pipeline_spans.h"
#include "session/safepoints/safepoint_parts.h"
#include "session/safepoints/safepoint_reason.h"
#include "symbolize/waits/wait.h"

/*
 * A sample does not wait longer for the symbols of its files, and the next one not at all until
 * another file was read: a dead network file system must not stop the recording.
 */
#define STALL_LIMIT_NS (3 * NSEC_PER_SEC)

/* Thousands of walks that are left to be finished, of a millisecond each, would take seconds. */
#define TURN_NS (50 * NSEC_PER_MSEC)

struct jvm *pipeline_new_jvm(struct pipeline *pipeline, const struct wire_sample *sample)
{
	const struct mapping *libjvm = unwinder_libjvm(pipeline->unwinder, sample);

	return libjvm ? jvm_table_find(pipeline->jvms, sample->tgid, libjvm, false) : NULL;
}

/* --- in order --------------------------------------------------------------------------------- */

void pipeline_greet(struct ledger_entry *entry, struct process *process, struct jvm *jvm,
		    const struct wire_sample *sample, void *data)
{
	struct pipeline *pipeline = data;

	if (jvm && !sample->waker)
		agents_note_sample(pipeline->agents, process);
	if (entry->profile_id != PROFILE_NONE)
		return;
	/* The java launcher's first sample comes before HotSpot's library does. */
	if (!jvm)
		jvm = pipeline_new_jvm(pipeline, sample);
	if (jvm)
		ledger_entry_set_jvm(entry, jvm_version(jvm), jvm_main_class(jvm));
}

bool pipeline_is_safepoint(const struct pipeline *pipeline, const struct wire_sample *sample)
{
	return capture_event_is_safepoint(&pipeline->options->events[sample->event]);
}

bool pipeline_is_kernel_lock(const struct pipeline *pipeline, const struct wire_sample *sample)
{
	return capture_event_is_kernel_lock(&pipeline->options->events[sample->event]);
}

uint32_t pipeline_chance(const struct pipeline *pipeline, const struct wire_sample *sample,
			 const struct merge_wait *wait)
{
	if (pipeline_is_safepoint(pipeline, sample) || sample->text == WIRE_TEXT_GC)
		return 1;
	if (sample->flags & WIRE_SAMPLE_LOCK || sample->unmounted ||
	    pipeline_is_kernel_lock(pipeline, sample))
		return (uint32_t)MIN(sample->alloc_interval, UINT32_MAX);
	return wait && wait->length_ns ? 1U << wait->halved : 0;
}

uint32_t pipeline_reason(struct pipeline *pipeline, const struct wire_sample *sample,
			 uint32_t stack)
{
	struct profile *profile = &pipeline->profile;
	enum wire_cause cause = sample->cause;

	if (pipeline_is_safepoint(pipeline, sample))
		return safepoint_reason(profile, sample);
	if (pipeline_is_kernel_lock(pipeline, sample))
		return kernel_lock_reason(profile, pipeline->symbolizer, sample);
	if (sample->text == WIRE_TEXT_COMPILATION)
		return compilation_reason(profile, sample);
	if (sample->text == WIRE_TEXT_GC)
		return gc_reason(profile, sample);
	if (sample->unmounted)
		cause = wait_unmounted_cause(profile, stack, cause);
	else if (cause == WIRE_CAUSE_NONE)
		return 0;
	else
		cause = wait_cause(profile, stack, cause);
	return profile_string(profile, wait_reason(cause));
}

bool pipeline_is_native_lock(const struct pipeline *pipeline, const struct wire_sample *sample)
{
	return capture_event_is_native_lock(&pipeline->options->events[sample->event]);
}

uint64_t pipeline_begin_ns(const struct wire_sample *sample)
{
	return sample->time_ns - (sample->unmounted ? MIN(sample->alloc_size, sample->time_ns) : 0);
}

/* What a sample weighs need not be its length so many times (bpf/sample/offcpu.h). */
uint64_t pipeline_queued_ns(const struct wire_sample *sample, const struct merge_wait *wait)
{
	return wait ? MIN(wait->queued_ns << wait->halved, sample->weight) : 0;
}

static void apply_sample(struct pipeline *pipeline, struct process *process,
			 const struct merge_item *item, const struct symbolized *symbolized)
{
	const struct wire_sample *sample = item->sample;
	struct profile_sample row = {
		.time_ns = pipeline_begin_ns(sample),
		.weight = sample->weight,
		.objects = alloc_objects(sample),
		.count = 1,
		.event = pipeline->event_ids[sample->event],
		.stack = symbolized->stack,
		.state = wait_state(sample->state, sample->in_user),
		.queued = pipeline_queued_ns(sample, &item->wait),
		.chance = pipeline_chance(pipeline, sample, &item->wait),
	};
	bool is_lock = sample->flags & WIRE_SAMPLE_LOCK;
	bool is_safepoint = pipeline_is_safepoint(pipeline, sample);
	bool is_compilation = sample->text == WIRE_TEXT_COMPILATION;
	struct ledger_entry *entry = ledger_take(&pipeline->ledger, &pipeline->profile, process,
						 sample, symbolized, &row.thread);

	row.reason = pipeline_reason(pipeline, sample, row.stack);
	row.waker = is_lock ? pipeline_spans_lock_waker(pipeline, sample)
			    : pipeline_spans_waker(pipeline, sample, &item->wait);
	if (is_compilation)
		compilation_fill_row(&row, sample);
	if (is_lock) {
		row.identity = lock_identity(sample);
		row.owner = pipeline_locks_owner(pipeline, entry, symbolized->jvm, sample);
	}
	if (is_safepoint)
		safepoint_parts_add(&pipeline->profile, sample, &row);
	else
		profile_add(&pipeline->profile, &row);
	if (sample->flags & WIRE_SAMPLE_NATIVE)
		pipeline_malloc_note(pipeline, process, sample, &row);
	else if (!is_lock && !is_safepoint && !is_compilation &&
		 !pipeline_is_kernel_lock(pipeline, sample))
		pipeline_live_note(pipeline, process, sample, &row);
	if (pipeline->sinks.one_by_one)
		pipeline_show_finished(pipeline, item, entry, &row);
}

uint64_t pipeline_held_bytes(const struct pipeline *pipeline)
{
	return pipeline->queue.bytes + pipeline->spans.bytes;
}

/* Is more held back than its share and what there is room for, by MORE_BYTES? */
static bool holds_more(const struct pipeline *pipeline, uint64_t more_bytes)
{
	uint64_t most_bytes = MAX(pipeline->plan.queue_bytes, pipeline->queue_room_bytes);

	return pipeline_held_bytes(pipeline) > most_bytes + more_bytes;
}

bool pipeline_queue_is_full(const struct pipeline *pipeline)
{
	return holds_more(pipeline, 0);
}

bool pipeline_queue_overflows(const struct pipeline *pipeline)
{
	return holds_more(pipeline, pipeline->plan.queue_bytes);
}

/* If the oldest sample's files are still being read, is it worth while to wait for them? */
static bool has_patience(struct pipeline *pipeline)
{
	uint64_t since_ns = pipeline->stalled_since_ns;
	uint64_t parsed = image_cache_parsed(pipeline->images);

	if (pipeline_queue_is_full(pipeline))
		return false;
	if (pipeline->gave_up && pipeline->gave_up_parsed == parsed)
		return false;
	pipeline->gave_up = since_ns && clock_now_ns() - since_ns >= STALL_LIMIT_NS;
	pipeline->gave_up_parsed = parsed;
	return !pipeline->gave_up;
}

static void note_stall(struct pipeline *pipeline)
{
	if (!pipeline->stalled_since_ns)
		pipeline->stalled_since_ns = clock_now_ns();
}

/*
 * The oldest sample's walk could not be finished when it arrived. False: the rings come first, or a disk is slow; but
 * not when there is too much to hold back.
 */
static bool finish_oldest(struct pipeline *pipeline, struct merge_item *item,
			  struct process *process)
{
	struct wire_sample *finished;

	if (pipeline->walks_until_ns && clock_now_ns() >= pipeline->walks_until_ns) {
		merge_forget_miss(&pipeline->queue, item);
		pipeline->misses_no_time++;
		return true;
	}
	if (unwinder_is_busy(pipeline->unwinder) && !pipeline_queue_is_full(pipeline))
		return false;
	finished = unwinder_finish(pipeline->unwinder, item->miss, item->sample, process,
				   pipeline->options->max_depth, has_patience(pipeline));
	if (!finished) {
		note_stall(pipeline);
		return false;
	}
	merge_finish(&pipeline->queue, item, finished);
	return true;
}

/* False: its files are still being read; try again later. */
static bool try_sample(struct pipeline *pipeline, struct merge_item *item)
{
	struct process *process =
		registry_get(pipeline->registry, item->sample->tgid, item->time_ns);
	struct symbolized symbolized;

	if (item->miss && !finish_oldest(pipeline, item, process))
		return false;
	if (pipeline_malloc_drops(pipeline, process, item->sample))
		return true;
	if (!symbolizer_try(pipeline->symbolizer, &pipeline->profile, process, item->sample,
			    &symbolized)) {
		if (has_patience(pipeline)) {
			note_stall(pipeline);
			return false;
		}
		symbolized = symbolizer_take(pipeline->symbolizer, &pipeline->profile, process,
					     item->sample);
	}
	if (pipeline->stalled_since_ns)
		pipeline->stall_ns += clock_now_ns() - pipeline->stalled_since_ns;
	pipeline->stalled_since_ns = 0;
	if (item->sample->waker)
		pipeline_spans_note_waker(pipeline, process, item->sample, &symbolized);
	else if (!pipeline_is_native_lock(pipeline, item->sample) ||
		 native_locks_want(&pipeline->native_locks, &pipeline->profile, item->sample,
				   symbolized.stack))
		apply_sample(pipeline, process, item, &symbolized);
	else
		wakers_drop(&pipeline->wakers, item->sample->tid, item->sample->time_ns);
	return true;
}

/* Not after END_NS. */
static bool apply(struct pipeline *pipeline, uint64_t watermark_ns, uint64_t end_ns)
{
	struct merge_item *top;

	while ((top = merge_peek(&pipeline->queue)) && top->time_ns <= watermark_ns) {
		if (clock_now_ns() > end_ns || (top->sample && !try_sample(pipeline, top)))
			return false;
		if (top->side)
			pipeline_books_in_order(pipeline, top->side);
		if (top->time_ns > pipeline->applied_ns)
			pipeline->applied_ns = top->time_ns;
		merge_drop_oldest(&pipeline->queue);
	}
	return true;
}

bool pipeline_apply_until(struct pipeline *pipeline, uint64_t watermark_ns)
{
	return apply(pipeline, watermark_ns, UINT64_MAX);
}

bool pipeline_apply_in_turn(struct pipeline *pipeline, uint64_t watermark_ns)
{
	return apply(pipeline, watermark_ns, clock_now_ns() + TURN_NS);
}
