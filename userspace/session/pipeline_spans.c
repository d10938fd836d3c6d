/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_spans.h"

#include <string.h>

#include "base/clock.h"
#include "session/pipeline_arrive.h"
#include "symbolize/waits/waker.h"

/* A length may be drained one turn before its sample. */
#define LONELY_NS (5 * NSEC_PER_SEC)
/* Between the two a thread waits for a cpu, of which a host may have far too few. */
#define WAKER_NS (60 * NSEC_PER_SEC)
/* For the walks of the last look; most recordings need some milliseconds. */
#define LOOK_NS (200 * NSEC_PER_MSEC)

static void finish(struct pipeline *pipeline, struct span_wait *wait)
{
	const struct wire_span *span = &wait->span;

	if (span->length_ns) {
		const struct merge_wait length = { .length_ns = span->length_ns,
						   .queued_ns = span->queued_ns,
						   .halved = span->halved,
						   .is_woken = wait->is_woken };

		wait->sample->weight = span->weight_ns;
		pipeline_arrive_wait(pipeline, wait->sample, TAKE_PTR(wait->miss), &length);
	}
	span_wait_free(wait);
}

void pipeline_spans_hold(struct pipeline *pipeline, struct wire_sample *sample,
			 struct wire_miss *miss)
{
	struct span_wait *wait = spans_open(&pipeline->spans, sample, miss, clock_now_ns());

	if (wait)
		finish(pipeline, wait);
}

/* --- who has ended it ------------------------------------------------------------------------- */

/* Which of the woken thread's waits it has ended: one for a lock by its number, another one by its begin. */
static uint64_t waker_key(const struct wire_sample *sample)
{
	return sample->wait_number ? sample->wait_number : sample->alloc_object;
}

void pipeline_spans_note_waker(struct pipeline *pipeline, struct process *process,
			       const struct wire_sample *sample,
			       const struct symbolized *symbolized)
{
	struct profile *profile = &pipeline->profile;
	struct profile_waker waker = { PROFILE_NONE, symbolized->stack };

	if (waker_is_thread(profile, waker.stack, sample->waker))
		waker.thread =
			ledger_name_thread(&pipeline->ledger, profile, process, sample, symbolized);
	else
		waker.stack = waker_interrupt_stack(profile, waker.stack);
	wakers_put(&pipeline->wakers, sample->woken_tid, waker_key(sample), &waker,
		   sample->time_ns);
}

uint32_t pipeline_spans_waker(struct pipeline *pipeline, const struct wire_sample *sample,
			      const struct merge_wait *wait)
{
	uint64_t least_ns = MAX(pipeline->options->events[sample->event].least_ns, 1U);
	uint64_t asleep_ns = wait->length_ns - MIN(wait->queued_ns, wait->length_ns);
	uint32_t waker;

	if (!pipeline->options->tells_wakers || !wait->is_woken)
		return 0;
	waker = wakers_take(&pipeline->wakers, sample->tid, sample->time_ns, &pipeline->profile);
	/* As BPF has it (waking_is_wanted()): who was only queued was not woken. */
	pipeline->wakers.missing += !waker && asleep_ns >= least_ns;
	return waker;
}

uint32_t pipeline_spans_lock_waker(struct pipeline *pipeline, const struct wire_sample *sample)
{
	if (!pipeline->options->tells_wakers || !sample->wait_number)
		return 0;
	return wakers_take(&pipeline->wakers, sample->tid, sample->wait_number, &pipeline->profile);
}

void pipeline_spans_arrive(const struct wire_span *span, void *data)
{
	struct pipeline *pipeline = data;
	struct span_wait *wait = spans_close(&pipeline->spans, span, clock_now_ns());

	pipeline->arrived++;
	if (wait)
		finish(pipeline, wait);
}

/* --- who was off the cpus before -------------------------------------------------------------- */

