/* SPDX-License-Identifier: Apache-2.0 */
/* Where the code cache's heaps and their segment maps lie. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_HEAPS_H
#define HOSTPROF_JVM_LAYOUT_JVM_HEAPS_H

#include "base/err.h"
#include "jvm/layout/vmstructs.h"
#include "wire.h"

/*
 * Fill what WIRE tells of heaps, and the bounds of the code cache. Bounds are the reserved ones,
 * so that a heap that grows needs no second look. -EAGAIN: there are none yet; -EOPNOTSUPP,
 * -EBADMSG.
 */
int jvm_heaps_read(const struct vmstructs *vs, struct wire_jvm *wire, struct err *err);

#endif
