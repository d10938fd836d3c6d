/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The registers that a thread has, or had, in user code: the sample's own, or those with which it
 * entered the kernel.
 */
#ifndef HOSTPROF_BPF_SAMPLE_USER_REGS_H
#define HOSTPROF_BPF_SAMPLE_USER_REGS_H

#include "native/probed.h"
#include "sample/maps.h"
#include "sample/space.h"

/* include/linux/sched.h */
#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD   0x00200000
/* arch/x86/include/asm/segment.h: __USER32_CS, with the privilege level */
#define USER32_CS 0x23
/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_CLONE    56
#define NR_CLONE3   435
#define NR_EXECVE   59
#define NR_EXECVEAT 322
/* `ulimit -s`, as it is by default: what is farther above is no end of this stack. */
#define MAIN_STACK_BYTES (8ULL << 20)
/* The instruction `syscall`: 0f 05. */
#define COMPILED_SYSCALL 0x050f
/* The instruction `int3`: cc. */
#define COMPILED_BREAKPOINT 0xcc
/* The instruction `push`, of %rax; of the other registers by their numbers. */
#define COMPILED_PUSH 0x50
/* An exception's pt_regs.orig_ax, arch/x86/entry/entry_64.S. */
#define ORIG_AX_EXCEPTION (-1L)

static __always_inline bool user_regs_are_user(const struct pt_regs *regs)
{
	return (regs->cs & 3) == 3;
}

/* Fills C from pt_regs; a macro since the program's context is read like no other memory. */
#define user_regs_fill(c, regs)                          \
	do {                                             \
		(c)->pc = (regs)->ip;                    \
		(c)->sp = (regs)->sp;                    \
		(c)->leaf_regs[DWARF_RAX] = (regs)->ax;  \
		(c)->leaf_regs[DWARF_RDX] = (regs)->dx;  \
		(c)->leaf_regs[DWARF_RCX] = (regs)->cx;  \
		(c)->leaf_regs[DWARF_RBX] = (regs)->bx;  \
		(c)->leaf_regs[DWARF_RSI] = (regs)->si;  \
		(c)->leaf_regs[DWARF_RDI] = (regs)->di;  \
		(c)->leaf_regs[DWARF_RBP] = (regs)->bp;  \
		(c)->leaf_regs[DWARF_RSP] = (regs)->sp;  \
		(c)->leaf_regs[DWARF_R8] = (regs)->r8;   \
		(c)->leaf_regs[DWARF_R9] = (regs)->r9;   \
		(c)->leaf_regs[DWARF_R10] = (regs)->r10; \
		(c)->leaf_regs[DWARF_R11] = (regs)->r11; \
		(c)->leaf_regs[DWARF_R12] = (regs)->r12; \
		(c)->leaf_regs[DWARF_R13] = (regs)->r13; \
		(c)->leaf_regs[DWARF_R14] = (regs)->r14; \
		(c)->leaf_regs[DWARF_R15] = (regs)->r15; \
	} while (0)

/*
 * After a system call pc is where it returns to, and its instruction the one before. But not when
 * the kernel has put another pc there since: a program's first instruction after execve(), a signal
 * handler's, or the same system call once more.
 */
static __always_inline bool user_regs_are_exact(const struct pt_regs *regs)
{
	wire_u16 before = 0;

	if ((long)regs->orig_ax < 0)
		return true;
	bpf_probe_read_user(&before, sizeof(before), (const void *)(regs->ip - sizeof(before)));
	return before != COMPILED_SYSCALL;
}

/*
 * execve() changes over to the new program's memory while the registers still are the old one's.
 * Where its code lies is noted late, and from then on the stack pointer tells: it is not the new
 * stack's (load_elf_binary() in fs/binfmt_elf.c). Nor is that of another thread than the first or
 * of posix_spawn()'s child, but theirs is the program that the space was made for.
 */
static __always_inline bool user_regs_are_replaced(const struct scratch *s,
						   const struct mm_struct *mm)
{
	const struct wire_sample *sample = &s->sample;
	const struct pt_regs *regs = &s->regs;

	if (!mm->end_code)
		return true;
	if (regs->orig_ax != NR_EXECVE && regs->orig_ax != NR_EXECVEAT)
		return false;
	return mm->start_stack - regs->sp > MAIN_STACK_BYTES &&
	       !space_find(sample->tgid, sample->start_ns, sample->exec_id);
}

/*
 * Has the thread done nothing yet? clone() has made it, and it has not left the kernel since (copy_thread() in
 * arch/x86/kernel/process.c): on its stack is what it will be given, and no return address. A new process has its parent's stack, as a rule.
 */
static __always_inline bool user_regs_begin_thread(const struct scratch *s)
{
	const struct pt_regs *regs = &s->regs;

	return s->sample.tid != s->sample.tgid && !regs->ax &&
	       (regs->orig_ax == NR_CLONE || regs->orig_ax == NR_CLONE3);
}

