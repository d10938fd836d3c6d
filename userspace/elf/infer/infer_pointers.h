/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of a file's data that are addresses of its code. A function that is only called through a table has no other sign of where it begins;
 * but tables that code jumps by have such words, too.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_POINTERS_H
#define HOSTPROF_ELF_INFER_INFER_POINTERS_H

#include "base/vec.h"
#include "elf/cfi/cfi_reader.h"
#include "elf/elf_file.h"

/* Of data that is looked through, and pointers that are kept of one file. */
#define INFER_POINTERS_BYTES (8U << 20)
#define INFER_MAX_POINTERS   (1U << 16)

struct infer_section {
	uint64_t address, offset, size;
};

struct infer_pointers {
	VEC(struct infer_section) data;
	struct infer_section relocations; /* of words that depend on where the file is loaded */
	VEC(uint64_t) v;		  /* rising, each once */
};

/* Note where they may be. */
void infer_pointers_find(struct infer_pointers *pointers, struct elf_file *elf);
/* Read those that lead into one of these sections. */
void infer_pointers_read(struct infer_pointers *pointers, struct cfi_reader *reader,
			 const struct infer_section *code, size_t count);
void infer_pointers_release(struct infer_pointers *pointers);
size_t infer_pointers_bytes(const struct infer_pointers *pointers);

#endif
