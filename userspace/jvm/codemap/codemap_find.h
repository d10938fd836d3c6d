/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process keeps the memory that an agent publishes, and how its clock differs from ours. */
#ifndef HOSTPROF_JVM_CODEMAP_CODEMAP_FIND_H
#define HOSTPROF_JVM_CODEMAP_CODEMAP_FIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* An open descriptor of the newest code map of PID; -ENODATA it has none, -ESRCH, -EACCES. */
int codemap_find_fd(uint32_t pid, struct err *err);

/*
 * CLOCK_MONOTONIC of PID minus ours: its time namespace's offset, 0 in the usual case that both
 * are in the same one.
 */
int64_t codemap_clock_offset_ns(uint32_t pid);

/* The "monotonic" line of /proc/PID/timens_offsets in nanoseconds, 0 when there is none. */
int64_t codemap_parse_timens(const char *text, size_t len);

#endif
