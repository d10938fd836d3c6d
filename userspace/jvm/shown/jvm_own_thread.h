/* SPDX-License-Identifier: Apache-2.0 */
/* How the step functions find the JVM's own Thread of a thread (bpf/hotspot/own_thread.h). */
#ifndef HOSTPROF_JVM_SHOWN_JVM_OWN_THREAD_H
#define HOSTPROF_JVM_SHOWN_JVM_OWN_THREAD_H

#include "jvm/layout/vmstructs.h"
#include "wire.h"

/*
 * -EOPNOTSUPP: the JVM does not tell; -EAGAIN: it has too few threads yet, or they begin just now; -EBADMSG; and errors of
 * the read. Threads are looked at until DEADLINE_NS.
 */
int jvm_own_thread_read(const struct vmstructs *vs, uint64_t deadline_ns,
			struct wire_own_thread *ret_own);

#endif
