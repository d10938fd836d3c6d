/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs of virtual threads in a JVM that does not say where they are. */
#ifndef HOSTPROF_JVM_CONTINUATION_JVM_CONTINUATIONS_H
#define HOSTPROF_JVM_CONTINUATION_JVM_CONTINUATIONS_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/*
 * Find the return barrier (JDK 21 to 26) and the return address in enterSpecial (21 to 24) of a
 * JVM whose library was stripped, by their code, and put them into LAYOUT->wire; what is known is
 * left alone. LAYOUT has its heaps and blobs already. Blobs are walked one by one: a few
 * milliseconds in a large code cache.
 */
void jvm_continuations_find(const struct vmstructs *vs, struct jvm_layout *layout);

/*
 * JavaThread::_cont_entry as the return barrier loads it, by which it begins; WIRE_JVM_ABSENT when
 * no return barrier is there.
 */
uint16_t jvm_continuations_entry(const struct vm_memory *memory, uint64_t barrier);

#endif
