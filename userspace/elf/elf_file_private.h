/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of ELF structures in elf/ share; nobody else includes it. */
#ifndef HOSTPROF_ELF_ELF_FILE_PRIVATE_H
#define HOSTPROF_ELF_ELF_FILE_PRIVATE_H

#include <gelf.h>

#include "base/vec.h"
#include "elf/elf_file.h"
#include "elf/elf_limits.h"

struct elf_file {
	Elf *elf; /* owned */
	GElf_Ehdr header;
	VEC(struct elf_segment) segments;
	size_t section_names; /* index of the string table, 0 when there is none */
	VEC(size_t) read;     /* indexes of the sections that were read whole */
	uint64_t read_left, notes_left;
};

/* LEN bytes of PLACE at OFFSET, all or an error. */
typedef int elf_read_fn(const void *place, void *dst, size_t len, uint64_t offset);

/* -EBADMSG no ELF file; -E2BIG it says that it has more sections or segments than we look at. */
int elf_check_counts(elf_read_fn *read, const void *place, struct err *err);

/* The first section of that name, or of that type. */
Elf_Scn *elf_file_find_section(struct elf_file *file, const char *name, GElf_Shdr *ret_header);
Elf_Scn *elf_file_find_table(struct elf_file *file, uint32_t type, GElf_Shdr *ret_header);

/*
 * The section's bytes as they are in the file (symbols converted); NULL when not readable, or more
 * than there is room for.
 */
Elf_Data *elf_file_section_data(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header);

/* A NUL-terminated string at OFFSET, or NULL. */
const char *elf_data_string(const Elf_Data *strings, uint64_t offset);

/* A symbol that is looked up; and which of two names of one address is the more fitting one. */
bool elf_symbol_is_function(const GElf_Sym *symbol);
unsigned char elf_symbol_rank(const GElf_Sym *symbol, const char *name);

/* Call FN for every PLT entry (elf/plt.c). */
void elf_file_for_each_plt(struct elf_file *file,
			   void (*fn)(const struct elf_raw_symbol *symbol, void *data), void *data);
/* Up to LEN bytes of the code at ADDRESS, as far as its section has them; how many. */
size_t elf_file_copy_code(struct elf_file *file, uint64_t address, uint8_t *buf, size_t len);

#endif
