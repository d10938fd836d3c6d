/* SPDX-License-Identifier: Apache-2.0 */
/* The files that processes execute, each opened once; the vDSO is taken from our own memory. */
#ifndef HOSTPROF_TESTS_CODE_FILES_H
#define HOSTPROF_TESTS_CODE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "elf/cfi/cfi_file.h"
#include "elf/elf_file.h"
#include "process/registry.h"

struct code_file {
	uint32_t number;      /* 1.. */
	char path[512];	      /* of the file, or of a copy of the vDSO */
	const uint8_t *bytes; /* mapped */
	size_t len;
	struct cfi_file *cfi; /* owned */
	struct elf_file *elf; /* owned */
	int fd;
};

/* NULL: no ELF file is there (any more). Files stay open until the end. */
struct code_file *code_file_get(const struct mapping *mapping);
struct code_file *code_file_by_number(uint32_t number);

/* What is to be taken from MAPPING's addresses for the file's own; false: it holds no segment. */
bool code_file_bias(const struct code_file *file, const struct mapping *mapping,
		    uint64_t *ret_bias);

/* Bytes of mapped code; 0 or -EFAULT. */
int code_read(struct process *process, uint64_t address, void *dst, size_t len);

#endif
