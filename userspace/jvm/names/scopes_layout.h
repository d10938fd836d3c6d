/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the nmethods of a JVM keep their debug information: PcDescs, the scopes that these lead to, and the
 * table of Method* that scopes have indices of. Source: share/code/{nmethod,codeBlob,pcDesc}.hpp, JDK 8
 * to 28; share/code/compiledMethod.hpp, 9 to 22.
 */
#ifndef HOSTPROF_JVM_NAMES_SCOPES_LAYOUT_H
#define HOSTPROF_JVM_NAMES_SCOPES_LAYOUT_H

#include <stdint.h>

#include "jvm/layout/vmstructs.h"

enum scopes_place {
	SCOPES_UNKNOWN,	   /* nobody says what was inlined */
	SCOPES_IN_BLOB,	   /* at offsets from the blob (JDK 8) */
	SCOPES_BY_POINTER, /* the same, but the scopes have a pointer (11 to 21) */
	SCOPES_IN_BLOCK,   /* in a block of their own, the methods in another one (25 and later) */
};

/* Byte offsets of the fields that say so. */
struct scopes_layout {
	enum scopes_place place;
	uint32_t pcs;
	uint32_t pcs_end;
	uint32_t scopes;
	uint32_t methods; /* SCOPES_IN_BLOCK: of the size of what lies before them */
	/* SCOPES_IN_BLOCK only. */
	uint32_t block, block_bytes, methods_block;
	/* Of a PcDesc. */
	uint32_t pc_bytes, pc_offset, pc_scope;
};

/* `place` is SCOPES_UNKNOWN when VMStructs do not have all of it, or it makes no sense. */
void scopes_layout_read(const struct vmstructs *vs, struct scopes_layout *ret_layout);

#endif
