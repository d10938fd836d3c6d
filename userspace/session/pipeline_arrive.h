/* SPDX-License-Identifier: Apache-2.0 */
/* The first half of the pipeline: what is done with a record as soon as it is out of its ring. */
#ifndef HOSTPROF_SESSION_PIPELINE_ARRIVE_H
#define HOSTPROF_SESSION_PIPELINE_ARRIVE_H

#include "session/pipeline.h"

/*
 * Take everything out of the rings; files that appear are opened at once, walks that BPF could not
 * finish are finished as far as there is time.
 */
void pipeline_drain(struct pipeline *pipeline);

/* The same while sampling goes on: where far too much is held back that goes on first, in whatever order, and the rings fill up. */
void pipeline_take_records(struct pipeline *pipeline);

/* A wait is over: SAMPLE weighs what it is to weigh. MISS (may be NULL) is taken over. */
void pipeline_arrive_wait(struct pipeline *pipeline, const struct wire_sample *sample,
			  struct wire_miss *miss, const struct merge_wait *wait);

/* RAW is open. It is walked by MISS (taken over; NULL: it was), or later, and waits for its length. */
void pipeline_arrive_open(struct pipeline *pipeline, const struct wire_sample *raw,
			  struct wire_miss *miss);

/* RAW is what it is to be, but for its walk, which MISS (taken over) leads to. */
void pipeline_arrive_told(struct pipeline *pipeline, const struct wire_sample *raw,
			  struct wire_miss *miss);

/* Walks there was no time for when they arrived, the newest first: BPF wants their rows most. */
void pipeline_walk_again(struct pipeline *pipeline);

#endif
