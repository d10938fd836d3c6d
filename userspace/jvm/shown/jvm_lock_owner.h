/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF finds who has the lock that a thread is about to wait for (bpf/hotspot/lock_owner.h). */
#ifndef HOSTPROF_JVM_SHOWN_JVM_LOCK_OWNER_H
#define HOSTPROF_JVM_SHOWN_JVM_LOCK_OWNER_H

#include "jvm/heap/java_thread_layout.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* Of monitors, whatever the collector; what cannot be known is all 0. */
void jvm_lock_owner_read(const struct vmstructs *vs, struct wire_lock_owner *ret_owner);

/*
 * Of java.util.concurrent's locks, into OWNER, which has the monitors'; THREADS: the JVM's. -EAGAIN: it has not loaded their class; -EOPNOTSUPP:
 * it does not tell enough (before JDK 17); and errors of the read.
 */
int jvm_lock_owner_add_locks(const struct vmstructs *vs, const struct jvm_layout *layout,
			     const struct java_thread_layout *threads,
			     struct wire_lock_owner *owner);

#endif
