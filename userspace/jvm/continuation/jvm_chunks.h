/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a JVM keeps a virtual thread's frames in its heap: where the fields of jdk.internal.vm.StackChunk
 * and .Continuation lie. VMStructs do not tell; the JVM's own description of the classes does.
 */
#ifndef HOSTPROF_JVM_CONTINUATION_JVM_CHUNKS_H
#define HOSTPROF_JVM_CONTINUATION_JVM_CHUNKS_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmstructs.h"

/*
 * LAYOUT: its offsets of names are known. PAGES: of the JVM's memory. *ret_chunks is all zeros but when it returns 0.
 *   -EAGAIN	the classes are not loaded yet
 *   -EOPNOTSUPP	the collector moves objects while threads run (ZGC), or something is not told
 *   -EBADMSG	what was read cannot be; and errors of the read
 */
int jvm_chunks_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		    struct vm_pages *pages, struct wire_chunks *ret_chunks);

#endif
