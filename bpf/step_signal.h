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
	const wire_u8 *p = c->code;

	if ((c->pc & 15) || c->pc == c->no_trampoline)
		return 0;
	if (!unwind_read(memory, c->code, 16, c->pc) && p[0] == 0x48 && p[1] == 0xc7 &&
	    p[2] == 0xc0 && p[3] == 15 && p[4] == 0 && p[7] == 0x0f && p[8] == 0x05)
		return 1;
	c->no_trampoline = c->pc;
	return 0;
}

static inline int step_signal(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 context = c->sp, fp, pc, sp;

	if (unwind_load(c, memory, context + SIGNAL_R13_AT, &c->r13) ||
	    unwind_load(c, memory, context + SIGNAL_RBP_AT, &fp) ||
	    unwind_load(c, memory, context + SIGNAL_RSP_AT, &sp) ||
	    unwind_load(c, memory, context + SIGNAL_RIP_AT, &pc))
		return UNWIND_STOP;
	if (!unwind_is_user(pc) || !unwind_is_user(sp))
		return unwind_stop(c, UNWIND_BAD_RETURN);
	/* The handler may run on an alternate stack above or below: no growth to check. */
	c->pc = pc;
	c->sp = sp;
	c->fp = fp;
	c->leaf = 1;
	c->exact = 1;
	return UNWIND_GO_ON;
}

#endif
