/* SPDX-License-Identifier: Apache-2.0 */
/* Where a USDT probe has its arguments, as the assembler wrote it into the note: "8@%r12 -4@8(%rsp) 4@$5 …" (SystemTap's sys/sdt.h). */
#ifndef HOSTPROF_ELF_PROBE_USDT_ARGS_H
#define HOSTPROF_ELF_PROBE_USDT_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define USDT_NO_REG 0xff
/* Those behind them are not looked at. */
#define USDT_MAX_ARGS 9

enum usdt_where {
	USDT_ELSEWHERE, /* there is none, it is a constant, or in a place of another form */
	USDT_IN_REG,
	USDT_IN_MEMORY, /* at displacement + the register */
};

struct usdt_arg {
	uint8_t where; /* enum usdt_where */
	uint8_t bytes; /* 8, 4, 2 or 1 */
	uint8_t reg; /* its DWARF number (System V ABI of x86-64, figure 3.36); USDT_NO_REG: USDT_ELSEWHERE */
	uint8_t pad;
	int32_t displacement;
};

/* The arguments of TEXT, which has LEN bytes and need not have an end; those that it has not are USDT_ELSEWHERE. */
void usdt_args_read(const char *text, size_t len, struct usdt_arg ret_args[USDT_MAX_ARGS]);

/* The register that has all BYTES of ARG; USDT_NO_REG: it is none such. */
static inline uint32_t usdt_arg_reg(const struct usdt_arg *arg, unsigned int bytes)
{
	return arg->where == USDT_IN_REG && arg->bytes == bytes ? arg->reg : USDT_NO_REG;
}

#endif
