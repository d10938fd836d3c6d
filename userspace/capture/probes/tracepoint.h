/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoints of the kernel: their numbers are in tracefs. */
#ifndef HOSTPROF_CAPTURE_PROBES_TRACEPOINT_H
#define HOSTPROF_CAPTURE_PROBES_TRACEPOINT_H

#include <stdint.h>

#include "base/err.h"

/*
 * The number of NAME, "GROUP:NAME". -EINVAL: it is not of that form. -ENOENT: tracefs is not
 * mounted, or there is no such tracepoint. -EACCES: tracefs may not be read.
 */
int tracepoint_parse(const char *name, uint64_t *ret_number, struct err *err);

#endif
