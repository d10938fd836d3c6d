/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of the pipeline: what is done with the records in order. */
#ifndef HOSTPROF_SESSION_PIPELINE_APPLY_H
#define HOSTPROF_SESSION_PIPELINE_APPLY_H

#include "session/pipeline.h"

/* Apply everything up to WATERMARK_NS; false when a sample must wait for its files. */
bool pipeline_apply_until(struct pipeline *pipeline, uint64_t watermark_ns);
/* The same for as long as one turn may take of it: rings fill up meanwhile. False also when that was too short. */
bool pipeline_apply_in_turn(struct pipeline *pipeline, uint64_t watermark_ns);

/* Of samples that wait for their turn, or for their threads to come back. */
uint64_t pipeline_held_bytes(const struct pipeline *pipeline);
/* Is more held back than its share of the memory, and than there is room for besides? Then neither order nor symbols are waited for. */
bool pipeline_queue_is_full(const struct pipeline *pipeline);
/* And so much more that copies of stacks go, and rings are to fill up rather than this: what they have no room for is lost, and counted. */
bool pipeline_queue_overflows(const struct pipeline *pipeline);

/* Is SAMPLE one of -e safepoint? */
bool pipeline_is_safepoint(const struct pipeline *pipeline, const struct wire_sample *sample);

/* Or of -e kernellock? */
bool pipeline_is_kernel_lock(const struct pipeline *pipeline, const struct wire_sample *sample);

/* Or of -e nativelock? */
bool pipeline_is_native_lock(const struct pipeline *pipeline, const struct wire_sample *sample);

/* One of how many such waits SAMPLE is; 0: it is no wait. WAIT is what is known beside, NULL: nothing. */
uint32_t pipeline_chance(const struct pipeline *pipeline, const struct wire_sample *sample,
			 const struct merge_wait *wait);

/* When it began what SAMPLE tells of, whose own time may be the end. */
uint64_t pipeline_begin_ns(const struct wire_sample *sample);

/* Of its weight what the thread waited for a cpu; likewise. */
uint64_t pipeline_queued_ns(const struct wire_sample *sample, const struct merge_wait *wait);

/* Why SAMPLE's thread did what it did: a string of the profile, 0: nobody knows. */
uint32_t pipeline_reason(struct pipeline *pipeline, const struct wire_sample *sample,
			 uint32_t stack);

/*
 * The JVM of SAMPLE's process, which has just started: its library is known before the registry knows
 * the process. NULL: none.
 */
struct jvm *pipeline_new_jvm(struct pipeline *pipeline, const struct wire_sample *sample);

/* The ledger's; DATA is the pipeline. */
ledger_greet_fn pipeline_greet;

#endif
