/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code whose callers the call frame information gets wrong or does not know: the first frames of
 * threads, and Go's functions that go to another stack. Go's linker writes rows for all of them as
 * if they were ordinary ones.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_ROOTS_H
#define HOSTPROF_ELF_CFI_CFI_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "elf/cfi/cfi_reader.h"
#include "elf/cfi/cfi_rows.h"
#include "elf/elf_file.h"

struct cfi_root {
	uint64_t start, end;
	struct wire_rule rule; /* END, FP, GOROUTINE or SIGNAL */
	/* FP: only where the frame is set up; before and after, its caller is found by the rows. */
	bool framed;
};

struct cfi_roots {
	VEC(struct cfi_root) v;
};

bool cfi_roots_is_go(struct elf_file *elf);

/* Those of Go's runtime, by their names: one, or all that the symbol table has. */
void cfi_roots_add_go_function(struct cfi_roots *roots, const char *name, uint64_t address,
			       uint64_t size);
void cfi_roots_add_go(struct cfi_roots *roots, struct elf_file *elf);

/* RULE from START to END, over what other roots say there; none when they are equal. */
void cfi_roots_add(struct cfi_roots *roots, uint64_t start, uint64_t end,
		   const struct wire_rule *rule);

/*
 * The program's entry point, which no FDE describes, up to its symbol's end, the next one's beginning or
 * LIMIT; nothing where these say too little. READER has the
 * file's bytes: the loop's thread is no place to read all symbols of a browser at once.
 */
void cfi_roots_add_entry(struct cfi_roots *roots, struct cfi_reader *reader, struct elf_file *elf,
			 uint64_t entry, uint64_t limit);

/* Change ROWS of the page that begins at PAGE. */
void cfi_roots_apply(const struct cfi_roots *roots, uint64_t page, struct cfi_rows *rows);

#endif
