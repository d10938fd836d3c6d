/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of ELF structures in elf/ share; nobody else includes it. */
#ifndef HOSTPROF_ELF_ELF_FILE_PRIVATE_H
#define HOSTPROF_ELF_ELF_FILE_PRIVATE_H

#include <gelf.h>

#include "base/vec.h"
#include "elf/elf_file.h"

struct elf_file {
	Elf *elf; /* owned */
	GElf_Ehdr header;
	VEC(struct elf_segment) segments;
	size_t section_names; /* index of the string table, 0 when there is none */
};

/* Symbols of the largest binaries known (browsers with debug data) stay below this. */
#define ELF_MAX_SECTION_BYTES (1ULL << 30)
#define ELF_MAX_SYMBOL_NAME   4096

/* The first section of that name, or of that type. */
Elf_Scn *elf_file_find_section(struct elf_file *file, const char *name, GElf_Shdr *ret_header);
Elf_Scn *elf_file_find_table(struct elf_file *file, uint32_t type, GElf_Shdr *ret_header);

/* The section's bytes as they are in the file (symbols converted); NULL when not readable. */
Elf_Data *elf_file_section_data(Elf_Scn *section, const GElf_Shdr *header);

/* A NUL-terminated string at OFFSET, or NULL. */
const char *elf_data_string(const Elf_Data *strings, uint64_t offset);

/* Call FN for every PLT entry (elf/plt.c). */
void elf_file_for_each_plt(struct elf_file *file,
			   void (*fn)(const struct elf_raw_symbol *symbol, void *data), void *data);

#endif
