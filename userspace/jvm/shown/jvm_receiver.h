/* SPDX-License-Identifier: Apache-2.0 */
/* How the step functions find the class of an object that a vtable or itable stub calls (bpf/hotspot/receiver.h). */
#ifndef HOSTPROF_JVM_SHOWN_JVM_RECEIVER_H
#define HOSTPROF_JVM_SHOWN_JVM_RECEIVER_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* -EOPNOTSUPP: the JVM does not tell; -EBADMSG; and errors of the read. */
int jvm_receiver_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct wire_receiver *ret_receiver);

#endif
