/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's method entry points, where a called method has no frame yet. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_ENTRIES_H
#define HOSTPROF_JVM_LAYOUT_JVM_ENTRIES_H

#include "base/err.h"
#include "jvm/layout/vmstructs.h"
#include "wire.h"

/*
 * Fill WIRE's entries from the interpreter's USED first bytes at START, which are read. None is
 * no failure: the leaf frames that are sampled there look like their caller's. -EBADMSG: the
 * codelets are not what we know.
 */
int jvm_entries_read(const struct vmstructs *vs, uint64_t start, uint32_t used,
		     struct wire_jvm *wire, struct err *err);

#endif
