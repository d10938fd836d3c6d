/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Compiled code that saves registers below its frame for a call and takes them off behind it: the
 * stubs of barriers (SaveLiveRegisters of ZGC and G1), JDK 8's trigonometry (fp_runtime_fallback()
 * in cpu/x86/vm/macroAssembler_x86.cpp). The code ahead says how far above sp the frame begins.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_SAVED_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_SAVED_H

#include "hotspot/compiled_rule.h"

/* All registers with AVX-512 are less. */
#define COMPILED_MAX_SAVED 8192
/* Alignment, arguments, both halves of the vector registers, the others; two for each. */
#define COMPILED_MAX_MOVES 10
/* No instruction ahead moves sp, but for the end of the frame itself. */
#define COMPILED_NO_MOVE  0
#define COMPILED_MOVE_SUB 0x8000

/* sub or add $imm,%rsp at c->text + AT: how much, COMPILED_MOVE_SUB with it or not. */
static inline wire_u32 compiled_move(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;
	wire_u32 op = leaf_u24(p), bytes = p[3];

	if (op == COMPILED_ADD8)
		return p[4] != LEAF_POP_RBP ? bytes : COMPILED_NO_MOVE;
	if (op == LEAF_SUB8)
		return bytes | COMPILED_MOVE_SUB;
	bytes = leaf_u32(p + 3);
	if ((op != COMPILED_ADD32 && op != LEAF_SUB32) || p[7] == LEAF_POP_RBP ||
	    bytes > COMPILED_MAX_SAVED)
		return COMPILED_NO_MOVE;
	return op == COMPILED_ADD32 ? bytes : bytes | COMPILED_MOVE_SUB;
}

#ifdef __bpf__

UNWIND_ALONE_AT(wire_u32, compiled_move, 0, UNWIND_TEXT_BYTES - 8, COMPILED_NO_MOVE)

#define compiled_move(c, at) compiled_move_alone(c, at)

#endif

/*
 * Does the frame begin LOWERED bytes above sp? It is aligned to 16 bytes (StackAlignmentInBytes), a
 * return address is there, and below one into the interpreter the frame pointer of that frame: such
 * addresses are in many registers.
 */
static inline bool compiled_is_lowered(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u32 lowered)
{
	wire_u64 end = c->sp + lowered + 8ULL * c->compiled_seen.frame_size, ra, fp;

	if ((end & 15) || lowered > COMPILED_MAX_SAVED || cursor_load(c, memory, end - 8, &ra) ||
	    !blob_owns(c, ra))
		return false;
	if (!blob_is_interpreter(c, ra))
		return true;
	return !cursor_load(c, memory, end - 16, &fp) && fp >= end &&
	       fp - end < UNWIND_MAX_FRAME_BYTES;
}

#ifdef __bpf__

UNWIND_ALONE(bool, compiled_is_lowered, (struct unwind_cursor * c, wire_u32 lowered), c,
	     (c, NULL, lowered), 0)

#define compiled_is_lowered(c, memory, lowered) compiled_is_lowered_alone(c, lowered)

#endif

struct compiled_next {
	struct unwind_cursor *c;
	wire_u32 move;
	wire_u32 looked; /* at so many bytes */
};

static long compiled_next_turn(wire_u32 turn, struct compiled_next *next)
{
	next->move = compiled_move(next->c, turn);
	next->looked = turn + 1;
	return next->move != COMPILED_NO_MOVE;
}

/*
 * STATE is how many bytes of the code were looked at << 32 | how far above sp they end up. The same
 * behind the next such instruction, 0: there is none near. One word, of which the verifier need not
 * know anything.
 */
static inline wire_u64 compiled_pass_move(struct unwind_cursor *c, struct unwind_memory *memory,
					  wire_u64 state)
{
	struct compiled_next next = { .c = c, .move = COMPILED_NO_MOVE };
	wire_u32 saved = (wire_u32)state;

	if (memory_read(memory, c->text, UNWIND_TEXT_BYTES, c->pc + (state >> 32)))
		return 0;
	unwind_loop(UNWIND_TEXT_BYTES - 8, compiled_next_turn, &next);
	if (next.move == COMPILED_NO_MOVE)
		return 0;
	saved += next.move & COMPILED_MOVE_SUB ? -(next.move & 0x7fff) : next.move & 0x7fff;
	return ((state >> 32) + next.looked) << 32 | saved;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, compiled_pass_move, (struct unwind_cursor * c, wire_u64 state), c,
	     (c, NULL, state), 0)

#define compiled_pass_move(c, memory, state) compiled_pass_move_alone(c, state)

#endif

/*
 * How far above sp the frame begins by the code from pc on; 0: it does not say. The last place that
 * fits before sp is lowered anew: a register that was saved may look like a return address. Uses
 * c->text.
 */
static inline wire_u32 compiled_saved_bytes(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 state = 0, next;
	wire_u32 found = 0;

	for (int i = 0; i < COMPILED_MAX_MOVES; i++) {
		next = compiled_pass_move(c, memory, state);
		if (!next || (found && (wire_s32)(next - state) < 0))
			break;
		state = next;
		if (compiled_is_lowered(c, memory, (wire_u32)state))
			found = (wire_u32)state;
	}
	return found;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, compiled_saved_bytes, (struct unwind_cursor * c), c, (c, NULL), 0)

#define compiled_saved_bytes(c, memory) compiled_saved_bytes_alone(c)

#endif

#endif