/* The event that wants them; false: none does. */
static bool find_wall(const struct pipeline *pipeline, struct parked_wanted *ret_wanted)
{
	const struct capture_options *options = pipeline->options;
	const struct capture_event *wall =
		capture_event_find(options->events, options->event_count, capture_event_is_wall);

	if (wall)
		*ret_wanted = (struct parked_wanted){ .event = (uint8_t)(wall - options->events),
						      .exclude_user = options->exclude_user };
	return wall;
}

static void put_parked(const struct wire_parked *thread, void *data)
{
	struct pipeline *pipeline = data;

	parked_put(&pipeline->parked, thread);
}

void pipeline_spans_begin(struct pipeline *pipeline)
{
	struct parked_wanted wanted;
	int r;

	if (!find_wall(pipeline, &wanted))
		return;
	r = capture_list_parked(pipeline->capture, put_parked, pipeline);
	if (!pipeline->parked.error)
		pipeline->parked.error = r;
}

/* It has not run since it was told of, or what was read is of no use. */
static bool is_parked_yet(const struct pipeline *pipeline, const struct wire_parked *thread)
{
	struct wire_offcpu known;

	return capture_get_wait(pipeline->capture, thread->tid, thread->since_ns, &known) == 0;
}

/* Of the next thread. IS_LATE: its stack is not what it was. */
static void open_next(struct pipeline *pipeline, bool is_late)
{
	_cleanup_free_ struct wire_parked *thread = parked_take(&pipeline->parked);
	_cleanup_free_ struct wire_sample *sample = NULL;
	_cleanup_free_ struct wire_miss *miss = NULL;
	struct parked_wanted wanted;

	if (!thread || !find_wall(pipeline, &wanted))
		return;
	sample = parked_sample(thread, &wanted);
	if (sample->reason == UNWIND_NO_ROWS) {
		miss = is_late ? NULL : parked_miss(thread);
		if (miss && !is_parked_yet(pipeline, thread))
			free(TAKE_PTR(miss));
		if (!miss) {
			pipeline->parked.gone++;
			sample->reason = UNWIND_BUDGET;
		}
	}
	pipeline_arrive_open(pipeline, sample, TAKE_PTR(miss));
}

void pipeline_spans_look(struct pipeline *pipeline)
{
	uint64_t until_ns = clock_now_ns() + LOOK_NS;

	pipeline_spans_begin(pipeline);
	while (parked_is_left(&pipeline->parked) && clock_now_ns() < until_ns) {
		unwinder_grant(pipeline->unwinder);
		open_next(pipeline, false);
	}
	if (pipeline->samples_waits)
		unmounted_look(&pipeline->unmounted, pipeline->capture, &pipeline->parks.yields);
}

void pipeline_spans_turn(struct pipeline *pipeline, uint64_t now_ns)
{
	while (parked_is_left(&pipeline->parked) && !unwinder_is_busy(pipeline->unwinder))
		open_next(pipeline, false);
	spans_expire(&pipeline->spans, now_ns - LONELY_NS);
	/* A host may have begun later than that. */
	wakers_expire(&pipeline->wakers, now_ns - MIN(now_ns, WAKER_NS));
}

/* --- at the end ------------------------------------------------------------------------------- */

static uint64_t last_weight(const struct capture_event *event, const struct wire_offcpu *known,
			    uint64_t length_ns, uint32_t halved)
{
	if (capture_event_is_wall(event))
		return wire_offcpu_last_weight(known, length_ns);
	if (capture_event_is_native_lock(event))
		return wire_offcpu_typical_weight(&known->sites[known->site % WIRE_OFFCPU_SITES],
						  length_ns, halved);
	return length_ns << halved;
}

