/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The interpreted step: HotSpot's template interpreter keeps a frame-pointer frame of fixed slots
 * (src/hotspot/cpu/x86/frame_x86.hpp: sender sp -1, Method* -3, bcp -8, or -7 in JDK 8), in words
 * from %rbp. The slots come with struct wire_jvm.
 */
#ifndef HOSTPROF_STEP_INTERPRETED_H
#define HOSTPROF_STEP_INTERPRETED_H

#include "step_fp.h"

/* c->slots holds the words fp - 9 .. fp + 6: all of the fixed slots. */
#define INTERPRETED_FP_SLOT 9

static inline wire_u64 interpreted_slot(const struct unwind_cursor *c, wire_s8 slot)
{
	return c->slots[(INTERPRETED_FP_SLOT + slot) & (UNWIND_SLOTS - 1)];
}

static inline int step_is_interpreted(const struct unwind_cursor *c)
{
	return c->jvm.interpreter_start && c->pc >= c->jvm.interpreter_start &&
	       c->pc < c->jvm.interpreter_end;
}

/* Method* is aligned metadata; its ConstMethod* pins the identity when the address is re-used. */
static inline wire_u64 interpreted_const_method(struct unwind_cursor *c,
						struct unwind_memory *memory, wire_u64 method)
{
	wire_u64 at = method + c->jvm.method_const_method;
	wire_u64 *word = &c->slots[UNWIND_SLOTS - 1]; /* fp + 6: none of the slots */

	if ((method & 7) || !unwind_is_user(at) || unwind_read(memory, word, 8, at))
		return 0;
	return *word;
}

static inline int interpreted_read(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if (step_fp_check(c))
		return unwind_stop(c, UNWIND_FP_BAD);
	if (unwind_read(memory, c->slots, sizeof(c->slots), c->fp - 8 * INTERPRETED_FP_SLOT))
		return unwind_stop(c, UNWIND_PAGE);
	c->linked = 1;
	return UNWIND_GO_ON;
}

/* Writes the whole frame and goes on to its caller. */
static inline int step_interpreted(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 *out)
{
	wire_u64 method = 0, const_method = 0, bcp = 0, sender_sp;
	int stop;

	if (unwind_put_frame(c, out, WIRE_FRAME_INTERPRETED, WIRE_INTERPRETED_WORDS))
		return UNWIND_STOP;
	stop = interpreted_read(c, memory);
	if (!stop) {
		method = interpreted_slot(c, c->jvm.method_slot);
		const_method = interpreted_const_method(c, memory, method);
		bcp = c->leaf ? c->r13 : interpreted_slot(c, c->jvm.bcp_slot);
	}
	unwind_put(c, out, method);
	unwind_put(c, out, const_method);
	unwind_put(c, out, bcp);
	if (stop)
		return UNWIND_STOP;

	/* Adapters move sp between caller and interpreter: the sender's sp is a slot, not fp + 16. */
	sender_sp = interpreted_slot(c, c->jvm.sender_sp_slot);
	if (sender_sp < c->fp + 16 || sender_sp - c->fp > UNWIND_MAX_FRAME_BYTES)
		sender_sp = c->fp + 16;
	return unwind_enter(c, c->slots[INTERPRETED_FP_SLOT + 1], sender_sp,
			    c->slots[INTERPRETED_FP_SLOT]);
}

#endif
