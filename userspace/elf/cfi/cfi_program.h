/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions, looked at before libdw gets them: it allocates by register number and
 * copies all registers for every remembered state, so hostile ones would take all memory.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_PROGRAM_H
#define HOSTPROF_ELF_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Are these instructions whole, known, and of a sane size? And what does it cost to run them once,
 * in bytes of ordinary instructions?
 */
bool cfi_program_is_sound(const uint8_t *program, size_t len, uint32_t *ret_cost);

#endif
