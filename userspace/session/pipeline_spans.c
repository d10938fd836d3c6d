/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_spans.h"

#include "base/clock.h"
#include "session/pipeline_arrive.h"

/* A length may be drained one turn before its sample. */
#define LONELY_NS (5 * NSEC_PER_SEC)

static void finish(struct pipeline *pipeline, struct span_wait *wait)
{
	const struct wire_span *span = &wait->span;

	if (span->length_ns) {
		const struct merge_wait length = { .length_ns = span->length_ns,
						   .queued_ns = span->queued_ns,
						   .halved = span->halved };

		wait->sample->weight = span->length_ns << span->halved;
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

void pipeline_spans_arrive(const struct wire_span *span, void *data)
{
	struct pipeline *pipeline = data;
	struct span_wait *wait = spans_close(&pipeline->spans, span, clock_now_ns());

	if (wait)
		finish(pipeline, wait);
}

void pipeline_spans_turn(struct pipeline *pipeline, uint64_t now_ns)
{
	spans_expire(&pipeline->spans, now_ns - LONELY_NS);
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
	finish(pipeline, wait);
}

void pipeline_spans_end(struct pipeline *pipeline, uint64_t end_ns)
{
	struct span_wait *wait;
	size_t at = 0;

	while ((wait = spans_take_open(&pipeline->spans, &at)))
		end_wait(pipeline, wait, end_ns);
}
