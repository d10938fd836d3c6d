/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _init and _fini, which no FDE describes: the linker puts them together from pieces of all object
 * files (the sections .init and .fini), the first and the last of which are the C library's.
 */
#ifndef HOSTPROF_ELF_CFI_LINKAGE_H
#define HOSTPROF_ELF_CFI_LINKAGE_H

#include <stdint.h>

#include "elf/cfi_file.h"
#include "elf/elf_file.h"

struct cfi_linkage {
	/* One of the two; start == end: there is none, or it does not look as it should. */
	struct cfi_linkage_part {
		uint64_t start, pushed, popped, end; /* the stack is 8 bytes deeper in the middle */
	} parts[2];
};

void cfi_linkage_find(struct cfi_linkage *linkage, struct elf_file *elf);

/* Change ROWS of the page that begins at PAGE. */
void cfi_linkage_apply(const struct cfi_linkage *linkage, uint64_t page, struct cfi_rows *rows);

#endif
