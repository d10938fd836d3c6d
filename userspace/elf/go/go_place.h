/* SPDX-License-Identifier: Apache-2.0 */
/* Where Go's tables are in a file, and the proof that they are of its code. */
#ifndef HOSTPROF_ELF_GO_GO_PLACE_H
#define HOSTPROF_ELF_GO_GO_PLACE_H

#include "elf/elf_file.h"
#include "elf/go/go_table.h"

/* -ENODATA: none, or none of a form that we know, or not those of this code. */
int go_place_open(struct go_table *table, struct cfi_reader *reader, struct elf_file *elf);

#endif
