/* SPDX-License-Identifier: Apache-2.0 */
/* What the pipeline tells its sinks: at arrival what is known then, in order what became of it. */
#ifndef HOSTPROF_SESSION_PIPELINE_SHOW_H
#define HOSTPROF_SESSION_PIPELINE_SHOW_H

#include "session/pipeline.h"

/*
 * SAMPLE has arrived, the newest of PIPELINE's; WAIT is NULL where it is none. Sinks that hurry are shown it, with raw addresses where
 * the registry (PROCESS; may be NULL) is known to be behind.
 */
struct merge_shown pipeline_show_arrival(struct pipeline *pipeline, struct process *process,
					 const struct wire_sample *sample,
					 const struct merge_wait *wait);

/* ITEM's sample is ROW of the profile now; of use when a sink takes them one by one. */
void pipeline_show_finished(struct pipeline *pipeline, const struct merge_item *item,
			    const struct ledger_entry *entry, const struct profile_sample *row);

/*
 * Samples of what lives have been made, of ENTRY's process: the profile's from FIRST on. They are final at once;
 * of use when a sink takes samples one by one.
 */
void pipeline_show_live(struct pipeline *pipeline, const struct ledger_entry *entry, size_t first);

/* A record of the side-band has arrived. */
void pipeline_show_side(struct pipeline *pipeline, const struct side_event *event);

/* PID 0 and EVENT WIRE_MAX_EVENTS: not known. */
void pipeline_show_loss(struct pipeline *pipeline, uint32_t pid, unsigned int event,
			enum wire_loss why, const struct ledger_loss *loss);

/* All is applied and all figures are written. */
int pipeline_show_end(struct pipeline *pipeline, struct err *err);

#endif
