/* SPDX-License-Identifier: Apache-2.0 */
/* Does this kernel tell who waits for its own locks? */
#ifndef HOSTPROF_CAPTURE_PROBES_CONTENTION_H
#define HOSTPROF_CAPTURE_PROBES_CONTENTION_H

#include "base/err.h"

/* 0, or -EOPNOTSUPP: it has no tracepoints lock:contention_begin and _end. Without its types (BTF) nobody knows, and the preflight says so. */
int contention_check(struct err *err);

#endif