/* One that the kernel does not know to wait is back, and its length was lost and counted. */
static void end_wait(struct pipeline *pipeline, struct span_wait *wait, uint64_t end_ns)
{
	const struct wire_sample *sample = wait->sample;
	uint64_t least_ns = pipeline->options->events[sample->event].least_ns;
	uint64_t length_ns = end_ns > sample->time_ns ? end_ns - sample->time_ns : 0;
	struct wire_offcpu known;

	if (length_ns < least_ns ||
	    capture_get_wait(pipeline->capture, sample->tid, sample->time_ns, &known) < 0) {
		span_wait_free(wait);
		return;
	}
	wait->span = (struct wire_span){ .length_ns = length_ns,
					 .queued_ns = wire_offcpu_queued(&known, length_ns),
					 .halved = MIN(known.halved, WIRE_OFFCPU_MOST_HALVED) };
	wait->is_woken = known.woken_ns != 0;
	wait->span.weight_ns = last_weight(&pipeline->options->events[sample->event], &known,
					   length_ns, wait->span.halved);
	finish(pipeline, wait);
}

static void tell_unmounted(const struct wire_sample *sample, struct wire_miss *miss, void *data)
{
	struct pipeline *pipeline = data;

	unwinder_grant(pipeline->unwinder);
	pipeline_arrive_told(pipeline, sample, miss);
}

static void end_unmounted(struct pipeline *pipeline, uint64_t end_ns)
{
	const struct capture_options *options = pipeline->options;
	const struct capture_event *event = capture_event_find(
		options->events, options->event_count, capture_event_has_virtual_waits);

	if (pipeline->samples_waits && event)
		unmounted_end(&pipeline->unmounted, pipeline->capture, event,
			      (uint8_t)(event - options->events), end_ns, tell_unmounted, pipeline);
}

void pipeline_spans_end(struct pipeline *pipeline, uint64_t end_ns)
{
	struct span_wait *wait;
	size_t at = 0;

	/* Nobody tells any more who comes back. */
	while (parked_is_left(&pipeline->parked))
		open_next(pipeline, true);
	while ((wait = spans_take_open(&pipeline->spans, &at)))
		end_wait(pipeline, wait, end_ns);
	end_unmounted(pipeline, end_ns);
}

struct figure_teller {
	struct pipeline *pipeline;
	void (*fn)(struct pipeline *pipeline, const char *name, const char *detail, uint64_t value);
};

static void tell_other(const char *reason, uint64_t samples, void *data)
{
	const struct figure_teller *teller = data;

	teller->fn(teller->pipeline, "nativelock.others", reason, samples);
}

/* Those that are in no sample. */
static void tell_unmounted_figures(struct figure_teller *teller)
{
	const struct unmounted *u = &teller->pipeline->unmounted;
	uint64_t counted = (uint64_t)(u->counted + 0.5), ns = (uint64_t)u->counted_ns;

	teller->fn(teller->pipeline, "offcpu.virtual-told", "", (uint64_t)(u->told + 0.5));
	teller->fn(teller->pipeline, "offcpu.virtual-waiting", "",
		   u->all.threads - MIN(counted, u->all.threads));
	teller->fn(teller->pipeline, "offcpu.virtual-waiting-ns", "",
		   u->all.ns - MIN(ns, u->all.ns));
	teller->fn(teller->pipeline, "offcpu.virtual-not-listed",
		   u->error ? strerror(-u->error) : "", u->not_listed);
}

void pipeline_spans_for_each_figure(struct pipeline *pipeline,
				    void (*fn)(struct pipeline *pipeline, const char *name,
					       const char *detail, uint64_t value))
{
	const struct parked *parked = &pipeline->parked;
	struct figure_teller teller = { pipeline, fn };

	native_locks_for_each(&pipeline->native_locks, tell_other, &teller);
	fn(pipeline, "offcpu.cut", "", pipeline->spans.cut);
	if (pipeline->options->tells_wakers)
		fn(pipeline, "offcpu.no-waker", "", pipeline->wakers.missing);
	tell_unmounted_figures(&teller);
	fn(pipeline, "wall.parked", "", parked->threads.len);
	fn(pipeline, "wall.parked-gone", "", parked->gone);
	fn(pipeline, "wall.parked-not-listed", parked->error ? strerror(-parked->error) : "",
	   parked->error != 0);
}
