/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that HotSpot keeps of itself in shared memory (src/hotspot/share/runtime/perfMemory.hpp, JDK 8 to 28), which jstat reads. */
#ifndef HOSTPROF_JVM_PERF_PERF_DATA_H
#define HOSTPROF_JVM_PERF_PERF_DATA_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where in LEN bytes of it, which may be anything, the string lies that is called NAME. -EBADMSG: this is no such memory; -ENODATA: it has
 * none of that name (yet).
 */
int perf_data_find(const uint8_t *bytes, size_t len, const char *name, size_t *ret_offset);

#endif
