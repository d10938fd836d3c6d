/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through code on all its ways from the entries of its functions, and says of each instruction what all ways agree on.
 * A function is believed when it behaves as one: it returns with its stack pointer where it was, or begins by saving what
 * a caller wants back. One that returns otherwise is not, with all that it shares code with.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_FLOW_H
#define HOSTPROF_ELF_INFER_INFER_FLOW_H

#include "elf/infer/infer_state.h"

/* Instructions that are walked through in one piece of code, the same one maybe several times. */
#define INFER_MAX_STEPS (1U << 20)

struct infer_piece {
	const uint8_t *bytes; /* borrowed */
	size_t len;
	const uint32_t *entries; /* offsets of functions that are known, rising; borrowed */
	size_t entry_count;
	const uint32_t *pointed; /* offsets that the file's data has, rising; borrowed */
	size_t pointed_count;
	bool begins; /* a function begins at the first byte, if padding does not */
	uint64_t address;
};

struct infer_row {
	uint32_t at;
	struct wire_rule rule;
};

struct infer_rows_found {
	VEC(struct infer_row) v;
};

/* Append the rows of PIECE, from its first byte to its last, in order. */
void infer_flow_rows(const struct infer_piece *piece, struct infer_rows_found *rows);

#endif
