/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The unwinder: one frame of a user stack at a time. unwind_choose() says which step takes the
 * frame at pc; the loop around unwind_frame() belongs to the seat (bpf_loop in BPF, `for` in
 * userspace).
 */
#ifndef HOSTPROF_UNWIND_H
#define HOSTPROF_UNWIND_H

#include "hotspot/anchor.h"
#include "hotspot/compiled_settle.h"
#include "hotspot/compiling.h"
#include "hotspot/continuation.h"
#include "hotspot/interpreted.h"
#include "hotspot/receiver.h"
#include "hotspot/stub_leaf.h"
#include "hotspot/virtual.h"
#include "native/ahead.h"
#include "native/goroutine.h"
#include "native/leaf.h"
#include "native/probed.h"
#include "native/row.h"
#include "native/signal.h"
#include "native/start.h"
#include "unwind/find.h"

enum unwind_step {
	UNWIND_STEP_ROW,	 /* as the call frame information says */
	UNWIND_STEP_FP,		 /* by what the code does next, or the frame pointer */
	UNWIND_STEP_CHAINED,	 /* the same, where it was the frame pointer a moment ago */
	UNWIND_STEP_SWITCH,	 /* the same, to a frame on any stack */
	UNWIND_STEP_LEAF,	 /* follow it from the thread's own pc, with a look at the code */
	UNWIND_STEP_SIGNAL,	 /* a signal handler's return trampoline */
	UNWIND_STEP_INTERPRETED, /* HotSpot's interpreter */
	UNWIND_STEP_COMPILED,	 /* what else is in its code cache */
	UNWIND_STEP_BARRIER,	 /* a virtual thread's frames on the stack end */
	UNWIND_STEP_END,	 /* the thread's first frame */
	UNWIND_STEP_NOWHERE,	 /* no code is at pc */
	UNWIND_STEP_MISS,	 /* userspace must say first what code is at pc */
	UNWIND_STEP_BAD_ROW,
};

static inline void unwind_begin(struct unwind_cursor *c, wire_u32 max_frames, wire_u32 begin)
{
	c->frames = 0;
	c->max_frames = max_frames;
	c->begin = begin;
	c->words = begin;
	c->leaf = 1;
	c->regs_kept = 1;
	c->linked = 0;
	c->guessed = 0;
	c->made = 0;
	c->stack_top = 0;
	c->tls = 0;
	c->elsewhere = 0;
	c->missed = 0;
	c->uncached = 0;
	c->new_code = 0;
	c->at_entry = 0;
	c->trampoline = 0;
	c->no_trampoline = 0;
	c->window_at = 0;
	c->range.start = 0;
	c->range.end = 0;
#define WIRE_WALK_COUNTER(name, field, figure, text) c->field = 0;
#include "wire_counters.def"
	c->thread = 0;
	c->java_r15 = 0;
	c->anchor_at = 0;
	c->anchor_own = 1;
	c->native = 0;
	c->unpacks = 0;
	c->unpacking_live = 0;
	c->unpacking_next = c->unpacking_end = 0;
	c->frozen_at.inside = 0;
	c->frozen_at.live = 0;
	c->frozen_at.yields = 0;
	c->frozen_at.young[0] = c->frozen_at.young[1] = 1; /* no code's */
	c->frozen_at.pcs[0] = c->frozen_at.pcs[1] = 0;
	c->frozen_at.count[0] = c->frozen_at.count[1] = 0;
	c->frozen_at.skip = 0;
	c->frozen_at.taken_to = 0;
	c->virtual_thread.object = 0;
	c->virtual_thread.id = 0;
	c->virtual_thread.name_bytes = 0;
	c->has_anchor = 0;
	c->far_pc = 0;
	c->compiled_seen.pc = 0;
	c->blob_at = 0;
	c->seen.method = 0;
	c->seen.const_method = 0;
	c->seen.identity = 0;
	c->seen.symbol = 0;
	c->seen.word = 0;
	for (int i = 0; i < UNWIND_SEEN_METHODS; i++)
		c->methods[i] = c->seen;
	c->reason = UNWIND_DEPTH; /* until a step says otherwise: the loop's turns were used up */
}

