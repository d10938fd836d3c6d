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

/* Of struct ucontext, to which sp points in the trampoline: r8 to r15, then as below. */
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
static inline int signal_is_trampoline(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code;

	if ((c->pc & 15) || c->pc == c->no_trampoline)
		return 0;
	if (!memory_read(memory, c->code, 16, c->pc) && p[0] == 0x48 && p[1] == 0xc7 &&
	    p[2] == 0xc0 && p[3] == 15 && p[4] == 0 && p[7] == 0x0f && p[8] == 0x05)
		return 1;
	c->no_trampoline = c->pc;
	return 0;
}

/* The interrupted registers in the order of their DWARF numbers. */
static inline void signal_restore(struct unwind_cursor *c)
{
	const wire_u64 *context = c->context;
	wire_u64 *regs = c->leaf_regs;

	regs[0] = context[SIGNAL_RAX];
	regs[1] = context[SIGNAL_RDX];
	regs[2] = context[SIGNAL_RCX];
	regs[3] = context[SIGNAL_RBX];
	regs[4] = context[SIGNAL_RSI];
	regs[5] = context[SIGNAL_RDI];
	regs[6] = context[SIGNAL_RBP];
	regs[7] = context[SIGNAL_RSP];
	for (int i = 0; i < 8; i++)
		regs[8 + i] = context[i];
}

static inline int signal_step(struct unwind_cursor *c, struct unwind_memory *memory)
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
	c->pc = pc;
	c->sp = sp;
	cursor_take_leaf_regs(c);
	c->at_entry = 0;
	c->linked = 0; /* the frame pointer's register is any value again */
	c->leaf = 1;
	c->regs_kept = 1;
	c->exact = 1;
	return UNWIND_GO_ON;
}

#endif
