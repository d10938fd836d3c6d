/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a table that is too large to be read whole: they are looked at one piece after the other, and their names stay in the file
 * until one is wanted.
 */
#ifndef HOSTPROF_ELF_FAR_SYMBOLS_H
#define HOSTPROF_ELF_FAR_SYMBOLS_H

#include "elf/cfi/cfi_reader.h"
#include "elf/elf_file.h"

/* What such a name is behind, in the file. */
struct far_names {
	uint64_t offset, size; /* size 0: there are none */
};

struct far_symbol {
	uint64_t address, size;
	uint32_t name; /* offset among the names */
	unsigned char rank;
};

/* How many there are at most: in .symtab, or without one in .dynsym; 0: none that can be read so. */
uint64_t far_symbols_count(struct elf_file *file);

/* Call FN for every function; READER has the file's bytes. */
void far_symbols_for_each(struct elf_file *file, struct cfi_reader *reader,
			  void (*fn)(const struct far_symbol *symbol, void *data), void *data,
			  struct far_names *ret_names);

#endif
