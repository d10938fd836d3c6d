/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's own probes of its safepoints (hs_private:safepoint__begin, hotspot:vmops__begin, hotspot:vmops__end, hs_private:safepoint__end), which fire without any flag. Builds
 * for Linux have them from JDK 11 on, JDK 8's have none.
 */
#ifndef HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PROBES_H
#define HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_PROBES_H

#include <stdbool.h>

#include "base/err.h"
#include "capture/capture.h"
#include "process/process.h"

/* Is -e safepoint among the events? */
bool safepoint_probes_wanted(const struct capture_options *options);

/* Probe the JVM PROCESS. -ENODATA: it has no HotSpot library, or that no such probes; ERR says so. */
int safepoint_probes_open(struct capture *capture, const struct process *process, struct err *err);

#endif
