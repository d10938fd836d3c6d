/* SPDX-License-Identifier: Apache-2.0 */
/* How the step functions find the method that a compiler thread compiles (bpf/hotspot/compiling.h). */
#ifndef HOSTPROF_JVM_SHOWN_JVM_COMPILING_H
#define HOSTPROF_JVM_SHOWN_JVM_COMPILING_H

#include "jvm/layout/vmstructs.h"
#include "wire.h"

/*
 * -EOPNOTSUPP: the JVM does not tell; -EAGAIN: it has too few threads yet, or they begin just now; -EBADMSG; and errors of
 * the read. Threads are looked at until DEADLINE_NS.
 */
int jvm_compiling_read(const struct vmstructs *vs, uint64_t deadline_ns,
		       struct wire_compiling *ret_compiling);

#endif
