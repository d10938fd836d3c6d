/* SPDX-License-Identifier: Apache-2.0 */
/* How BPF finds the object that a thread noted when it parked (bpf/hotspot/blocker.h), and who has the lock that it waits for. */
#ifndef HOSTPROF_JVM_SHOWN_JVM_PARKING_H
#define HOSTPROF_JVM_SHOWN_JVM_PARKING_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/*
 * All but the process and the pace; where the collector moves objects while Java runs only who has a monitor. Threads are looked at until DEADLINE_NS. -EOPNOTSUPP: a
 * JVM that does not tell enough; -EAGAIN: it is still starting; -EBADMSG; and errors of the read.
 */
int jvm_parking_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		     uint64_t deadline_ns, struct wire_parking *ret_parking);

#endif
