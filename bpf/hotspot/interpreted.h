/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The interpreted step: HotSpot's template interpreter keeps a frame-pointer frame of fixed slots
 * (src/hotspot/cpu/x86/frame_x86.hpp: sender sp -1, Method* -3, bcp -8, or -7 in JDK 8), in words
 * from %rbp. The slots come with struct wire_jvm.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_INTERPRETED_H
#define HOSTPROF_BPF_HOTSPOT_INTERPRETED_H

#include "hotspot/interpreted_leaf.h"
#include "hotspot/unpacking.h"
#include "native/frame_pointer.h"

/* Bytecodes lie behind their ConstMethod, 64 KiB of them at most. */
#define INTERPRETED_MAX_BYTECODES (66U << 10)

static inline enum unwind_verdict interpreted_slot(struct unwind_cursor *c,
						   struct unwind_memory *memory, wire_s8 slot,
						   wire_u64 *ret_word)
{
	return cursor_load(c, memory, c->fp + (wire_u64)((wire_s64)slot * 8), ret_word);
}

static inline bool interpreted_is_at_pc(const struct unwind_cursor *c)
{
	return blob_is_interpreter(c, c->pc);
}

/* --- which method ----------------------------------------------------------------------------- */

/* The word at an offset of aligned metadata, 0 when it cannot be read. */
static inline wire_u64 interpreted_metadata(struct unwind_memory *memory, wire_u64 base,
					    wire_u32 offset)
{
	wire_u64 at = base + offset, word = 0;

	if (!base || (base & 7) || !cursor_is_user(at) || memory_read(memory, &word, 8, at))
		return 0;
	return word;
}

/*
 * When a class is unloaded, the next one of the same shape gets the same addresses: Method*,
 * ConstMethod*, Klass*. What differs is the Symbol of its name: another address, or another of the
 * random numbers that every Symbol gets (share/oops/symbol.hpp: _hash_and_refcount, in JDK 8 and
 * 11 _identity_hash). When a class is redefined, the places of its old methods go to others of
 * living classes. So the whole way is gone: what was found a while ago proves nothing.
 * 0: could not be read.
 */
static inline void interpreted_identity(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pool, holder, symbol, word, ids = 0;

	pool = interpreted_metadata(memory, c->seen.const_method, c->jvm.const_method_constants);
	holder = interpreted_metadata(memory, pool, c->jvm.pool_holder);
	symbol = interpreted_metadata(memory, holder, c->jvm.klass_name);
	word = interpreted_metadata(memory, symbol, 0);
	c->seen.symbol = symbol;
	c->seen.word = word & c->jvm.symbol_mask;
	c->seen.identity = 0;
	if (!word)
		return;
	if (c->jvm.const_method_ids)
		ids = interpreted_metadata(memory, c->seen.const_method, c->jvm.const_method_ids);
	c->seen.identity =
		WIRE_METHOD_IDENTITY(WIRE_CLASS_IDENTITY(symbol, word, c->jvm.symbol_mask), ids);
}

/* --- the cache of hot methods ----------------------------------------------------------------- */

/* Methods of the class-data archive are at the same addresses in all JVMs of a release. */
static inline struct wire_hot_method *interpreted_hot(const struct unwind_cursor *c,
						      struct unwind_memory *memory, wire_u64 method)
{
	wire_u64 mixed = method ^ (wire_u64)c->jvm.serial << 32;

	return tables_hot_method(memory, cursor_hash(mixed) & (WIRE_HOT_METHODS - 1));
}

/* Into c->seen what was read of it a moment ago. */
static inline bool interpreted_take_hot(struct unwind_cursor *c, struct unwind_memory *memory,
					const struct wire_hot_method *hot, wire_u64 method)
{
	wire_u64 word;

	if (!hot || hot->method != method || hot->serial != c->jvm.serial || hot->tick != c->tick)
		return false;
	c->seen.const_method = hot->const_method;
	c->seen.symbol = hot->symbol;
	c->seen.word = hot->word;
	c->seen.identity = hot->identity;
	word = interpreted_metadata(memory, c->seen.symbol, 0);
	return word && (word & c->jvm.symbol_mask) == c->seen.word;
}

static inline void interpreted_keep_hot(const struct unwind_cursor *c, struct wire_hot_method *hot)
{
	struct wire_hot_method fresh = {
		.method = c->seen.method,
		.const_method = c->seen.const_method,
		.symbol = c->seen.symbol,
		.word = c->seen.word,
		.identity = c->seen.identity,
		.serial = c->jvm.serial,
		.tick = c->tick,
	};

	if (c->seen.identity)
		tables_keep_hot(c, hot, &fresh, sizeof(fresh));
}

