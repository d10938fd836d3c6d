/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The frame-pointer step: the x86-64 ABI's chain, [fp] the caller's frame pointer and [fp + 8] the
 * return address. Correct where code keeps frame pointers; the reason says where it does not.
 */
#ifndef HOSTPROF_BPF_NATIVE_FRAME_POINTER_H
#define HOSTPROF_BPF_NATIVE_FRAME_POINTER_H

#include "unwind/cursor.h"

/* Can the frame pointer be that of this frame, or of an older one near by? */
static inline bool frame_pointer_is_near(const struct unwind_cursor *c)
{
	return (c->fp & 7) == 0 && c->fp >= c->sp && c->fp - c->sp <= UNWIND_MAX_FRAME_BYTES;
}

/*
 * Zero should mark the outermost frame (System V ABI, "Initial Stack and Register State": %rbp should
 * be zeroed), but code that uses %rbp for something else has it anywhere. What is a thread's start was
 * found before by other marks (native/start.h, WIRE_RULE_END).
 */
static inline enum unwind_verdict frame_pointer_check(struct unwind_cursor *c)
{
	if (c->fp == 0)
		return cursor_stop(c, c->linked ? UNWIND_NO_START : UNWIND_FP_END);
	if (!frame_pointer_is_near(c) || !cursor_is_user(c->fp))
		return cursor_stop(c, UNWIND_FP_BAD);
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict frame_pointer_step(struct unwind_cursor *c,
						     struct unwind_memory *memory)
{
	struct unwind_rule rule = { .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };

	if (frame_pointer_check(c))
		return UNWIND_STOP;
	c->guessed = 1;
	return cursor_execute(c, memory, &rule);
}

/*
 * The same from code that has put the stack pointer on another stack (WIRE_RULE_FP): the frame may
 * be anywhere. A chain that runs in circles ends with the frames.
 */
static inline enum unwind_verdict frame_pointer_switch(struct unwind_cursor *c,
						       struct unwind_memory *memory)
{
	wire_u64 fp = c->fp, pc;

	/* Such code sets it to 0 where there is no way back. */
	if (fp == 0)
		return cursor_stop(c, UNWIND_DONE);
	if ((fp & 7) || !cursor_is_user(fp))
		return cursor_stop(c, UNWIND_FP_BAD);
	if (cursor_load(c, memory, fp + 8, &pc) || cursor_load(c, memory, fp, &c->fp))
		return UNWIND_STOP;
	c->linked = 1;
	c->sp = 0; /* every stack pointer is above it */
	return cursor_enter(c, pc, fp + 16, c->fp);
}

#endif
