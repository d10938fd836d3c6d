/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The interpreted step: HotSpot's template interpreter keeps a frame-pointer frame of fixed slots
 * (src/hotspot/cpu/x86/frame_x86.hpp: sender sp -1, Method* -3, bcp -8, or -7 in JDK 8), in words
 * from %rbp. The slots come with struct wire_jvm.
 */
#ifndef HOSTPROF_STEP_INTERPRETED_H
#define HOSTPROF_STEP_INTERPRETED_H

#include "step_fp.h"

struct interpreted_frame {
	wire_u64 method, bcp, sender_sp, fp, ra;
};

static inline int interpreted_slot(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_s8 slot, wire_u64 *ret_word)
{
	return unwind_load(c, memory, c->fp + (wire_u64)((wire_s64)slot * 8), ret_word);
}

static inline int step_is_interpreted(const struct unwind_cursor *c)
{
	return c->jvm.interpreter_start && c->pc >= c->jvm.interpreter_start &&
	       c->pc < c->jvm.interpreter_end;
}

/* The word at an offset of aligned metadata, 0 when it cannot be read. */
static inline wire_u64 interpreted_metadata(struct unwind_memory *memory, wire_u64 base,
					    wire_u32 offset)
{
	wire_u64 at = base + offset, word = 0;

	if (!base || (base & 7) || !unwind_is_user(at) || unwind_read(memory, &word, 8, at))
		return 0;
	return word;
}

/*
 * When a class is unloaded, the next one of the same shape gets the same addresses: Method*,
 * ConstMethod*, Klass*. What differs is the Symbol of its name: another address, or another of the
 * random numbers that every Symbol gets (share/oops/symbol.hpp: _hash_and_refcount, in JDK 8 and
 * 11 _identity_hash). 0: could not be read.
 */
static inline wire_u64 interpreted_identity(struct unwind_cursor *c, struct unwind_memory *memory,
					    wire_u64 const_method)
{
	wire_u64 pool, holder, symbol, word;

	pool = interpreted_metadata(memory, const_method, c->jvm.const_method_constants);
	holder = interpreted_metadata(memory, pool, c->jvm.pool_holder);
	symbol = interpreted_metadata(memory, holder, c->jvm.klass_name);
	word = interpreted_metadata(memory, symbol, 0);
	return word ? WIRE_CLASS_IDENTITY(symbol, word, c->jvm.symbol_mask) : 0;
}

/*
 * Into c->seen, which holds for the rest of this walk: five reads otherwise for every frame of a
 * recursion.
 */
static inline void interpreted_identify(struct unwind_cursor *c, struct unwind_memory *memory,
					wire_u64 method)
{
	if (c->seen.method == method)
		return;
	c->seen.method = method;
	c->seen.const_method = interpreted_metadata(memory, method, c->jvm.method_const_method);
	c->seen.identity = interpreted_identity(c, memory, c->seen.const_method);
}

static inline int interpreted_read(struct unwind_cursor *c, struct unwind_memory *memory,
				   struct interpreted_frame *frame)
{
	if (step_fp_check(c))
		return unwind_stop(c, UNWIND_FP_BAD);
	if (interpreted_slot(c, memory, c->jvm.method_slot, &frame->method) ||
	    interpreted_slot(c, memory, c->jvm.bcp_slot, &frame->bcp) ||
	    interpreted_slot(c, memory, c->jvm.sender_sp_slot, &frame->sender_sp) ||
	    interpreted_slot(c, memory, 0, &frame->fp) ||
	    interpreted_slot(c, memory, 1, &frame->ra))
		return UNWIND_STOP;
	interpreted_identify(c, memory, frame->method);
	if (c->leaf)
		frame->bcp = c->r13;
	/* Adapters move sp between caller and interpreter, so that it is a slot and not fp + 16. */
	if (frame->sender_sp < c->fp + 16 || frame->sender_sp - c->fp > UNWIND_MAX_FRAME_BYTES)
		frame->sender_sp = c->fp + 16;
	c->linked = 1;
	return UNWIND_GO_ON;
}

/* Writes the whole frame and goes on to its caller. */
static inline int step_interpreted(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 *out)
{
	struct interpreted_frame frame = {};
	int stop;

	if (unwind_put_frame(c, out, WIRE_FRAME_INTERPRETED, WIRE_INTERPRETED_WORDS))
		return UNWIND_STOP;
	stop = interpreted_read(c, memory, &frame);
	unwind_put(c, out, frame.method);
	unwind_put(c, out, stop ? 0 : c->seen.const_method);
	unwind_put(c, out, frame.bcp);
	unwind_put(c, out, stop ? 0 : c->seen.identity);
	return stop ? UNWIND_STOP : unwind_enter(c, frame.ra, frame.sender_sp, frame.fp);
}

#endif
