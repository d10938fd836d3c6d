/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of registers and stack at one place of a function: which of them hold places of its frame, and where its
 * caller's values are. All counts from the CFA, the caller's stack pointer.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_STATE_H
#define HOSTPROF_ELF_INFER_INFER_STATE_H

#include <stdbool.h>

#include "elf/infer/infer_code.h"

enum infer_what {
	INFER_UNKNOWN,
	INFER_CFA,     /* CFA + number */
	INFER_ALIGNED, /* the stack pointer as it was aligned, + number */
	INFER_ENTRY,   /* what register NUMBER had at the function's entry */
	INFER_NUMBER,
	INFER_RETURN_ADDRESS,
};

/* `number` has 28 bits. */
typedef uint32_t infer_value;

static inline infer_value infer_make(enum infer_what what, int64_t number)
{
	if (number < -(1 << 27) || number >= 1 << 27)
		return INFER_UNKNOWN;
	return (uint32_t)number << 4 | (uint32_t)what;
}

static inline enum infer_what infer_what(infer_value value)
{
	return (enum infer_what)(value & 15);
}

static inline int32_t infer_number(infer_value value)
{
	return (int32_t)value >> 4;
}

/* Six registers, the return address, an old stack pointer or two. */
#define INFER_SLOTS 16

struct infer_slot {
	infer_value place; /* INFER_CFA or INFER_ALIGNED */
	infer_value value; /* of the word there; never INFER_UNKNOWN */
};

struct infer_state {
	infer_value reg[DWARF_REGISTERS];
	struct infer_slot slot[INFER_SLOTS];
	uint32_t slots;
};

/* At a function's first instruction. */
void infer_state_enter(struct infer_state *state);

/* Leave in STATE what OTHER knows too. True: that is less than before. */
bool infer_state_meet(struct infer_state *state, const struct infer_state *other);

/* What INSN does when it goes on behind it; a call that returns, a jump that is not taken. */
void infer_state_step(struct infer_state *state, const struct infer_insn *insn);

/* The stack pointer stands at the return address, as it does at a function's entry and at its return. */
bool infer_state_is_bare(const struct infer_state *state);

/* And all registers that a caller wants back are as they were, but for those that were lost at BEGAN already. */
bool infer_state_is_whole(const struct infer_state *state, const struct infer_state *began);

/* STATE has the stack pointer where OTHER has it, and everything that OTHER has saved. */
bool infer_state_has(const struct infer_state *state, const struct infer_state *other);

/* A rule that says it, WIRE_RULE_NONE if there is none. It is marked as inferred. */
struct wire_rule infer_state_rule(const struct infer_state *state);

#endif
