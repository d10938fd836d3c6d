/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The signal step: a handler returns to the C library's trampoline, and above it on the stack lie
 * the interrupted registers (arch/x86/include/uapi/asm/sigcontext.h, ucontext.h; struct
 * rt_sigframe in arch/x86/include/asm/sigframe.h). By the frame-pointer chain alone the
 * interrupted function would be missing.
 */
#ifndef HOSTPROF_STEP_SIGNAL_H
#define HOSTPROF_STEP_SIGNAL_H

#include "unwind_cursor.h"

/* Of struct ucontext, to which sp points in the trampoline. */
#define SIGNAL_R13_AT 80
#define SIGNAL_RBP_AT 120
#define SIGNAL_RSP_AT 160
#define SIGNAL_RIP_AT 168

/*
 * glibc aligns its trampoline to 16 bytes (sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c), so
 * that only one frame in sixteen pays for a look at the code: mov $15,%rax; syscall.
 */
static inline int signal_is_trampoline(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if (c->pc & 15)
		return 0;
	if (unwind_read(memory, c->code, 16, c->pc))
		return 0;
	return c->code[0] == 0x48 && c->code[1] == 0xc7 && c->code[2] == 0xc0 && c->code[3] == 15 &&
	       c->code[4] == 0 && c->code[7] == 0x0f && c->code[8] == 0x05;
}

static inline int step_signal(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 *regs = c->slots; /* from r13 to rip */

	if (unwind_read(memory, regs, SIGNAL_RIP_AT - SIGNAL_R13_AT + 8, c->sp + SIGNAL_R13_AT))
		return unwind_stop(c, UNWIND_PAGE);
	/* The handler may run on an alternate stack above or below: no growth to check. */
	c->pc = regs[(SIGNAL_RIP_AT - SIGNAL_R13_AT) / 8];
	c->sp = regs[(SIGNAL_RSP_AT - SIGNAL_R13_AT) / 8];
	c->fp = regs[(SIGNAL_RBP_AT - SIGNAL_R13_AT) / 8];
	c->r13 = regs[0];
	if (!unwind_is_user(c->pc) || !unwind_is_user(c->sp))
		return unwind_stop(c, UNWIND_BAD_RETURN);
	c->leaf = 1;
	c->exact = 1;
	return UNWIND_GO_ON;
}

#endif
