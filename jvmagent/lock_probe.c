/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

/*
 * As in alloc_probe.c: in assembler, as compilers begin a function with an endbr64 or a frame, and the probe's instruction is
 * to be the first: the kernel steps an endbr64 out of line, which takes ten times as long.
 */
#define EMPTY_FUNCTION(name)                            \
	"	.p2align 4\n"                                 \
	"	.globl " name "\n"                      \
	"	.type " name ", @function\n" name ":\n" \
	"	.cfi_startproc\n"                             \
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"         \
	"	ret\n"                                        \
	"	.cfi_endproc\n"                               \
	"	.size " name ", . - " name "\n"

__asm__("	.text\n" EMPTY_FUNCTION("hostprof_lock") EMPTY_FUNCTION("hostprof_lock_begin"));
