/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM has its counters in its own memory. */
#ifndef HOSTPROF_JVM_PERF_JVM_PERF_H
#define HOSTPROF_JVM_PERF_JVM_PERF_H

#include "base/strbuf.h"
#include "jvm/layout/vm_memory.h"

/*
 * The address of the string NAME among the counters of a process with MEMORY, of whose mappings MAPS is the text. -ENODATA: it shares no
 * such memory (-XX:-UsePerfData, +PerfDisableSharedMem); -EAGAIN: that has no such string yet; and errors of the read.
 */
int jvm_perf_find(const struct vm_memory *memory, const struct strbuf *maps, const char *name,
		  uint64_t *ret_address);

/* The same of process PID. */
int jvm_perf_read(const struct vm_memory *memory, uint32_t pid, const char *name,
		  uint64_t *ret_address);

#endif
