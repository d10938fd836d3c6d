/* SPDX-License-Identifier: Apache-2.0 */
/* The few addresses in stubs, and offsets in a thread, that the way through a stack depends on. */
#ifndef HOSTPROF_JVM_JVM_STUBS_H
#define HOSTPROF_JVM_JVM_STUBS_H

#include <stdbool.h>

#include "base/err.h"
#include "jvm/vmstructs.h"
#include "wire.h"

/*
 * Fill WIRE's call stub, continuation stubs and offsets of a JavaThread. -EAGAIN: there is no call
 * stub yet. *RET_COMPLETE is false while what virtual threads need is not there yet: enterSpecial
 * is made when the first of them runs. Read it again then; nothing else depends on it.
 */
int jvm_stubs_read(const struct vmstructs *vs, struct wire_jvm *wire, bool *ret_complete,
		   struct err *err);

#endif
