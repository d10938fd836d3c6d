/* SPDX-License-Identifier: Apache-2.0 */
/* Where JVMs tell of their safepoints: their own probes (session/probes/jvm_probes.h). */
#ifndef HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PROBES_H
#define HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PROBES_H

#include <stdbool.h>

#include "base/err.h"
#include "capture/capture.h"
#include "process/process.h"

/* Is -e safepoint among the events? */
bool safepoint_probes_wanted(const struct capture_options *options);

/* Probe the JVM PROCESS, as jvm_probes_open(). */
int safepoint_probes_open(struct capture *capture, const struct process *process, struct err *err);

#endif
