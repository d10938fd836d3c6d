/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by Go's own tables: they say of every pc how far the stack pointer is from where it was at the function's entry. */
#ifndef HOSTPROF_ELF_CFI_CFI_GOPCLN_H
#define HOSTPROF_ELF_CFI_CFI_GOPCLN_H

#include "elf/cfi/cfi_roots.h"
#include "elf/cfi/cfi_rows.h"
#include "elf/go/go_table.h"

void cfi_gopcln_rows(const struct go_table *table, uint64_t page, struct cfi_rows *rows);

/* The functions that cfi_roots knows by name. */
void cfi_gopcln_add_roots(const struct go_table *table, struct cfi_roots *roots);

#endif
