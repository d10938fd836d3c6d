/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The unwinder: one frame of a user stack at a time. unwind_choose() says which step takes the
 * frame at pc; the loop around unwind_frame() belongs to the seat (bpf_loop in BPF, `for` in
 * userspace). A step for compiled Java frames becomes one more enum unwind_step, chosen by the
 * pc's range.
 */
#ifndef HOSTPROF_UNWIND_H
#define HOSTPROF_UNWIND_H

#include "step_fp.h"
#include "step_interpreted.h"
#include "step_leaf.h"
#include "step_row.h"
#include "step_signal.h"
#include "unwind_find.h"

enum unwind_step {
	UNWIND_STEP_ROW,	 /* as the call frame information says */
	UNWIND_STEP_FP,		 /* follow the frame pointer */
	UNWIND_STEP_SWITCH,	 /* the same, to a frame on any stack */
	UNWIND_STEP_LEAF,	 /* follow it from the thread's own pc, with a look at the code */
	UNWIND_STEP_SIGNAL,	 /* a signal handler's return trampoline */
	UNWIND_STEP_INTERPRETED, /* HotSpot's interpreter */
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
	c->missed = 0;
	c->no_trampoline = 0;
	c->window_at = 0;
	c->range.start = 0;
	c->range.end = 0;
	c->row_frames = 0;
	c->hot_frames = 0;
	c->fp_frames = 0;
	c->jit_frames = 0;
	c->seen.method = 0;
	c->seen.const_method = 0;
	c->seen.identity = 0;
	c->reason = UNWIND_DEPTH; /* until a step says otherwise: the loop's turns were used up */
}

/* Code of which nothing is known: what its bytes say, else the frame pointer. */
static inline enum unwind_step unwind_choose_blind(struct unwind_cursor *c,
						   struct unwind_memory *memory)
{
	if (c->leaf)
		return UNWIND_STEP_LEAF;
	if (signal_is_trampoline(c, memory))
		return UNWIND_STEP_SIGNAL;
	return UNWIND_STEP_FP;
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
	case WIRE_RULE_FP: c->fp_frames++; return UNWIND_STEP_SWITCH;
	default: return UNWIND_STEP_BAD_ROW;
	}
}

static inline enum unwind_step unwind_choose(struct unwind_cursor *c, struct unwind_memory *memory,
					     struct wire_rule *rule)
{
	if (step_is_interpreted(c))
		return UNWIND_STEP_INTERPRETED;
	if (!tables_present(memory))
		return unwind_choose_blind(c, memory);
	if (!c->serial)
		return UNWIND_STEP_MISS;
	switch (unwind_find(c, memory, rule)) {
	case UNWIND_FOUND: return unwind_choose_by_rule(c, memory, rule);
	case UNWIND_FOUND_JIT: c->jit_frames++; return unwind_choose_blind(c, memory);
	case UNWIND_OUTSIDE: return c->listed ? UNWIND_STEP_NOWHERE : UNWIND_STEP_MISS;
	default: return UNWIND_STEP_MISS;
	}
}

static inline int unwind_miss(struct unwind_cursor *c)
{
	c->missed = 1;
	return unwind_stop(c, UNWIND_NO_ROWS);
}

/* Write the frame at pc to OUT (UNWIND_OUT_WORDS words) and go to its caller: enum unwind_verdict. */
static inline int unwind_frame(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 *out)
{
	struct wire_rule rule = {};
	enum unwind_step step = unwind_choose(c, memory, &rule);

	if (step == UNWIND_STEP_INTERPRETED)
		return step_interpreted(c, memory, out);
	/* The frame is written when the walk goes on. */
	if (step == UNWIND_STEP_MISS)
		return unwind_miss(c);
	if (unwind_put_frame(c, out, WIRE_FRAME_CODE, 1))
		return UNWIND_STOP;
	switch (step) {
	case UNWIND_STEP_ROW: return step_row(c, memory, &rule);
	case UNWIND_STEP_LEAF: return step_leaf(c, memory);
	case UNWIND_STEP_SIGNAL: return step_signal(c, memory);
	case UNWIND_STEP_FP: return step_fp(c, memory);
	case UNWIND_STEP_SWITCH: return step_switch(c, memory);
	case UNWIND_STEP_END: return unwind_stop(c, UNWIND_DONE);
	case UNWIND_STEP_NOWHERE: return unwind_stop(c, UNWIND_BAD_RETURN);
	default: return unwind_stop(c, UNWIND_BAD_ROW);
	}
}

#endif