/* Code of which nothing is known: what its bytes say, else the frame pointer. */
static inline enum unwind_step unwind_choose_blind(struct unwind_cursor *c,
						   struct unwind_memory *memory)
{
	if (start_may_be_here(c) && start_is_here(c, memory))
		return UNWIND_STEP_END;
	if (c->leaf)
		return UNWIND_STEP_LEAF;
	if (signal_is_trampoline(c, memory))
		return UNWIND_STEP_SIGNAL;
	return start_is_context(c) ? UNWIND_STEP_END : UNWIND_STEP_FP;
}

static inline enum unwind_step unwind_choose_chained(struct unwind_cursor *c,
						     const struct wire_rule *rule)
{
	c->made = (wire_u8)rule->cfa_add;
	if (c->made)
		c->jit_frames++;
	else
		c->fp_frames++;
	return UNWIND_STEP_CHAINED;
}

static inline enum unwind_step unwind_choose_by_rule(struct unwind_cursor *c,
						     struct unwind_memory *memory,
						     const struct wire_rule *rule)
{
	switch (rule->kind) {
	case WIRE_RULE_NONE: c->fp_frames++; return unwind_choose_blind(c, memory);
	case WIRE_RULE_CFA:
	case WIRE_RULE_DEREF:
	case WIRE_RULE_PLT: return UNWIND_STEP_ROW;
	case WIRE_RULE_SIGNAL: return UNWIND_STEP_SIGNAL;
	case WIRE_RULE_END: return UNWIND_STEP_END;
	case WIRE_RULE_FP:
	case WIRE_RULE_GOROUTINE: c->fp_frames++; return UNWIND_STEP_SWITCH;
	case WIRE_RULE_CHAINED: return unwind_choose_chained(c, rule);
	default: return UNWIND_STEP_BAD_ROW;
	}
}

/* There is a JVM, and its layout is to come: code without a file may be Java code. */
static inline bool unwind_jvm_is_pending(const struct unwind_cursor *c)
{
	return c->jvm_serial && !c->jvm.serial;
}

static inline enum unwind_step unwind_choose(struct unwind_cursor *c, struct unwind_memory *memory,
					     struct wire_rule *rule)
{
	c->made = 0;
	if (interpreted_is_at_pc(c))
		return UNWIND_STEP_INTERPRETED;
	if (!tables_present(memory))
		return !c->leaf && find_is_chained(c, memory, c->pc)
			       ? UNWIND_STEP_CHAINED
			       : unwind_choose_blind(c, memory);
	if (compiled_is_at_pc(c))
		return c->pc == c->jvm.return_barrier ? UNWIND_STEP_BARRIER : UNWIND_STEP_COMPILED;
	if (!c->serial)
		return UNWIND_STEP_MISS;
	switch (find_at_pc(c, memory, rule)) {
	case UNWIND_FOUND: return unwind_choose_by_rule(c, memory, rule);
	case UNWIND_FOUND_JIT:
		if (unwind_jvm_is_pending(c))
			return UNWIND_STEP_MISS;
		c->jit_frames++;
		c->made = 1;
		return unwind_choose_blind(c, memory);
	case UNWIND_OUTSIDE:
		return c->listed && !unwind_jvm_is_pending(c) ? UNWIND_STEP_NOWHERE
							      : UNWIND_STEP_MISS;
	default: return UNWIND_STEP_MISS;
	}
}

static inline enum unwind_verdict unwind_miss(struct unwind_cursor *c)
{
	c->missed = 1;
	return cursor_stop(c, UNWIND_NO_ROWS);
}

/* The frame of so many words that was written last, if the way to its caller is missed: it will be walked again. */
static inline void unwind_take_back(struct unwind_cursor *c, wire_u32 words)
{
	if (!c->missed)
		return;
	c->frames--;
	c->words -= words;
}

static inline enum unwind_verdict unwind_put_mark(struct unwind_cursor *c, wire_u64 *out,
						  enum wire_mark mark)
{
	wire_u64 word = mark | (wire_u64)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT;

	if (c->frames >= c->max_frames || c->words - c->begin >= WIRE_MAX_USER_WORDS)
		return cursor_stop(c, UNWIND_DEPTH);
	c->frames++;
	return cursor_put(c, out, word);
}

