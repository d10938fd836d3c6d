/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints of the kernel as events: their numbers are in tracefs. */
#ifndef HOSTPROF_CAPTURE_TRACEPOINT_H
#define HOSTPROF_CAPTURE_TRACEPOINT_H

#include "base/err.h"
#include "capture/event.h"

/*
 * NAME, "GROUP:NAME", into type and config of EVENT. -EINVAL: it is not of that form. -ENOENT: tracefs is not
 * mounted, or there is no such tracepoint. -EACCES: tracefs may not be read.
 */
int tracepoint_parse(const char *name, struct capture_event *event, struct err *err);

#endif
