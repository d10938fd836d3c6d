/* SPDX-License-Identifier: Apache-2.0 */
/* Where JVMs tell of waits for locks: of monitors the agent's function, in each JVM that has one, of java.util.concurrent their own probes. */
#ifndef HOSTPROF_SESSION_LOCK_PROBES_H
#define HOSTPROF_SESSION_LOCK_PROBES_H

#include <stdbool.h>

#include "base/err.h"
#include "capture/capture.h"
#include "process/process.h"

/* As agent_probes_open() of session/alloc/alloc_probes.h. */
int lock_probes_open(struct capture *capture, const struct process *process, struct err *err);

/* Where a wait to enter a monitor begins; -EOPNOTSUPP: an older agent, which does not tell. */
int lock_probes_open_begin(struct capture *capture, const struct process *process, struct err *err);

/* LockSupport.park() of the JVM PROCESS, as jvm_probes_open() of session/probes/jvm_probes.h. */
int lock_probes_open_parks(struct capture *capture, const struct process *process, struct err *err);

/* Do OPTIONS want locks? Then *RET_LEAST_NS is the least length of a wait. */
bool lock_probes_wanted(const struct capture_options *options, uint64_t *ret_least_ns);

#endif
