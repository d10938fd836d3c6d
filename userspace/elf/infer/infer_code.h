/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code as far as it matters for where frames are: what it does to the stack pointer, to registers that may hold
 * places on the stack or a caller's values, and where it goes on. Decoded by Zydis, which neither allocates nor calls the system.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_CODE_H
#define HOSTPROF_ELF_INFER_INFER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire.h"

enum infer_kind {
	INFER_PLAIN,   /* `writes` have any values, and so have `count` bytes at base + value */
	INFER_PAD,     /* does nothing */
	INFER_PUSH,    /* reg; INFER_NO_REG: something else */
	INFER_POP,     /* the same */
	INFER_MOVE,    /* reg = base */
	INFER_LEA,     /* reg = base + value */
	INFER_ALIGN,   /* reg &= value */
	INFER_CONST,   /* reg = value */
	INFER_STORE,   /* [base + value] = reg */
	INFER_LOAD,    /* reg = [base + value] */
	INFER_LEAVE,   /* rsp = rbp; pop rbp */
	INFER_ENTER,   /* push rbp; rbp = rsp; rsp -= value */
	INFER_COMPARE, /* reg with base */
	INFER_CALL, /* to value, as below; count 1: it writes no more than `writes` (infer_callee.h) */
	INFER_BRANCH, /* the same, or on; reg != 0: if they are not equal */
	INFER_JUMP,   /* the same; base: by that register, to anywhere */
	INFER_RETURN, /* and takes value bytes away */
	INFER_SYSCALL,
	INFER_STOP /* it does not go on, or nobody knows how */
};

#define INFER_NO_REG 0xff

/* Where a call or a jump leads: an offset in the code, or one of these. */
#define INFER_OUTSIDE  (-1)
#define INFER_ANYWHERE (-2) /* by a register or memory */

struct infer_insn {
	uint32_t at; /* offset in the code */
	uint8_t len;
	uint8_t kind;	   /* enum infer_kind */
	uint8_t reg, base; /* enum dwarf_register */
	int32_t value;
	uint16_t writes; /* a bit for each register */
	uint8_t count;
};

struct infer_code {
	VEC(struct infer_insn) v; /* by offset, without holes */
	VEC(uint32_t) lines;	  /* the first that begins in each 16 bytes or behind them */
};

/* Decode LEN bytes from the first on. What is no instruction is an INFER_STOP of one byte. */
void infer_code_read(const uint8_t *bytes, size_t len, struct infer_code *code);
void infer_code_release(struct infer_code *code);

/*
 * Of a function's instructions, given one after the other: is this its last one, a return or jump that none of its branches leads beyond? *REACHES
 * is where those lead at most, 0 at first.
 */
bool infer_code_ends(const struct infer_insn *insn, int64_t *reaches);

/* The instruction that begins at offset AT; -1: none does. */
int64_t infer_code_find(const struct infer_code *code, int64_t at);

#endif
