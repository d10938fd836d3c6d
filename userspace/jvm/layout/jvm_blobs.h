/* SPDX-License-Identifier: Apache-2.0 */
/* All code blobs of a JVM, one after the other, as they lie in its heaps. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_BLOBS_H
#define HOSTPROF_JVM_LAYOUT_JVM_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

struct jvm_blob {
	uint64_t code, end; /* code < end; what lies before `code` is header and relocations */
	int32_t frame_size; /* words */
	const char *name;   /* borrowed during the call; cut when it is long */
};

/*
 * Call FN for each blob of the heap that holds ADDRESS, of all heaps when it is 0, until FN returns
 * false. The JVM runs on: a heap that changes meanwhile ends early, or yields what was never there.
 */
void jvm_blobs_walk(const struct vmstructs *vs, const struct jvm_layout *layout, uint64_t address,
		    bool (*fn)(const struct jvm_blob *blob, void *data), void *data);

#endif
