/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pipeline that knows who has locks. */
#ifndef HOSTPROF_SESSION_PIPELINE_LOCKS_H
#define HOSTPROF_SESSION_PIPELINE_LOCKS_H

#include "session/pipeline.h"

/* DATA is the pipeline. */
void pipeline_locks_begin(const struct wire_lock_begin *begin, void *data);

/*
 * SAMPLE has just arrived: who had the lock, as a thread that can be named later (jvm_find_owner()); 0: not known. PROCESS may be
 * NULL.
 */
uint64_t pipeline_locks_find(struct pipeline *pipeline, struct process *process,
			     const struct wire_sample *sample);

/* As profile_sample.owner has it; SAMPLE's owner is what pipeline_locks_find() said. */
uint32_t pipeline_locks_owner(struct pipeline *pipeline, struct ledger_entry *entry,
			      struct jvm *jvm, const struct wire_sample *sample);

#endif
