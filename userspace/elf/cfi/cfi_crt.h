/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcc's functions around every program's own (libgcc/crtstuff.c: deregister_tm_clones,
 * register_tm_clones, __do_global_dtors_aux, frame_dummy), which are compiled without an FDE. Only
 * code that is wholly of the instructions that gcc makes of them is known again.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_CRT_H
#define HOSTPROF_ELF_CFI_CFI_CRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest known has 60. */
#define CFI_CRT_MAX_BYTES 128
#define CFI_CRT_MAX_CALLS 2

struct cfi_crt {
	/* From `pushed` up to `popped` %rbp is on the stack; equal: nowhere. */
	uint64_t start, pushed, popped, end;
	uint64_t calls[CFI_CRT_MAX_CALLS];
	size_t call_count;
	uint64_t jump; /* where it ends by going to another function; 0: it does not */
};

/* Does CODE, whose first byte has ADDRESS, begin with such a function? */
bool cfi_crt_match(const uint8_t *code, size_t len, uint64_t address, struct cfi_crt *ret_crt);

#endif
