/* SPDX-License-Identifier: Apache-2.0 */
/* The few addresses in stubs, and offsets in a thread, that the way through a stack depends on. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_STUBS_H
#define HOSTPROF_JVM_LAYOUT_JVM_STUBS_H

#include "base/err.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/*
 * Fill the call stub, the continuation stubs and the offsets of a JavaThread in LAYOUT->wire, which
 * has its heaps and blobs already. -EAGAIN: there is no call stub yet. LAYOUT is provisional while
 * what virtual threads need is not there: enterSpecial is made when the first of them runs. Read it
 * again then; nothing else depends on it.
 */
int jvm_stubs_read(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err);

#endif
