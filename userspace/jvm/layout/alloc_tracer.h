/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's AllocTracer (share/gc/shared/allocTracer.hpp): the two functions that are told of each new TLAB and of each
 * object outside TLABs, whether Flight Recorder runs or not. They are not exported: a library that was stripped
 * needs its debug file.
 */
#ifndef HOSTPROF_JVM_LAYOUT_ALLOC_TRACER_H
#define HOSTPROF_JVM_LAYOUT_ALLOC_TRACER_H

#include <stdint.h>

#include "base/err.h"
#include "jvm/layout/libjvm.h"

/*
 * File offsets of the instructions to probe, where the arguments are still in their registers. That is the
 * first one, or the one behind its endbr64: a uprobe on that is stepped out of line and costs twelve times as
 * much as one on a push or nop, which the kernel does itself (arch/x86/kernel/uprobes.c).
 */
struct alloc_tracer {
	uint64_t new_tlab, outside_tlab;
};

/*
 * In the library LIB; its debug file is looked for as process PID sees it, which
 * calls the library PATH. FEATURE: the JVM's release, 0 unknown, for the message. -ENODATA: there are no such
 * symbols; err says which debug file has them. -EOPNOTSUPP: a JDK 8 before 8u262.
 */
int alloc_tracer_find(const struct libjvm *lib, uint32_t pid, const char *path, uint32_t feature,
		      struct alloc_tracer *ret_tracer, struct err *err);

#endif
