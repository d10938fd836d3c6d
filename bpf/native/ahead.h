/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Code of which nothing is known, and what it is about to do: where only instructions lie between pc
 * and its return that move the stack pointer by what they say, they tell where the return address is.
 * So are the trampolines of `python -X perf` (Python/asm_trampoline.S), and much of what other programs
 * make while they run: they keep no frame pointer, and the chain would skip the caller.
 */
#ifndef HOSTPROF_BPF_NATIVE_AHEAD_H
#define HOSTPROF_BPF_NATIVE_AHEAD_H

#include "native/leaf_call.h"

#define AHEAD_INSTRUCTIONS 8
/* Where the last instruction may begin in c->code, so that all of it is there. */
#define AHEAD_END (UNWIND_CODE_BYTES - 7)

enum ahead_kind {
	AHEAD_UNKNOWN,
	AHEAD_KEEPS, /* the stack pointer; a call does when it comes back */
	AHEAD_ADDS,
	AHEAD_TAKES,
	AHEAD_POPS,
	AHEAD_POPS_FP,
	AHEAD_RETURNS,
};

/* Kind, length and bytes of an instruction in one word. */
#define AHEAD_LENGTH_SHIFT 4
#define AHEAD_BYTES_SHIFT  8
#define AHEAD_FIELD	   15

static inline wire_u32 ahead_make(enum ahead_kind kind, wire_u32 length, wire_u32 bytes)
{
	return kind | length << AHEAD_LENGTH_SHIFT | bytes << AHEAD_BYTES_SHIFT;
}

/* mov, xor, test between registers, none of them %rsp or %rbp (nor %r12, %r13). Its length, or 0. */
static inline wire_u32 ahead_move_length(const wire_u8 *p)
{
	wire_u32 prefix = (p[0] & 0xf0) == 0x40;
	wire_u8 op = p[prefix], modrm = p[prefix + 1];

	if (op != 0x89 && op != 0x8b && op != 0x31 && op != 0x33 && op != 0x85)
		return 0;
	if (modrm < 0xc0 || (modrm & 6) == 4 || (modrm >> 3 & 6) == 4)
		return 0;
	return prefix + 2;
}

/* call rel32, call *%reg. Its length, or 0. */
static inline wire_u32 ahead_call_length(const wire_u8 *p)
{
	wire_u32 prefix = p[0] == 0x41;

	if (p[0] == 0xe8)
		return 5;
	return p[prefix] == 0xff && (p[prefix + 1] & 0xf8) == 0xd0 ? prefix + 2 : 0;
}

/* add or sub $imm,%rsp by no more than a frame has. */
static inline wire_u32 ahead_arithmetic(const wire_u8 *p)
{
	enum ahead_kind kind = p[2] == 0xc4 ? AHEAD_ADDS : AHEAD_TAKES;

	if (p[0] != 0x48 || (p[2] != 0xc4 && p[2] != 0xec))
		return 0;
	if (p[1] == 0x83 && p[3] < 0x80)
		return ahead_make(kind, 4, p[3]);
	if (p[1] == 0x81 && leaf_u32(p + 3) <= UNWIND_MAX_FRAME_BYTES)
		return ahead_make(kind, 7, leaf_u32(p + 3));
	return 0;
}

/* What the instruction at c->code + AT is. */
static inline wire_u32 ahead_look(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->code + at;
	wire_u32 length;

	if (p[0] == LEAF_RET)
		return ahead_make(AHEAD_RETURNS, 1, 0);
	if (p[0] == LEAF_POP_RBP)
		return ahead_make(AHEAD_POPS_FP, 1, 8);
	if ((p[0] & 0xf8) == 0x58 && p[0] != 0x5c)
		return ahead_make(AHEAD_POPS, 1, 8);
	if (p[0] == 0x41 && (p[1] & 0xf8) == 0x58)
		return ahead_make(AHEAD_POPS, 2, 8);
	if (leaf_u32(p) == LEAF_ENDBR64)
		return ahead_make(AHEAD_KEEPS, 4, 0);
	length = ahead_call_length(p);
	if (!length)
		length = ahead_move_length(p);
	return length ? ahead_make(AHEAD_KEEPS, length, 0) : ahead_arithmetic(p);
}

#ifdef __bpf__

UNWIND_ALONE_AT(wire_u32, ahead_look, UNWIND_CODE_BEHIND, AHEAD_END + 1, 0)

#define ahead_look(c, at) ahead_look_alone(c, at)

#endif

/* Follow c->code from pc on. True: it returns, and RULE says how. */
static inline bool ahead_follow(struct unwind_cursor *c, struct unwind_rule *rule)
{
	wire_u32 at = UNWIND_CODE_BEHIND;
	wire_u64 sp = c->sp, fp_at = 0;

	for (int i = 0; i < AHEAD_INSTRUCTIONS && at <= AHEAD_END; i++) {
		wire_u32 found = ahead_look(c, at), bytes = found >> AHEAD_BYTES_SHIFT;

		switch (found & AHEAD_FIELD) {
		case AHEAD_KEEPS: break;
		case AHEAD_ADDS: sp += bytes; break;
		case AHEAD_TAKES: sp -= bytes; break;
		case AHEAD_POPS_FP:
			fp_at = sp;
			sp += 8;
			break;
		case AHEAD_POPS: sp += 8; break;
		case AHEAD_RETURNS:
			*rule = (struct unwind_rule){ .cfa = sp + 8, .ra_at = sp, .fp_at = fp_at };
			return true;
		default: return false;
		}
		at += found >> AHEAD_LENGTH_SHIFT & AHEAD_FIELD;
	}
	return false;
}

/*
 * The bytes at pc are in c->code. Is there a word behind a call where they lead? A call that does not
 * come back may have any code behind it. Uses c->code.
 */
static inline bool ahead_find(struct unwind_cursor *c, struct unwind_memory *memory,
			      struct unwind_rule *rule)
{
	wire_u8 reason = c->reason;
	wire_u64 ra;
	bool found;

	if (!ahead_follow(c, rule) || rule->ra_at < c->sp)
		return false;
	found = !cursor_load(c, memory, rule->ra_at, &ra) && leaf_has_called(c, memory, ra);
	c->reason = reason;
	return found;
}

#ifdef __bpf__

UNWIND_ALONE(int, ahead_find, (struct unwind_cursor * c, struct unwind_rule *rule), c &&rule,
	     (c, NULL, rule), 0)

#define ahead_find(c, memory, rule) (ahead_find_alone(c, rule) & 1)

#endif

/* Of a frame that has called: read the code and look. */
static inline bool ahead_is_known(struct unwind_cursor *c, struct unwind_memory *memory,
				  struct unwind_rule *rule)
{
	return !memory_read(memory, c->code + UNWIND_CODE_BEHIND,
			    UNWIND_CODE_BYTES - UNWIND_CODE_BEHIND, c->pc) &&
	       ahead_find(c, memory, rule);
}

#endif
