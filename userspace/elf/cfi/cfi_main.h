/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `main` that rustc writes around Rust's own: with -C panic=abort it has no FDE, and every stack
 * of the main thread goes through it. It is always
 *	push %rax; …; call *lang_start; pop %rcx; ret
 * (compiler/rustc_codegen_ssa/src/base.rs, create_entry_fn, as LLVM compiles it). C's _start says
 * where it is, also in a stripped program.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_MAIN_H
#define HOSTPROF_ELF_CFI_CFI_MAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/cfi/cfi_rows.h"

#define CFI_MAIN_MAX_BYTES 128

struct cfi_main {
	uint64_t start, end; /* equal: there is none */
};

/* The address of main in the CODE of _start at ENTRY; 0 when it is not there. */
uint64_t cfi_main_address(const uint8_t *code, size_t len, uint64_t entry);

/* Is CODE, of which ADDRESS is the first byte, such a function? */
bool cfi_main_match(const uint8_t *code, size_t len, uint64_t address, struct cfi_main *ret_main);

void cfi_main_rows(const struct cfi_main *it, uint64_t page, struct cfi_rows *rows);

#endif