/*
 * Into c->seen. What was read is kept for the rest of this walk, in which nothing changes: a
 * recursion pays once for each of its methods.
 */
static inline void interpreted_identify(struct unwind_cursor *c, struct unwind_memory *memory,
					wire_u64 method)
{
	wire_u64 slot = cursor_hash(method);
	struct wire_hot_method *hot;

	UNWIND_OPAQUE(slot);
	slot &= UNWIND_SEEN_METHODS - 1;
	if (c->seen.method != method)
		c->seen = c->methods[slot];
	if (c->seen.method == method) {
		c->java_hot_frames++;
		return;
	}
	c->seen.method = method;
	hot = c->uncached ? NULL : interpreted_hot(c, memory, method);
	if (interpreted_take_hot(c, memory, hot, method)) {
		c->java_hot_frames++;
	} else {
		/* Its name goes with its process, if not before. */
		c->new_code |= hot && (hot->method != method || hot->serial != c->jvm.serial);
		c->seen.const_method =
			interpreted_metadata(memory, method, c->jvm.method_const_method);
		interpreted_identity(c, memory);
		interpreted_keep_hot(c, hot);
	}
	c->methods[slot] = c->seen;
}

/* --- the frame -------------------------------------------------------------------------------- */

/* A leaf's slot is old, and the register current - but not in all of the interpreter's code. */
static inline wire_u64 interpreted_live_bcp(const struct unwind_cursor *c, wire_u64 slot)
{
	wire_u64 bcp = c->r13, from = c->seen.const_method;

	return from && bcp > from && bcp - from < INTERPRETED_MAX_BYTECODES ? bcp : slot;
}

static inline enum unwind_verdict interpreted_leave_inner(struct unwind_cursor *c,
							  struct unwind_memory *memory)
{
	wire_u64 outer;

	if ((!c->leaf && !c->native) || !compiled_is_inner(c, memory, &outer))
		return UNWIND_GO_ON;
	c->fp = outer;
	return frame_pointer_check(c);
}

static inline enum unwind_verdict interpreted_read(struct unwind_cursor *c,
						   struct unwind_memory *memory)
{
	struct interpreted_frame *frame = &c->interpreted;

	if (frame_pointer_check(c) || interpreted_leave_inner(c, memory))
		return cursor_stop(c, UNWIND_FP_BAD);
	if (interpreted_slot(c, memory, c->jvm.method_slot, &frame->method) ||
	    interpreted_slot(c, memory, c->jvm.bcp_slot, &frame->bcp) ||
	    interpreted_slot(c, memory, c->jvm.sender_sp_slot, &frame->sender_sp) ||
	    interpreted_slot(c, memory, 0, &frame->fp) ||
	    interpreted_slot(c, memory, 1, &frame->ra))
		return UNWIND_STOP;
	interpreted_identify(c, memory, frame->method);
	if (c->leaf)
		frame->bcp = interpreted_live_bcp(c, frame->bcp);
	/* Adapters move sp between caller and interpreter, so that it is a slot and not fp + 16. */
	if (frame->sender_sp < c->fp + 16 || frame->sender_sp - c->fp > UNWIND_MAX_FRAME_BYTES)
		frame->sender_sp = c->fp + 16;
	c->linked = 1;
	return UNWIND_GO_ON;
}

/* Where bytecode BCI of the method in c->seen lies; it may be that of no bytecode (SynchronizationEntryBCI). */
static inline wire_u64 interpreted_bcp(const struct unwind_cursor *c, wire_s32 bci)
{
	return bci < 0 ? 0 : c->seen.const_method + c->jvm.unpacking.bytecodes + (wire_u32)bci;
}

/* Into c->interpreted what the slots will have. */
static inline enum interpreted_state interpreted_take(struct unwind_cursor *c,
						      struct unwind_memory *memory,
						      const struct unpacking_frame *frame)
{
	interpreted_identify(c, memory, frame->method);
	if (!c->seen.identity)
		return INTERPRETED_GONE;
	c->interpreted.method = frame->method;
	c->interpreted.bcp = interpreted_bcp(c, frame->bci);
	return INTERPRETED_STANDS;
}

/* A frame that stands, but may not have its method yet. */
static inline enum interpreted_state interpreted_unpack(struct unwind_cursor *c,
							struct unwind_memory *memory)
{
	struct unpacking_frame frame = {};

	switch (unpacking_look(c, memory, &frame)) {
	case UNPACKING_EMPTY: return INTERPRETED_GONE;
	case UNPACKING_TOLD: break;
	default: return INTERPRETED_STANDS;
	}
	return interpreted_take(c, memory, &frame);
}

/* Into c->interpreted; which kind of frame it is. On UNWIND_STOP the method may be known. */
static inline enum interpreted_state interpreted_look(struct unwind_cursor *c,
						      struct unwind_memory *memory)
{
	enum interpreted_state state = INTERPRETED_STANDS;

