/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The signal step: a handler returns to the C library's trampoline, and above it on the stack lie
 * the interrupted registers (arch/x86/include/uapi/asm/sigcontext.h, ucontext.h; struct
 * rt_sigframe in arch/x86/include/asm/sigframe.h). By the frame-pointer chain alone the
 * interrupted function would be missing.
 */
#ifndef HOSTPROF_BPF_NATIVE_SIGNAL_H
#define HOSTPROF_BPF_NATIVE_SIGNAL_H

#include "unwind/cursor.h"

/* In the trampoline sp points to a struct ucontext, which has registers here: r8 to r15, then as below. */
#define SIGNAL_REGS_AT 40

enum signal_reg {
	SIGNAL_RDI = 8,
	SIGNAL_RSI,
	SIGNAL_RBP,
	SIGNAL_RBX,
	SIGNAL_RDX,
	SIGNAL_RAX,
	SIGNAL_RCX,
	SIGNAL_RSP,
	SIGNAL_RIP
};

/*
 * glibc aligns its trampoline to 16 bytes (sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c), so
 * that only one frame in sixteen pays for a look at the code: mov $15,%rax; syscall.
 */
static inline bool signal_is_trampoline(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code;

	if ((c->pc & 15) || c->pc == c->no_trampoline)
		return false;
	if (!memory_read(memory, c->code, 16, c->pc) && p[0] == 0x48 && p[1] == 0xc7 &&
	    p[2] == 0xc0 && p[3] == 15 && p[4] == 0 && p[7] == 0x0f && p[8] == 0x05)
		return true;
	c->no_trampoline = c->pc;
	return false;
}

/* The interrupted registers in the order of their DWARF numbers. */
static inline void signal_restore(struct unwind_cursor *c)
{
	const wire_u64 *context = c->context;
	wire_u64 *regs = c->leaf_regs;

	regs[DWARF_RAX] = context[SIGNAL_RAX];
	regs[DWARF_RDX] = context[SIGNAL_RDX];
	regs[DWARF_RCX] = context[SIGNAL_RCX];
	regs[DWARF_RBX] = context[SIGNAL_RBX];
	regs[DWARF_RSI] = context[SIGNAL_RSI];
	regs[DWARF_RDI] = context[SIGNAL_RDI];
	regs[DWARF_RBP] = context[SIGNAL_RBP];
	regs[DWARF_RSP] = context[SIGNAL_RSP];
	for (int i = 0; i < 8; i++)
		regs[8 + i] = context[i];
}

static inline enum unwind_verdict signal_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc, sp;

	if (memory_read_stack(memory, c->context, sizeof(c->context), c->sp + SIGNAL_REGS_AT))
		return cursor_stop(c, UNWIND_PAGE);
	pc = c->context[SIGNAL_RIP];
	sp = c->context[SIGNAL_RSP];
	if (!cursor_is_user(pc) || !cursor_is_user(sp))
		return cursor_stop(c, UNWIND_BAD_RETURN);
	signal_restore(c);
	/* The handler may run on an alternate stack above or below: no growth to check. */
	cursor_resume(c, pc, sp);
	return UNWIND_GO_ON;
}

#endif
