/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug information of one nmethod, read from a JVM's memory: which bytecode of which method each place
 * of its code is, and into which methods these were inlined. Everything read is hostile and may change
 * meanwhile: code_blob_is_same() tells. Source: share/code/{debugInfo,debugInfoRec,scopeDesc,pcDesc}.cpp.
 */
#ifndef HOSTPROF_JVM_NAMES_CODE_SCOPES_H
#define HOSTPROF_JVM_NAMES_CODE_SCOPES_H

#include <stdint.h>

#include "base/macros.h"
#include "jvm/code_chain.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/scopes_layout.h"

struct code_scopes {
	uint64_t code_start; /* what offsets of places count from */
	uint32_t pc_count, node_count, method_count;
	const struct code_pc *pcs;     /* the arrays are in the same block */
	const struct code_node *nodes; /* methods are indices of the next one */
	const uint64_t *methods;       /* Method* in the JVM */
};

/*
 * That of BLOB, an nmethod; owned by the caller, freed by free(). -ENODATA: the layout does not know it, or
 * the nmethod has none; -E2BIG: it has more than any compiler writes; -EBADMSG: it makes no sense; else as the
 * read says.
 */
int code_scopes_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		     const struct scopes_layout *scopes, const struct code_blob *blob,
		     struct code_scopes **ret_scopes);

/* Of many: ask for all that it will read of BLOB, which READER has found. */
void code_scopes_want(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
		      const struct scopes_layout *scopes, const struct code_blob *blob);

/* What it takes of memory. */
size_t code_scopes_bytes(const struct code_scopes *scopes);

/* The node of ADDRESS, innermost; CODE_NO_NODE: nothing is known of that place. */
uint32_t code_scopes_find(const struct code_scopes *scopes, uint64_t address);

#endif