/* For frames in the heap that cannot be read. */
static inline enum unwind_verdict unwind_put_frozen(struct unwind_cursor *c, wire_u64 *out)
{
	c->frozen++;
	return unwind_put_mark(c, out, WIRE_MARK_FROZEN);
}

/* The rest of the frames in the heap is not known. */
static inline enum unwind_verdict unwind_leave_heap(struct unwind_cursor *c, wire_u64 *out)
{
	return unwind_put_frozen(c, out) ? UNWIND_STOP : frozen_leave(c);
}

/* The frames that the heap has; with MOVES others may be in neither place. */
static inline enum unwind_verdict unwind_heap(struct unwind_cursor *c, struct unwind_memory *memory,
					      wire_u64 *out, bool moves)
{
	bool found = frozen_begin(c, memory);

	if ((moves || !found) && unwind_put_frozen(c, out))
		return UNWIND_STOP;
	if (!found)
		return frozen_leave(c);
	frozen_enter(c);
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict unwind_barrier(struct unwind_cursor *c,
						 struct unwind_memory *memory, wire_u64 *out)
{
	bool moves;

	/* JDK 21 to 23 make enterSpecial for the first virtual thread: userspace looks for it. */
	if (!c->jvm.enter_return) {
		c->missed = 1;
		return cursor_stop(c, UNWIND_NO_THREAD);
	}
	moves = continuation_find(c, memory);
	if (!moves || !thawing_begin(c, memory))
		return unwind_heap(c, memory, out, moves);
	frozen_enter(c);
	return UNWIND_GO_ON;
}

/* What was taken for the frames on their way to the stack is not that. */
static inline enum unwind_verdict unwind_not_thawing(struct unwind_cursor *c,
						     struct unwind_memory *memory, wire_u64 *out)
{
	thawing_take_back(c);
	return unwind_heap(c, memory, out, true);
}

/* A frame in the heap, and the way to the next one there, or back to the stack. */
static inline enum unwind_verdict unwind_frozen(struct unwind_cursor *c,
						struct unwind_memory *memory, wire_u64 *out)
{
	bool taken = c->frozen_at.taken_to;
	enum frozen_kind kind = frozen_look(c, memory);

	if (kind == FROZEN_LOST)
		return taken ? unwind_not_thawing(c, memory, out) : unwind_leave_heap(c, out);
	if (c->frozen_at.skip) {
		if (!frozen_skip(c))
			return unwind_leave_heap(c, out);
	} else {
		if (frozen_put(c, out, kind))
			return UNWIND_STOP;
		c->frozen_frames++;
		c->frozen_at.taken += taken;
	}
	if (c->frozen_at.cut)
		return unwind_leave_heap(c, out);
	if (c->frozen_at.sp >= c->frozen_at.end)
		return frozen_leave(c);
	frozen_enter(c);
	return UNWIND_GO_ON;
}

/* Goes from the frame at c->compiled_seen, which is written, to its caller. */
static inline enum unwind_verdict unwind_java_caller(struct unwind_cursor *c,
						     struct unwind_memory *memory, wire_u64 *out)
{
	c->unpacks = c->leaf ? UNPACKING_FROM_LEAF : c->native;
	if (!c->compiled_seen.frame_size)
		c->unpacks = 0;
	if (c->unpacks && !c->leaf && compiled_settle(c, memory))
		return UNWIND_STOP;
	c->native = 0;
	if (c->compiled_seen.frame_size)
		return c->leaf ? compiled_leaf_step(c, memory) : compiled_step(c, memory);
	if (continuation_thaws(c))
		return unwind_barrier(c, memory, out);
	return c->leaf ? stub_leaf_step(c, memory) : stub_step(c, memory);
}

/* Compiled code or a stub. */
static inline enum unwind_verdict unwind_java_frame(struct unwind_cursor *c,
						    struct unwind_memory *memory, wire_u64 *out)
{
	enum unwind_verdict stop;

	/* Nothing need be known of the call stub: it may be read when its process is gone. */
	if (c->pc == c->jvm.call_stub_return)
		c->compiled_seen = (struct wire_hot_code){ .pc = c->pc };
	else if (compiled_find(c, memory))
		return UNWIND_STOP;
	if (receiver_may_be(c) && receiver_find(c, memory) && receiver_put(c, out))
		return UNWIND_STOP;
	if (compiled_put(c, out))
		return UNWIND_STOP;
	c->java_frames++;
	frozen_note_yield(c);
	stop = unwind_java_caller(c, memory, out);
	unwind_take_back(c, WIRE_COMPILED_WORDS);
	return stop;
}

/* From code of which nothing is known: as its next instructions say, else by the frame pointer. */
static inline enum unwind_verdict unwind_blind(struct unwind_cursor *c,
					       struct unwind_memory *memory)
{
	struct unwind_rule rule;

	if (!ahead_is_known(c, memory, &rule))
		return frame_pointer_step(c, memory, true);
	c->read_frames++;
	return cursor_execute(c, memory, &rule);
}

/* Inline, whatever the compiler thinks: two frames on the stack take more than one. */
static __always_inline enum unwind_verdict unwind_native_caller(struct unwind_cursor *c,
								struct unwind_memory *memory,
								enum unwind_step step,
								const struct wire_rule *rule)
{
	switch (step) {
	case UNWIND_STEP_ROW: return row_step(c, memory, rule);
	case UNWIND_STEP_LEAF: return leaf_step(c, memory);
	case UNWIND_STEP_SIGNAL: return signal_step(c, memory);
	case UNWIND_STEP_FP: return unwind_blind(c, memory);
	case UNWIND_STEP_CHAINED: return frame_pointer_step(c, memory, false);
	case UNWIND_STEP_SWITCH: return goroutine_step(c, memory, rule);
	case UNWIND_STEP_END: return cursor_stop(c, UNWIND_DONE);
	case UNWIND_STEP_NOWHERE: return cursor_stop(c, UNWIND_BAD_RETURN);
	default: return cursor_stop(c, UNWIND_BAD_ROW);
	}
}

static __always_inline enum unwind_verdict unwind_native_frame(struct unwind_cursor *c,
							       struct unwind_memory *memory,
							       enum unwind_step step,
							       const struct wire_rule *rule,
							       wire_u64 *out)
{
	enum unwind_verdict stop;

	/* The frame is written when the walk goes on. */
	if (step == UNWIND_STEP_MISS)
		return unwind_miss(c);
	if (cursor_put_frame(c, out, WIRE_FRAME_CODE, 1))
		return UNWIND_STOP;
	stop = unwind_native_caller(c, memory, step, rule);
	unwind_take_back(c, 1);
	return stop;
}

/* Write the frame at pc to OUT (UNWIND_OUT_WORDS words) and go to its caller: enum unwind_verdict. */
static inline enum unwind_verdict unwind_frame(struct unwind_cursor *c,
					       struct unwind_memory *memory, wire_u64 *out)
{
	struct wire_rule rule = {};
	enum unwind_step step;

	if (c->unpacking_next < c->unpacking_end)
		return interpreted_to_come(c, memory, out);
	if (c->frozen_at.inside)
		return unwind_frozen(c, memory, out);
	if (probed_is_at_pc(c) && probed_undo(c, memory))
		return UNWIND_STOP;
	step = unwind_choose(c, memory, &rule);
	if (step == UNWIND_STEP_INTERPRETED || step == UNWIND_STEP_COMPILED)
		frozen_note_caller(c);
	if (step == UNWIND_STEP_INTERPRETED) {
		enum unwind_verdict stop = interpreted_step(c, memory, out);

		c->native = 0;
		return stop;
	}
	if (step == UNWIND_STEP_COMPILED)
		return unwind_java_frame(c, memory, out);
	if (step == UNWIND_STEP_BARRIER)
		return unwind_barrier(c, memory, out);
	c->native = 1;
	if (unwind_native_frame(c, memory, step, &rule, out) == UNWIND_GO_ON)
		return UNWIND_GO_ON;
	if (!anchor_may_help(c) || anchor_enter(c, memory))
		return UNWIND_STOP;
	return unwind_put_mark(c, out, WIRE_MARK_ANCHOR);
}

#endif
