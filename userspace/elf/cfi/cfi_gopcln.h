/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's own tables (.gopclntab), which a stripped program keeps too: they say of every pc how far
 * the stack pointer is from where it was at the function's entry, and name the functions.
 * Layouts: Go 1.20 to 1.26, runtime/symtab.go (pcHeader, step) and runtime/runtime2.go (_func).
 */
#ifndef HOSTPROF_ELF_CFI_CFI_GOPCLN_H
#define HOSTPROF_ELF_CFI_CFI_GOPCLN_H

#include "elf/cfi/cfi_reader.h"
#include "elf/cfi/cfi_roots.h"
#include "elf/cfi/cfi_rows.h"

struct cfi_gopcln {
	struct cfi_reader *reader; /* borrowed; NULL: the file has no such tables */
	uint64_t offset, size;	   /* of the section in the file */
	uint64_t text;		   /* address that functions count from */
	uint64_t count;		   /* of functions */
	uint64_t names, pctab, functab;
};

/* -ENODATA: none, or none of a form that we know. */
int cfi_gopcln_open(struct cfi_gopcln *table, struct cfi_reader *reader, struct elf_file *elf);

void cfi_gopcln_rows(struct cfi_gopcln *table, uint64_t page, struct cfi_rows *rows);

/* Call FN for every function, by address; false from FN: enough. */
void cfi_gopcln_for_each(struct cfi_gopcln *table,
			 bool (*fn)(uint64_t start, uint64_t end, void *data), void *data);

/* The functions that cfi_roots knows by name. */
void cfi_gopcln_add_roots(struct cfi_gopcln *table, struct cfi_roots *roots);

#endif
