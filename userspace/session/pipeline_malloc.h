/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pipeline that sees to native memory: whose functions are probed, and which calls are counted. */
#ifndef HOSTPROF_SESSION_PIPELINE_MALLOC_H
#define HOSTPROF_SESSION_PIPELINE_MALLOC_H

#include "session/pipeline.h"

/* The options are known, the processes are not yet. */
void pipeline_malloc_init(struct pipeline *pipeline);

/* PROCESS is there: what it maps is looked at. */
void pipeline_malloc_add(struct process *process, void *data);

/* A process maps a file: now, and when that is in order. */
void pipeline_malloc_maps_now(struct pipeline *pipeline, const struct side_event *event);
void pipeline_malloc_maps(struct pipeline *pipeline, const struct side_event *event);

/*
 * SAMPLE, of PROCESS (NULL: not known), is of a call that another one of its kind has made, by the mappings of now: it is not to
 * be shown. And by those of its time: it is dropped, and counted.
 */
bool pipeline_malloc_hides(const struct pipeline *pipeline, struct process *process,
			   const struct wire_sample *sample);
bool pipeline_malloc_drops(struct pipeline *pipeline, struct process *process,
			   const struct wire_sample *sample);

/* The event "malloc-live", in tables that are new. */
void pipeline_malloc_add_event(struct pipeline *pipeline);
/* ROW has been made of SAMPLE, of PROCESS. */
void pipeline_malloc_note(struct pipeline *pipeline, const struct process *process,
			  const struct wire_sample *sample, const struct profile_sample *row);
/* PROCESS has gone: what it had then counts where it was chosen; of a whole host everybody's last memory is of no use. */
void pipeline_malloc_forget(struct pipeline *pipeline, const struct process *process);
/* Sampling has ended: what was not given back becomes samples. */
void pipeline_malloc_tell(struct pipeline *pipeline);

/* What the profile says of it. */
void pipeline_malloc_write(struct pipeline *pipeline);

#endif
