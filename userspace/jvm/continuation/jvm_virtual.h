/* SPDX-License-Identifier: Apache-2.0 */
/* How a JVM says which virtual thread a thread runs, and what that is called: bpf/hotspot/virtual.h reads it. */
#ifndef HOSTPROF_JVM_CONTINUATION_JVM_VIRTUAL_H
#define HOSTPROF_JVM_CONTINUATION_JVM_VIRTUAL_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmstructs.h"

/*
 * LAYOUT has its chunks. PAGES: of the JVM's memory. -EOPNOTSUPP: a collector that moves objects while Java runs, or a JVM that does not tell enough;
 * -EAGAIN: it is still starting; other errors as the read says. All zeros then.
 */
int jvm_virtual_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, struct wire_virtual *ret_virtual);

#endif
