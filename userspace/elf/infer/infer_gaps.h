/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a file's code no call frame information describes. */
#ifndef HOSTPROF_ELF_INFER_INFER_GAPS_H
#define HOSTPROF_ELF_INFER_INFER_GAPS_H

#include "elf/cfi/cfi_layer.h"

/* Shorter ones are padding. */
#define INFER_LEAST_GAP 16

struct infer_gap {
	uint64_t start, end;
};

struct infer_gaps {
	VEC(struct infer_gap) v; /* rising, without overlaps */
};

/* Those of [start, end), as COUNT layers tell, into GAPS (emptied first). */
void infer_gaps_find(struct cfi_layer *const *layers, size_t count, uint64_t start, uint64_t end,
		     struct infer_gaps *gaps);

#endif
