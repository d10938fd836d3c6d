/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code blobs in a JVM's memory: which one holds an address, and what it is. Everything is read
 * while the JVM runs and may change meanwhile; code_blob_is_same() tells. Source of the layouts:
 * src/hotspot/share/memory/heap.{hpp,cpp}, share/code/{codeBlob,nmethod}.hpp.
 */
#ifndef HOSTPROF_JVM_NAMES_CODE_BLOB_H
#define HOSTPROF_JVM_NAMES_CODE_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_ahead.h"
#include "jvm/layout/vm_memory.h"

/* The longest in JDK 8 to 28 has some 50; longer ones are cut. */
#define CODE_BLOB_MAX_NAME 63

struct code_blob {
	uint64_t start;
	uint64_t end;
	uint64_t method;     /* Method* of an nmethod; 0: it was unloaded, or is a stub */
	uint32_t compile_id; /* of an nmethod; of a stub, what is there in its place */
	bool is_nmethod;
	uint64_t name_address;
	char name[CODE_BLOB_MAX_NAME + 1]; /* "nmethod", "I2C/C2I adapters", … */
};

/*
 * The blob that holds ADDRESS. -ESTALE: there is none now; -EBADMSG: what is there is no blob;
 * -ENODATA: the layout does not know code blobs; -ESRCH, -EPERM as the read says.
 */
int code_blob_find(const struct vm_memory *memory, const struct jvm_layout *layout,
		   uint64_t address, struct code_blob *ret_blob);

/* Of many: ask for what is read of the segment map, fetch, and ask for their first bytes, in which all fields lie. */
void code_blob_want_segments(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
			     uint64_t address);
void code_blob_want_head(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
			 uint64_t address);

/* Are the COUNT nmethods BLOBS still the code that they were when they were found? */
void code_blobs_check(const struct vm_memory *memory, const struct jvm_layout *layout,
		      const struct code_blob *const *blobs, unsigned int count, bool *ret_same);
bool code_blob_is_same(const struct vm_memory *memory, const struct jvm_layout *layout,
		       const struct code_blob *blob);

#endif
