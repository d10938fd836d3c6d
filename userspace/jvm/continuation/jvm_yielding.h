/* SPDX-License-Identifier: Apache-2.0 */
/* Where virtual threads leave their carriers and come back, and what tells which one it is (bpf/hotspot/yielding.h). */
#ifndef HOSTPROF_JVM_CONTINUATION_JVM_YIELDING_H
#define HOSTPROF_JVM_CONTINUATION_JVM_YIELDING_H

#include "jvm/heap/java_thread_layout.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* Functions of libjvm, as the process has them. */
struct jvm_yield_code {
	uint64_t freeze; /* int freeze(JavaThread *thread, intptr_t *sp) */
	uint64_t thaw; /* int Continuation::prepare_thaw(JavaThread *thread, bool return_barrier) */
	uint64_t
		preempt; /* as freeze(), for who waits for a monitor; 0: the JVM has none (before 24), or is stripped */
};

/*
 * Those that the stubs call, whichever collector's they are; libjvm lies at START to END.
 *   -EAGAIN	 no virtual thread has been made yet
 *   -EOPNOTSUPP the JVM has none, or other code than is known; and errors of the read
 */
int jvm_yield_code_find(const struct vmstructs *vs, const struct jvm_layout *layout, uint64_t start,
			uint64_t end, struct jvm_yield_code *ret_code);

/* -EOPNOTSUPP: the JVM has none, or does not tell enough; -EAGAIN: it is still starting; and errors of the read. All zeros then. */
int jvm_yielding_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      const struct java_thread_layout *threads, struct wire_yielding *ret_yielding);

#endif
