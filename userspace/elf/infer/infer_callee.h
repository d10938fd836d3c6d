/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call leaves of the registers, where it leads to a function beside it that calls nobody and moves no stack pointer: assembly keeps in registers across
 * such calls what any other function may lose (libx264 its stack pointer from before it was aligned, common/x86/pixel-a.asm).
 */
#ifndef HOSTPROF_ELF_INFER_INFER_CALLEE_H
#define HOSTPROF_ELF_INFER_INFER_CALLEE_H

#include "elf/infer/infer_code.h"

/* Note in each such call which registers it writes: its `count` is 1, and `writes` holds for it. */
void infer_callees_note(struct infer_code *code);

#endif
