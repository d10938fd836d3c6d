/* SPDX-License-Identifier: Apache-2.0 */
/* The middle of the pipeline: what arrives from the rings, and what is done with it in order. */
#ifndef HOSTPROF_SESSION_PIPELINE_APPLY_H
#define HOSTPROF_SESSION_PIPELINE_APPLY_H

#include "session/pipeline.h"

/* Take everything out of the rings; files that appear are opened at once. */
void pipeline_drain(struct pipeline *pipeline);

/* Apply everything up to WATERMARK_NS; false when a sample must wait for its files. */
bool pipeline_apply_until(struct pipeline *pipeline, uint64_t watermark_ns);

/*
 * Is it surely a target? With --cgroup, and for children of targets, only its first sample tells.
 */
bool pipeline_is_target(const struct pipeline *pipeline, const struct process *process);

/*
 * A process has gone or execed: nobody may keep what was known of it. For registry_expire(); DATA is
 * the pipeline.
 */
void pipeline_forget(struct process *process, void *data);

#endif
