/* SPDX-License-Identifier: Apache-2.0 */
/* Where JVMs tell of allocations: the agent's function, probed in each JVM that has one. */
#ifndef HOSTPROF_SESSION_ALLOC_PROBES_H
#define HOSTPROF_SESSION_ALLOC_PROBES_H

#include "base/err.h"
#include "capture/capture.h"
#include "process/process.h"

/*
 * TRIGGER's samples are taken at the agent's FUNCTION. Of every agent library that PROCESS maps, of whatever build: only the one
 * that runs calls it. -EOPNOTSUPP: it has none such.
 */
int agent_probes_open(struct capture *capture, const struct process *process,
		      enum wire_trigger trigger, const char *function, struct err *err);

int alloc_probes_open(struct capture *capture, const struct process *process, struct err *err);

/* The mean interval that OPTIONS want for allocations, in bytes; 0: they want none. */
uint32_t alloc_probes_interval(const struct capture_options *options);

#endif
