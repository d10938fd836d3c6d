/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the pipeline that sees to allocations of JVMs without an agent. */
#ifndef HOSTPROF_SESSION_PIPELINE_OUTSIDE_H
#define HOSTPROF_SESSION_PIPELINE_OUTSIDE_H

#include "session/pipeline.h"

/* PROCESS is a JVM: it has an agent to be cared for, or is to be seen from outside. */
void pipeline_add_jvm(struct pipeline *pipeline, struct process *process);
/* Try those that were starting; call it often. */
void pipeline_outside_poll(struct pipeline *pipeline);
void pipeline_outside_forget(struct pipeline *pipeline, struct process *process);

#endif
