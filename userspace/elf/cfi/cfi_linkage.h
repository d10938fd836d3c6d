/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is linked into every file and that no FDE describes. _init and _fini: the linker puts
 * them together from pieces of all object files (the sections .init and .fini), the first and the
 * last of which are the C library's. And gcc's functions that .init_array and .fini_array lead to.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_LINKAGE_H
#define HOSTPROF_ELF_CFI_CFI_LINKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/cfi/cfi_rows.h"
#include "elf/elf_file.h"

/* .init, .fini, and gcc's four. */
#define CFI_LINKAGE_PARTS 6

struct cfi_linkage {
	/* start == end: there is none, or it does not look as it should. */
	struct cfi_linkage_part {
		uint64_t start, pushed, popped, end; /* the stack is 8 bytes deeper in the middle */
		bool rbp;			     /* ... where %rbp lies then */
	} parts[CFI_LINKAGE_PARTS];

	size_t count;
};

/* _init and _fini; cfi_crt_find() adds the others. */
void cfi_linkage_find(struct cfi_linkage *linkage, struct elf_file *elf);

/* Change ROWS of the page that begins at PAGE. */
void cfi_linkage_apply(const struct cfi_linkage *linkage, uint64_t page, struct cfi_rows *rows);

#endif
