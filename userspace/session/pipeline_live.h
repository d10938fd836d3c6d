/* SPDX-License-Identifier: Apache-2.0 */
/* The event "live": of the sampled allocations those whose objects are alive when the run ends. */
#ifndef HOSTPROF_SESSION_PIPELINE_LIVE_H
#define HOSTPROF_SESSION_PIPELINE_LIVE_H

#include "session/pipeline.h"

/* The options are known, the JVMs are not yet. */
void pipeline_live_init(struct pipeline *pipeline, enum live_mode mode);

/* The event, in tables that are new. */
void pipeline_live_add_event(struct pipeline *pipeline);

/* ROW has been made of SAMPLE, of PROCESS. */
void pipeline_live_note(struct pipeline *pipeline, const struct process *process,
			const struct wire_sample *sample, const struct profile_sample *row);

/* All samples until UNTIL_NS are noted: what is known to have gone since is given up. */
void pipeline_live_settle(struct pipeline *pipeline, uint64_t until_ns);

/* Sampling has ended: agents are asked; wait until they have answered; make the samples. */
void pipeline_live_ask(struct pipeline *pipeline);
bool pipeline_live_waits(const struct pipeline *pipeline);
void pipeline_live_tell(struct pipeline *pipeline);

#endif
