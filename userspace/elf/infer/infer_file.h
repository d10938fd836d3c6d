/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a file's code that no call frame information describes, inferred from the code itself: 16 KiB at a time, when a
 * page of them is wanted. Where its functions begin is known from symbols and from calls; the rest follows.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_FILE_H
#define HOSTPROF_ELF_INFER_INFER_FILE_H

#include "elf/cfi/cfi_layer.h"
#include "elf/elf_file.h"
#include "elf/infer/infer_flow.h"
#include "elf/infer/infer_pointers.h"

/* Chunks that are kept: who asks for a page mostly asks for its neighbours. */
#define INFER_CHUNKS 16

struct infer_chunk {
	uint64_t start; /* 0 bytes of it: free */
	uint64_t used;
	struct infer_rows_found rows; /* places count from the start */
};

struct infer_file {
	struct cfi_reader *reader;   /* borrowed; NULL: nothing is inferred */
	struct cfi_layer *layers[2]; /* borrowed: what they describe is left alone */
	VEC(struct infer_section)
	code, gaps;			/* gaps: what no layer describes of it, once gaps_found */
	struct infer_section tables[2]; /* of symbols */
	bool gaps_found, places_read;
	VEC(uint64_t) begins; /* of functions by symbols, and of main; rising */
	struct infer_pointers pointers;
	struct infer_chunk chunks[INFER_CHUNKS];
	uint64_t uses, spent_ns;
};

/* MAIN: the address of a function that neither a symbol nor a call may lead to, and that may not return; 0: none is known. */
void infer_file_open(struct infer_file *infer, struct cfi_reader *reader, struct elf_file *elf,
		     struct cfi_layer *eh_frame, struct cfi_layer *debug_frame, uint64_t main);
void infer_file_release(struct infer_file *infer);
size_t infer_file_bytes(const struct infer_file *infer);

/* Fill up ROWS of the page that begins at PAGE where they have nothing to say. */
void infer_file_fill(struct infer_file *infer, uint64_t page, struct cfi_rows *rows);

/* Call FN for every part of the code that no call frame information describes; all that rows are inferred from is there, in begins and in pointers. */
void infer_file_for_each_gap(struct infer_file *infer,
			     void (*fn)(uint64_t offset, uint64_t len, void *data), void *data);
/* Read begins and pointers. */
void infer_file_read_places(struct infer_file *infer);

#endif
