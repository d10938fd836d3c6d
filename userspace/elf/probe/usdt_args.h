/* SPDX-License-Identifier: Apache-2.0 */
/* Where a USDT probe has its arguments, as the assembler wrote it into the note: "8@%r12 -4@8(%rsp) …" (SystemTap's sys/sdt.h). */
#ifndef HOSTPROF_ELF_PROBE_USDT_ARGS_H
#define HOSTPROF_ELF_PROBE_USDT_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define USDT_NO_REG 0xff

/*
 * The DWARF number of the register that has the first argument of TEXT, which has LEN bytes. USDT_NO_REG: there is no argument, it has not 8 bytes, or
 * is anywhere else.
 */
uint32_t usdt_args_first_reg(const char *text, size_t len);

#endif
