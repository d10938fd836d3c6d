/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An x86-64 instruction as far as it matters for how code returns: its length, what it does to the stack pointer, and where it
 * goes on. It is read from a process's memory, here and not behind the wall: no library, no recursion, only the bytes that it is
 * given (Intel's manual, volume 2, chapter 2 and the opcode maps of appendix A; EVEX: 2.7).
 */
#ifndef HOSTPROF_UNWIND_EXITS_X86_INSN_H
#define HOSTPROF_UNWIND_EXITS_X86_INSN_H

#include <stddef.h>
#include <stdint.h>

/* No instruction is longer. */
#define X86_MAX_BYTES 15

/* As instructions number them. */
enum x86_register {
	X86_RBX = 3,
	X86_RSP = 4,
	X86_RBP = 5,
	X86_R13 = 13,
	X86_R15 = 15,
	X86_NO_REG = 0xff
};

enum x86_kind {
	X86_PLAIN,   /* none of these; a call, which comes back, too */
	X86_PUSH,    /* 8 bytes */
	X86_POP,     /* the same, into reg or X86_NO_REG */
	X86_ADD_SP,  /* %rsp += value */
	X86_LOAD,    /* reg = [%rsp + value] */
	X86_SET,     /* reg = value */
	X86_ADD,     /* reg += value */
	X86_BRANCH,  /* to the next one + value, or on */
	X86_JUMP,    /* to the next one + value */
	X86_JUMP_TO, /* to where reg says */
	X86_RETURN,
	X86_STOP /* it goes nobody knows where, or puts anything into %rsp, or is no instruction */
};

struct x86_insn {
	uint8_t len; /* 1 to X86_MAX_BYTES */
	uint8_t kind;
	uint8_t reg;
	int64_t value;
};

/* The instruction that BYTES begin with; what does not end within LEN is none. */
void x86_insn_read(const uint8_t *bytes, size_t len, struct x86_insn *ret);

#endif
