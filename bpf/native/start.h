/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Code of which nothing is known, and whether it can be where its thread began. A frame pointer of 0
 * says little: x264's assembly counts in %rbp, and musl's functions leave in it what they were given. So
 * it is the place of the frame that tells, or the code.
 */
#ifndef HOSTPROF_BPF_NATIVE_START_H
#define HOSTPROF_BPF_NATIVE_START_H

#include "native/leaf_call.h"

/* What entry code pushes before it calls: glibc's start.S two words, for the stack's alignment. */
#define START_PUSHED_WORDS 4
/* ld.so, run as a program, drops its own arguments from the stack. */
#define START_ARGUMENT_BYTES 4096
/* Numbers, not addresses: vm.mmap_min_addr. */
#define START_SMALL 4096

#define START_XOR_EBP 0xed31 /* 31 ed: xor %ebp,%ebp */
/* From the return address: as far back as the xor may be; the exit is in what is left. */
#define START_CLONE_BEHIND 16

/* --- the program's: the end of the main thread's stack -------------------------------------------- */

static inline bool start_is_near_top(const struct unwind_cursor *c)
{
	wire_u64 low = c->stack_top - START_PUSHED_WORDS * 8;

	return c->stack_top && c->sp - low < START_PUSHED_WORDS * 8 + START_ARGUMENT_BYTES;
}

/* Code lies below the main thread's stack, so that a word above it is not where a call returns to. */
static inline bool start_returns_nowhere(struct unwind_cursor *c, struct unwind_memory *memory)
{
	for (wire_u32 i = 0; i < START_PUSHED_WORDS; i++) {
		wire_u64 at = c->sp + 8 * i, word;

		if (at >= c->stack_top)
			break;
		if (cursor_load(c, memory, at, &word))
			return false;
		if (word >= START_SMALL && word < c->sp)
			return false;
	}
	return true;
}

/* --- another thread's: the child of clone() ------------------------------------------------------- */

/* call *%reg before P. Its length, or 0. */
static inline wire_u32 start_call_length(const wire_u8 *p)
{
	if (p[-2] != 0xff || (p[-1] & 0xf8) != 0xd0)
		return 0;
	return p[-3] == 0x41 ? 3 : 2;
}

/* mov %eax,%edi or mov %rax,%rdi; $60 (exit) into %eax; syscall. */
static inline bool start_exits(const wire_u8 *p)
{
	if (p[0] == 0x48)
		p++;
	if (p[0] != 0x89 || p[1] != 0xc7)
		return false;
	p += 2;
	if (p[0] == 0xb8 && leaf_u32(p + 1) == 60)
		p += 5;
	else if (leaf_u32(p) == 0x3cb0c031) /* xor %eax,%eax; mov $60,%al */
		p += 4;
	else
		return false;
	return p[0] == 0x0f && p[1] == 0x05;
}

/*
 * Is P behind the call with which clone()'s child begins? It has no frame pointer, calls what it was
 * given, and ends the thread with what that returns (glibc: sysdeps/unix/sysv/linux/x86_64/clone.S and
 * clone3.S; musl: src/thread/x86_64/clone.s). How far back it clears %rbp, or 0.
 */
static inline wire_u32 start_of_clone(const wire_u8 *p)
{
	const wire_u8 *first = p - START_CLONE_BEHIND;
	wire_u32 call = start_call_length(p);

	if (!call || !start_exits(p))
		return 0;
	for (wire_u32 back = call + 2; back <= START_CLONE_BEHIND; back++) {
		/* Counted from the first byte: verifiers before 6.18's know nothing of a negated number. */
		wire_u64 at = START_CLONE_BEHIND - back;

		UNWIND_OPAQUE(at);
		if (at <= START_CLONE_BEHIND && first[at] == (START_XOR_EBP & 0xff) &&
		    first[at + 1] == START_XOR_EBP >> 8)
			return back;
	}
	return 0;
}

static inline bool start_is_clone(struct unwind_cursor *c, struct unwind_memory *memory)
{
	return !memory_read(memory, c->code, UNWIND_CODE_BYTES, c->pc - START_CLONE_BEHIND) &&
	       start_of_clone(c->code + START_CLONE_BEHIND);
}

/* --- a coroutine's: makecontext() ------------------------------------------------------------------ */

/*
 * glibc's __start_context, whose first byte its first function returns to (x86_64/__start_context.S):
 * mov %rbx,%rsp; mov (%rsp),%rdi; test %rdi,%rdi; je. signal_is_trampoline() has read it.
 */
static inline bool start_is_context(const struct unwind_cursor *c)
{
	const wire_u8 *p = c->code;

	return c->no_trampoline == c->pc && leaf_u32(p) == 0x48dc8948 &&
	       leaf_u32(p + 4) == 0x48243c8b && leaf_u24(p + 8) == 0x74ff85;
}

/* --- any ------------------------------------------------------------------------------------------ */

/* Most frames need no closer look. */
static inline bool start_may_be_here(const struct unwind_cursor *c)
{
	return start_is_near_top(c) || (c->fp == 0 && c->linked);
}

/* Uses c->code. */
static inline bool start_is_here(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u8 reason = c->reason;
	bool is_start;

	if (start_is_near_top(c))
		is_start = start_returns_nowhere(c, memory);
	else
		is_start = start_is_clone(c, memory);
	c->reason = reason;
	return is_start;
}

#ifdef __bpf__

UNWIND_ALONE(int, start_is_here, (struct unwind_cursor * c), c, (c, NULL), 0)

#define start_is_here(c, memory) (start_is_here_alone(c) & 1)

#endif
#endif
