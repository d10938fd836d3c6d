/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The registers that a probe's arguments are in, by their numbers. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_USDT_REG_H
#define HOSTPROF_BPF_SAMPLE_PHASES_USDT_REG_H

#include "unwind/cursor.h"

/* The verifier wants each field of a program's context to be read at its own offset, which a compiler would compute first. */
#define USDT_REG(number, field)       \
	case DWARF_##number:          \
		value = regs->field;  \
		UNWIND_OPAQUE(value); \
		break

/* By its DWARF number; 0: it has none such. */
static __always_inline wire_u64 usdt_reg(const struct pt_regs *regs, wire_u32 number)
{
	wire_u64 value = 0;

	switch (number) {
		USDT_REG(RAX, ax);
		USDT_REG(RDX, dx);
		USDT_REG(RCX, cx);
		USDT_REG(RBX, bx);
		USDT_REG(RSI, si);
		USDT_REG(RDI, di);
		USDT_REG(RBP, bp);
		USDT_REG(RSP, sp);
		USDT_REG(R8, r8);
		USDT_REG(R9, r9);
		USDT_REG(R10, r10);
		USDT_REG(R11, r11);
		USDT_REG(R12, r12);
		USDT_REG(R13, r13);
		USDT_REG(R14, r14);
		USDT_REG(R15, r15);
	}
	return value;
}

/* The first argument by a form; 0: it cannot be read. */
static __always_inline wire_u64 usdt_first(const struct pt_regs *regs, wire_u64 form)
{
	wire_u64 value = usdt_reg(regs, WIRE_USDT_REG(form));

	if (form & WIRE_USDT_IN_MEMORY &&
	    bpf_probe_read_user(&value, sizeof(value),
				(const void *)(value + WIRE_USDT_DISPLACEMENT(form))))
		return 0;
	return value;
}

#endif
