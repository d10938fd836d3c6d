/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make a cfi_file share and nobody else needs. */
#ifndef HOSTPROF_ELF_CFI_CFI_FILE_PRIVATE_H
#define HOSTPROF_ELF_CFI_CFI_FILE_PRIVATE_H

#include "elf/cfi/cfi_file.h"
#include "elf/cfi/cfi_gopcln.h"
#include "elf/cfi/cfi_layer.h"
#include "elf/cfi/cfi_linkage.h"
#include "elf/cfi/cfi_main.h"
#include "elf/cfi/cfi_reader.h"
#include "elf/cfi/cfi_roots.h"
#include "elf/elf_file.h"
#include "elf/infer/infer_file.h"

struct cfi_file {
	int fd; /* owned; -1: memory */
	struct cfi_reader reader;
	struct cfi_reader debug_reader; /* of .debug_frame, when that was compressed */
	void *debug_bytes;		/* owned */
	size_t debug_len;
	struct cfi_layer eh_frame;
	struct cfi_layer debug_frame;
	struct go_table go; /* instead of .debug_frame */
	struct cfi_roots roots;
	uint64_t main; /* of which .eh_frame says nothing, as C's _start has it; 0: none */
	struct cfi_main rust_main;
	struct cfi_linkage linkage;
	struct infer_file infer; /* where nothing else is said */
	VEC(struct elf_segment) segments;
	struct cfi_rows scratch;
	char build_id[129];
};

/* Up to SIZE bytes at ADDRESS into BUF; how many there are. */
size_t cfi_read_address(struct cfi_file *file, uint64_t address, void *buf, size_t size);

/* gcc's functions (cfi_crt.h) that ELF's arrays lead to and no FDE describes, into the linkage. */
void cfi_crt_find(struct cfi_file *file, struct elf_file *elf);

#endif
