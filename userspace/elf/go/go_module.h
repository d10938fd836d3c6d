/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.firstmoduledata, which begins with the address of Go's tables and has those of all their parts: of a program without symbols it is
 * searched for in what it writes to. In a file that another linker has made position-independent these words are in its relocations.
 */
#ifndef HOSTPROF_ELF_GO_GO_MODULE_H
#define HOSTPROF_ELF_GO_GO_MODULE_H

#include "elf/elf_file.h"
#include "elf/go/go_table.h"

struct go_module {
	uint64_t text, inlined; /* addresses */
};

/* That of TABLE, whose header was read. */
bool go_module_find(const struct go_table *table, struct elf_file *elf, struct go_module *ret);

#endif
