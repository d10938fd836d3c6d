/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The unwinder: one frame of a user stack at a time. unwind_choose() says which step takes the
 * frame at pc; the loop around unwind_frame() belongs to the seat (bpf_loop in BPF, `for` in
 * userspace). A step for frames described by .eh_frame rows, and one for compiled Java frames,
 * become one more enum unwind_step each, chosen by the pc's range.
 */
#ifndef HOSTPROF_UNWIND_H
#define HOSTPROF_UNWIND_H

#include "step_fp.h"
#include "step_interpreted.h"
#include "step_leaf.h"
#include "step_signal.h"

enum unwind_step {
	UNWIND_STEP_FP,		 /* follow the frame pointer */
	UNWIND_STEP_LEAF,	 /* the same for the thread's own pc, with a look at the code */
	UNWIND_STEP_SIGNAL,	 /* a signal handler's return trampoline */
	UNWIND_STEP_INTERPRETED, /* HotSpot's interpreter */
};

static inline void unwind_begin(struct unwind_cursor *c, wire_u32 max_frames, wire_u32 begin)
{
	c->frames = 0;
	c->max_frames = max_frames;
	c->begin = begin;
	c->words = begin;
	c->leaf = 1;
	c->linked = 0;
	c->no_trampoline = 0;
	c->window_at = 0;
	c->seen.method = 0;
	c->seen.const_method = 0;
	c->seen.identity = 0;
	c->reason = UNWIND_DEPTH; /* until a step says otherwise: the loop's turns were used up */
}

static inline enum unwind_step unwind_choose(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if (step_is_interpreted(c))
		return UNWIND_STEP_INTERPRETED;
	if (c->leaf)
		return UNWIND_STEP_LEAF;
	if (signal_is_trampoline(c, memory))
		return UNWIND_STEP_SIGNAL;
	return UNWIND_STEP_FP;
}

/* Write the frame at pc to OUT (UNWIND_OUT_WORDS words) and go to its caller: enum unwind_verdict. */
static inline int unwind_frame(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 *out)
{
	enum unwind_step step = unwind_choose(c, memory);

	if (step == UNWIND_STEP_INTERPRETED)
		return step_interpreted(c, memory, out);
	if (unwind_put_frame(c, out, WIRE_FRAME_CODE, 1))
		return UNWIND_STOP;
	if (step == UNWIND_STEP_LEAF)
		return step_leaf(c, memory);
	if (step == UNWIND_STEP_SIGNAL)
		return step_signal(c, memory);
	return step_fp(c, memory);
}

#endif
