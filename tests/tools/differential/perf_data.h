/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of what `perf record --call-graph dwarf` writes, for samples with user registers and a
 * copy of the stack. The file's layout: the kernel's tools/perf/Documentation/
 * perf.data-file-format.txt; its records: include/uapi/linux/perf_event.h.
 */
#ifndef HOSTPROF_TESTS_PERF_DATA_H
#define HOSTPROF_TESTS_PERF_DATA_H

#include "base/err.h"
#include "snapshot.h"

typedef void snapshot_fn(const struct snapshot *snapshot, void *data);

/* Call FN for every sample of a 64-bit user stack, in the order of time. */
int perf_data_for_each(const char *path, snapshot_fn *fn, void *data, struct err *err);

#endif