/*
 * Has the kernel done a probed `push` already, whose place CODE has in the middle, and of which it has still to step over? Its first byte is
 * the breakpoint. The second one of two tells the register (41 54 to 41 57: %r12 to %r15); of one it is %rbp, %rbx or %rax. Where the instruction
 * before has pushed the same register that is what lies there.
 */
static __always_inline bool user_regs_have_pushed(const struct pt_regs *regs, const wire_u8 code[3],
						  wire_u64 pushed)
{
	if (code[0] != code[2] && ((code[2] == COMPILED_PUSH + 4 && pushed == regs->r12) ||
				   (code[2] == COMPILED_PUSH + 5 && pushed == regs->r13) ||
				   (code[2] == COMPILED_PUSH + 6 && pushed == regs->r14) ||
				   (code[2] == COMPILED_PUSH + 7 && pushed == regs->r15)))
		return true;
	return (pushed == regs->bp && code[0] != COMPILED_PUSH + 5) ||
	       (pushed == regs->bx && code[0] != COMPILED_PUSH + 3) ||
	       (pushed == regs->ax && code[0] != COMPILED_PUSH);
}

/*
 * A breakpoint lies in the place of an instruction that is probed. Until the kernel has found whose it is
 * (handle_swbp() in kernel/events/uprobes.c), which may be a turn of the scheduler later, pc is one byte behind it: at a function's
 * first instruction, `push %rbp`, where rows say that it was executed. The kernel does that itself then (push_emulate_op() in
 * arch/x86/kernel/uprobes.c), first the stack and then pc, which is what it was before: what lies on the stack tells. In a process that has no
 * probes such a byte is padding in front of a function (Go's, lld's), as it is in front of one that begins with a breakpoint.
 */
static __always_inline void user_regs_leave_breakpoint(struct unwind_cursor *c,
						       const struct pt_regs *regs,
						       struct mm_struct *mm)
{
	wire_u64 pushed = 0;
	wire_u8 code[3] = { 0 };

	if ((long)regs->orig_ax != ORIG_AX_EXCEPTION)
		return;
	bpf_probe_read_user(code, sizeof(code), (const void *)(regs->ip - 1));
	if ((code[0] != COMPILED_BREAKPOINT && code[1] != COMPILED_BREAKPOINT) ||
	    !probed_has_breakpoints(mm))
		return;
	bpf_probe_read_user(&pushed, sizeof(pushed), (const void *)regs->sp);
	if (code[1] != COMPILED_BREAKPOINT) {
		if (pushed != regs->bp && pushed != regs->bx)
			c->pc--;
	} else if (user_regs_have_pushed(regs, code, pushed)) {
		c->sp += sizeof(pushed);
		c->leaf_regs[DWARF_RSP] += sizeof(pushed);
	}
}

static __always_inline enum unwind_reason user_regs_of_entry(struct scratch *s,
							     struct task_struct *task,
							     struct mm_struct *mm)
{
	const struct pt_regs *entry = (const struct pt_regs *)bpf_task_pt_regs(task);

	/* Memory is given up early in exit(). */
	if (!mm)
		return UNWIND_NO_STACK;
	if (bpf_probe_read_kernel(&s->regs, sizeof(s->regs), entry))
		return UNWIND_NO_REGS;
	if (!user_regs_are_user(&s->regs))
		return UNWIND_NO_REGS;
	if (user_regs_are_replaced(s, mm))
		return UNWIND_NO_STACK;
	user_regs_fill(&s->cursor, &s->regs);
	s->cursor.exact = user_regs_are_exact(&s->regs);
	user_regs_leave_breakpoint(&s->cursor, &s->regs, mm);
	return UNWIND_DONE;
}

/*
 * Fill the cursor's: of a sample in user code from REGS, else from the entry into the kernel. The reason
 * why there is nothing to walk, or UNWIND_DONE.
 */
static __always_inline enum unwind_reason user_regs_take(struct scratch *s,
							 struct task_struct *task,
							 struct mm_struct *mm,
							 const struct pt_regs *regs)
{
	struct unwind_cursor *c = &s->cursor;
	/* Read before it is known whether they count: the verifier wants each read at its own offset. */
	wire_u64 cs = regs ? regs->cs : 0;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return UNWIND_KERNEL_THREAD;
	if (settings.exclude_user)
		return UNWIND_USER_EXCLUDED;
	if (regs && s->sample.in_user) {
		user_regs_fill(c, regs);
		c->exact = 1;
	} else {
		int reason = user_regs_of_entry(s, task, mm);

		if (reason != UNWIND_DONE)
			return reason;
		cs = s->regs.cs;
	}
	cursor_take_leaf_regs(c);
	return (cs & 0xffff) == USER32_CS ? UNWIND_TASK_32BIT : UNWIND_DONE;
}

#endif