	c->interpreted.method = c->interpreted.bcp = 0;
	c->seen_here = 0;
	if (c->leaf)
		state = interpreted_leaf(c, memory);
	else
		state = interpreted_caller(c, memory);
	if (state == INTERPRETED_STANDS && interpreted_read(c, memory))
		return INTERPRETED_LOST;
	if (state == INTERPRETED_STANDS)
		state = interpreted_unpack(c, memory);
	if (state == INTERPRETED_UNBUILT)
		interpreted_identify(c, memory, c->interpreted.method);
	/* A register that held a Method* may hold something else by now. */
	if (state == INTERPRETED_UNBUILT && !c->seen.identity)
		state = INTERPRETED_GONE;
	c->seen_here = state <= INTERPRETED_UNBUILT;
	return state;
}

#ifdef __bpf__

UNWIND_ALONE(enum interpreted_state, interpreted_look, (struct unwind_cursor * c), c, (c, NULL),
	     INTERPRETED_LOST)

#define interpreted_look(c, memory) interpreted_look_alone(c)

#endif

/* The frame in c->interpreted, whose method has these. */
static inline enum unwind_verdict interpreted_put(struct unwind_cursor *c, wire_u64 *out,
						  wire_u64 const_method, wire_u64 identity)
{
	if (cursor_put_frame(c, out, WIRE_FRAME_INTERPRETED, WIRE_INTERPRETED_WORDS))
		return UNWIND_STOP;
	cursor_put(c, out, c->interpreted.method);
	cursor_put(c, out, const_method);
	cursor_put(c, out, c->interpreted.bcp);
	cursor_put(c, out, identity);
	return UNWIND_GO_ON;
}

/* A frame at pc that is the interpreter's own, or of which nobody knows the method. */
static inline enum unwind_verdict interpreted_put_nameless(struct unwind_cursor *c, wire_u64 *out)
{
	return cursor_put_frame(c, out, WIRE_FRAME_COMPILED, WIRE_COMPILED_WORDS) ||
	       cursor_put(c, out, 0);
}

/* Writes the whole frame and goes on to its caller. */
static inline enum unwind_verdict interpreted_step(struct unwind_cursor *c,
						   struct unwind_memory *memory, wire_u64 *out)
{
	const struct interpreted_frame *frame = &c->interpreted;
	enum interpreted_state state = interpreted_look(c, memory);
	wire_u8 reason = c->reason;

	c->java_frames++;
	/* The method has been left, or is not known yet: the frame is the interpreter's own. */
	if (state == INTERPRETED_GONE) {
		if (interpreted_put_nameless(c, out))
			return UNWIND_STOP;
		return compiled_enter(c, frame->ra, frame->sender_sp, frame->fp);
	}
	if (interpreted_put(c, out, c->seen_here ? c->seen.const_method : 0,
			    c->seen_here ? c->seen.identity : 0))
		return UNWIND_STOP;
	if (state == INTERPRETED_LOST)
		return cursor_stop(c, reason);
	return compiled_enter(c, frame->ra, frame->sender_sp, frame->fp);
}

/* Into c->interpreted the next of the frames that are on no stack yet. */
static inline enum interpreted_state interpreted_look_ahead(struct unwind_cursor *c,
							    struct unwind_memory *memory)
{
	struct unpacking_array array = {};
	struct unpacking_frame frame = {};

	if (unpacking_find(c, memory, &array) != UNPACKING_TOLD ||
	    unpacking_read(c, memory, &array, c->unpacking_next, &frame) != UNPACKING_TOLD)
		return INTERPRETED_GONE;
	return interpreted_take(c, memory, &frame);
}

#ifdef __bpf__

UNWIND_ALONE(enum interpreted_state, interpreted_look_ahead, (struct unwind_cursor * c), c,
	     (c, NULL), INTERPRETED_GONE)

#define interpreted_look_ahead(c, memory) interpreted_look_ahead_alone(c)

#endif

/* Writes it, at the interpreter's beginning; the walk stays where it is. */
static inline enum unwind_verdict interpreted_to_come(struct unwind_cursor *c,
						      struct unwind_memory *memory, wire_u64 *out)
{
	enum interpreted_state state = interpreted_look_ahead(c, memory);
	enum unwind_verdict stop;
	wire_u64 pc = c->pc;

	c->unpacking_next++;
	c->java_frames++;
	c->pc = c->jvm.interpreter_start;
	if (state == INTERPRETED_GONE)
		stop = interpreted_put_nameless(c, out);
	else
		stop = interpreted_put(c, out, c->seen.const_method, c->seen.identity);
	c->pc = pc;
	return stop;
}

#endif
