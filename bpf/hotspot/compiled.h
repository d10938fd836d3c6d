/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The step of compiled Java code (C1, C2, native wrappers) and of runtime stubs: inside its body
 * such code never moves %rsp, and CodeBlob::_frame_size says how many words up the caller's is.
 * Saved %rbp and return address are the two topmost words (share/runtime/frame.inline.hpp,
 * sender_for_compiled_frame() in cpu/x86/frame_x86.inline.hpp). No other register is kept.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_H

#include "hotspot/blob.h"

/* Is pc Java code of this walk's JVM, by a layout that is known? */
static inline bool compiled_is_at_pc(const struct unwind_cursor *c)
{
	return c->jvm.serial && blob_owns(c, c->pc);
}

/* --- what is at pc ---------------------------------------------------------------------------- */

/* A pc may have two places: that where it is, or that which was checked longer ago. */
static inline struct wire_hot_code *compiled_hot_place(struct unwind_memory *memory, wire_u64 pc)
{
	struct wire_hot_code *one = tables_hot_code(memory, cursor_hash(pc));
	struct wire_hot_code *other = tables_hot_code(memory, cursor_hash(pc) ^ 1);

	if (!one || !other || one->pc == pc)
		return one;
	return other->pc == pc || (wire_s32)(one->tick - other->tick) > 0 ? other : one;
}

/*
 * Called before the frame is written. The return address of one that is to be deoptimised leads to
 * the handler, the true one is kept in the frame (share/code/nmethod.hpp, orig_pc_addr()).
 */
static inline enum unwind_verdict compiled_take_true_pc(struct unwind_cursor *c,
							struct unwind_memory *memory,
							wire_u32 frame_size)
{
	wire_s32 at = blob_s32(c, c->jvm.orig_pc);
	wire_u64 pc;

	if (at < 0 || (wire_u64)at >= 8ULL * frame_size)
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	if (cursor_load(c, memory, c->sp + (wire_u32)at, &pc))
		return UNWIND_STOP;
	if (!blob_holds(c, pc))
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	cursor_move(c, pc, c->sp, c->fp);
	return UNWIND_GO_ON;
}

/* A JVM gives a compile id once. Where two have the same place, either is new again when it was not kept. */
static __always_inline void compiled_meet(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 code = (wire_u64)c->jvm.serial << 32 | c->compiled_seen.compile_id;
	wire_u64 *met =
		c->compiled_seen.frame_size ? tables_met_code(memory, cursor_hash(code)) : NULL;

	if (!met || *met == code)
		return;
	*met = code;
	c->new_code = 1;
}

/* Of the frame in c->compiled_seen. */
static __always_inline int compiled_put(struct unwind_cursor *c, wire_u64 *out)
{
	wire_u64 id = c->compiled_seen.compile_id;

	if (c->compiled_seen.entering)
		id |= WIRE_COMPILED_ENTERING;
	return cursor_put_frame(c, out, WIRE_FRAME_COMPILED, WIRE_COMPILED_WORDS) ||
	       cursor_put(c, out, id);
}

/* Find the blob by the segment map, and fill c->compiled_seen. */
static inline enum unwind_verdict compiled_look(struct unwind_cursor *c,
						struct unwind_memory *memory)
{
	wire_s32 frame_size;

	c->compiled_seen.pc = 0;
	if (blob_find(c, memory))
		return UNWIND_STOP;
	frame_size = blob_s32(c, c->jvm.frame_size);
	if (frame_size < 0)
		frame_size = 0;
	if (frame_size >= (wire_s32)BLOB_MAX_FRAME)
		return cursor_stop(c, UNWIND_NO_BLOB);
	if (frame_size && blob_is_deopt(c, c->pc) &&
	    compiled_take_true_pc(c, memory, (wire_u32)frame_size))
		return UNWIND_STOP;
	c->compiled_seen.pc = c->pc;
	c->compiled_seen.blob = c->blob_at;
	c->compiled_seen.serial = c->jvm.serial;
	c->compiled_seen.tick = c->tick;
	c->compiled_seen.frame_size = (wire_u32)frame_size;
	c->compiled_seen.back = blob_segment(c, memory);
	c->compiled_seen.compile_id = (wire_u32)blob_s32(c, c->jvm.compile_id);
	c->compiled_seen.entering = blob_ahead(c, blob_frame_complete(c)) > 0;
	compiled_meet(c, memory);
	tables_keep_hot(c, compiled_hot_place(memory, c->pc), &c->compiled_seen,
			sizeof(c->compiled_seen));
	return UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, compiled_look, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define compiled_look(c, memory) (compiled_look_alone(c) & UNWIND_STOP)

#endif

/* What the cache has of pc, if the blob still is what it was. */
static inline bool compiled_take_hot(struct unwind_cursor *c, struct unwind_memory *memory,
				     struct wire_hot_code *hot)
{
	wire_u32 compile_id;

	if (hot->pc != c->pc || hot->serial != c->jvm.serial)
		return false;
	c->compiled_seen = *hot;
	if (c->compiled_seen.tick == c->tick)
		return true;
	if (memory_read(memory, &compile_id, 4, c->compiled_seen.blob + c->jvm.compile_id) ||
	    compile_id != c->compiled_seen.compile_id ||
	    blob_segment(c, memory) != c->compiled_seen.back)
		return false;
	if (!c->nested)
		hot->tick = c->tick;
	return true;
}

/* Into c->compiled_seen: a recursion pays once. Inline, since the verifier takes no deeper calls than eight. */
static __always_inline enum unwind_verdict compiled_find(struct unwind_cursor *c,
							 struct unwind_memory *memory)
{
	struct wire_hot_code *hot;

	if (c->compiled_seen.pc == c->pc) {
		c->java_hot_frames++;
		return UNWIND_GO_ON;
	}
	hot = c->uncached ? NULL : tables_hot_code(memory, cursor_hash(c->pc));
	if (hot && hot->pc != c->pc)
		hot = tables_hot_code(memory, cursor_hash(c->pc) ^ 1);
	if (hot && compiled_take_hot(c, memory, hot)) {
		c->java_hot_frames++;
		return UNWIND_GO_ON;
	}
	return compiled_look(c, memory);
}

/* --- to the caller ---------------------------------------------------------------------------- */

/* As cursor_enter(), from Java code. A leaf's return address may be in a register. */
static inline enum unwind_verdict compiled_enter(struct unwind_cursor *c, wire_u64 pc, wire_u64 sp,
						 wire_u64 fp)
{
	if (!cursor_is_user(pc) || (sp & 7) || sp < c->sp || (sp == c->sp && !c->leaf) ||
	    sp - c->sp > UNWIND_MAX_FRAME_BYTES)
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	cursor_move(c, pc, sp, fp);
	c->rbx = 0;
	c->r13 = 0;
	c->regs_kept = 0;
	c->linked = 1;
	c->anchor_own = 0; /* it is this frame, or a newer one */
	return UNWIND_GO_ON;
}

/* The size rule. */
static inline enum unwind_verdict compiled_step(struct unwind_cursor *c,
						struct unwind_memory *memory)
{
	wire_u64 top = c->sp + 8ULL * c->compiled_seen.frame_size, ra, fp;

	if (cursor_load(c, memory, top - 8, &ra) || cursor_load(c, memory, top - 16, &fp))
		return UNWIND_STOP;
	return compiled_enter(c, ra, top, fp);
}

#endif
