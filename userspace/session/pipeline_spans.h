/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pipeline that sees to waits: a sample goes on when its thread is back. */
#ifndef HOSTPROF_SESSION_PIPELINE_SPANS_H
#define HOSTPROF_SESSION_PIPELINE_SPANS_H

#include "session/pipeline.h"

/* SAMPLE, which is WIRE_SAMPLE_OPEN, has arrived; it and MISS (may be NULL) are taken over. */
void pipeline_spans_hold(struct pipeline *pipeline, struct wire_sample *sample,
			 struct wire_miss *miss);

/* SAMPLE, in its turn, is of who has woken another thread, and SYMBOLIZED. */
void pipeline_spans_note_waker(struct pipeline *pipeline, struct process *process,
			       const struct wire_sample *sample,
			       const struct symbolized *symbolized);
/* Of the wait that is SAMPLE's, in its turn, likewise; an id of the profile, 0: nobody is known. */
uint32_t pipeline_spans_waker(struct pipeline *pipeline, const struct wire_sample *sample,
			      const struct merge_wait *wait);

/* Of the wait for a lock that is SAMPLE's, likewise: who has let go of it. */
uint32_t pipeline_spans_lock_waker(struct pipeline *pipeline, const struct wire_sample *sample);

/* The ring's; DATA is the pipeline. */
void pipeline_spans_arrive(const struct wire_span *span, void *data);

/* Sampling has begun: who is off the cpus is looked for, where the event wants it. */
void pipeline_spans_begin(struct pipeline *pipeline);

/* Lengths whose samples were lost are forgotten, and stacks of threads that were off the cpus are walked; call it often. */
void pipeline_spans_turn(struct pipeline *pipeline, uint64_t now_ns);

/* Sampling ends now: long waits that were not walked are, since nothing comes that would make up for them. */
void pipeline_spans_look(struct pipeline *pipeline);

/* Sampling has ended at END_NS, and all that is in the rings was taken out: who is not back has waited until then. */
void pipeline_spans_end(struct pipeline *pipeline, uint64_t end_ns);

/* Calls FN for each figure. */
void pipeline_spans_for_each_figure(struct pipeline *pipeline,
				    void (*fn)(struct pipeline *pipeline, const char *name,
					       const char *detail, uint64_t value));

#endif
