/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The way back into Java when native frames could not be walked: a thread that left Java code has
 * noted its last Java frame (share/runtime/javaFrameAnchor.hpp) - the JavaThread for the newest
 * one, the JavaCallWrapper of a call stub for that before it.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_ANCHOR_H
#define HOSTPROF_BPF_HOTSPOT_ANCHOR_H

#include "hotspot/compiled.h"

/* Did the walk end in native code that a JVM runs, and may there be Java frames beyond? */
static inline bool anchor_may_help(const struct unwind_cursor *c)
{
	if (!c->jvm.serial || c->missed || !(c->anchor_at || c->anchor_own))
		return false;
	switch (c->reason) {
	case UNWIND_PAGE:
	case UNWIND_FP_END:
	case UNWIND_NO_START:
	case UNWIND_FP_BAD:
	case UNWIND_BAD_RETURN:
	case UNWIND_BAD_ROW: return true;
	default: return false;
	}
}

struct anchor {
	wire_u64 sp, pc, fp;
};

/* A word of an anchor: of that in a JavaThread, or in a call stub's wrapper on the stack. */
static inline enum unwind_verdict anchor_word(struct unwind_cursor *c, struct unwind_memory *memory,
					      int on_stack, wire_u64 at, wire_u64 *ret_word)
{
	if (on_stack)
		return cursor_load(c, memory, at, ret_word);
	return memory_read(memory, ret_word, 8, at) ? UNWIND_STOP : UNWIND_GO_ON;
}

static inline enum unwind_verdict anchor_read_at(struct unwind_cursor *c,
						 struct unwind_memory *memory, int on_stack,
						 wire_u64 at, struct anchor *ret_anchor)
{
	return anchor_word(c, memory, on_stack, at + c->jvm.anchor_sp, &ret_anchor->sp) ||
	       anchor_word(c, memory, on_stack, at + c->jvm.anchor_pc, &ret_anchor->pc) ||
	       anchor_word(c, memory, on_stack, at + c->jvm.anchor_fp, &ret_anchor->fp);
}

/* A wrapper's, else the thread's own as it was when the sample was taken. */
static inline enum unwind_verdict anchor_read(struct unwind_cursor *c, struct unwind_memory *memory,
					      struct anchor *ret_anchor)
{
	wire_u64 at = c->anchor_at, thread;

	c->anchor_at = 0;
	if (at)
		return anchor_read_at(c, memory, 1, at, ret_anchor);
	c->anchor_own = 0;
	if (c->has_anchor) {
		*ret_anchor = (struct anchor){ c->anchor[0], c->anchor[1], c->anchor[2] };
		return UNWIND_GO_ON;
	}
	thread = tables_thread(c);
	if (!thread || c->jvm.thread_anchor == WIRE_JVM_ABSENT)
		return UNWIND_STOP;
	return anchor_read_at(c, memory, 0, thread + c->jvm.thread_anchor, ret_anchor);
}

/* Go on at the anchor; c->reason stays when there is none. Each is used once. */
static inline enum unwind_verdict anchor_enter(struct unwind_cursor *c,
					       struct unwind_memory *memory)
{
	wire_u8 reason = c->reason;
	struct anchor anchor = {};
	enum unwind_verdict stop =
		anchor_read(c, memory, &anchor) ||
		(!anchor.pc && cursor_load(c, memory, anchor.sp - 8, &anchor.pc));

	c->reason = reason;
	if (stop || anchor.sp <= c->sp || (anchor.sp & 7) || !cursor_is_user(anchor.sp))
		return UNWIND_STOP;
	if (!blob_owns(c, anchor.pc))
		return UNWIND_STOP;
	cursor_move(c, anchor.pc, anchor.sp, anchor.fp);
	c->rbx = c->r13 = 0;
	c->regs_kept = 0;
	c->linked = 1;
	c->guessed = 0;
	c->reason = UNWIND_DEPTH;
	c->anchors++;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, anchor_enter, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define anchor_enter(c, memory) (anchor_enter_alone(c) & UNWIND_STOP)

#endif
#endif
