/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pipeline that sees to allocations of JVMs without an agent, and to what agents tell of. */
#ifndef HOSTPROF_SESSION_PIPELINE_OUTSIDE_H
#define HOSTPROF_SESSION_PIPELINE_OUTSIDE_H

#include "session/pipeline.h"

/* Before all that follows; the capture and the table of JVMs are there. */
void pipeline_outside_watch_parks(struct pipeline *pipeline);
/* PROCESS is a JVM: it has an agent to be cared for, or is to be seen from outside. */
void pipeline_add_jvm(struct pipeline *pipeline, struct process *process);
/* Try those that were starting, or whose agent has failed since; call it often. */
void pipeline_outside_poll(struct pipeline *pipeline);
/* It is seen from outside; so its agent's probe stays closed. */
bool pipeline_outside_sees(const struct pipeline *pipeline, const struct process *process);
/* There is a probe at its agent. */
void pipeline_outside_note_probed(struct pipeline *pipeline, const struct process *process,
				  struct jvm *jvm);
/* The code map of PROCESS is open: its agent's functions are probed, as the events want it. For struct agents_hooks; DATA is the pipeline. */
int pipeline_outside_probe(struct process *process, struct jvm *jvm, void *data, struct err *err);
/* At the end: of how many JVMs no locks were seen; before their code maps are let go. */
void pipeline_outside_tell_locks(struct pipeline *pipeline);
void pipeline_outside_forget(struct pipeline *pipeline, struct process *process);

#endif
