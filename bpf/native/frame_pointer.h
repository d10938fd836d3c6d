/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The frame-pointer step: the x86-64 ABI's chain, [fp] the caller's frame pointer and [fp + 8] the
 * return address. Correct where code keeps frame pointers; the reason says where it does not.
 */
#ifndef HOSTPROF_BPF_NATIVE_FRAME_POINTER_H
#define HOSTPROF_BPF_NATIVE_FRAME_POINTER_H

#include "native/exits.h"
#include "native/leaf_call.h"
#include "unwind/find.h"

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

/* Is what should be the return address behind no call? Compilers of code at run time often keep something else in %rbp. Uses c->code. */
static inline bool frame_pointer_is_none(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra;

	if (!cursor_load(c, memory, c->fp + 8, &ra) &&
	    (find_is_chained(c, memory, ra) || leaf_has_called(c, memory, ra)))
		return false;
	c->reason = UNWIND_FP_BAD;
	return true;
}

#ifdef __bpf__

/* The last word is userspace's. */
#define frame_pointer_is_last_hope(c, memory) false

#else

/* V8 lets code that it gives up return to the beginning of other code: where no exit is found it may be right, if it leads to code at all. */
static inline bool frame_pointer_is_last_hope(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra;

	return !cursor_load(c, memory, c->fp + 8, &ra) && cursor_is_user(ra) &&
	       exits_is_code(c, memory, ra);
}

#endif

/* KEEP: code that has called, of which that is to be remembered. */
static inline enum unwind_verdict frame_pointer_step(struct unwind_cursor *c,
						     struct unwind_memory *memory, bool keep)
{
	struct unwind_rule rule = { .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };

	if (frame_pointer_check(c))
		return c->made ? exits_step(c, memory) : UNWIND_STOP;
	if (c->made && frame_pointer_is_none(c, memory)) {
		if (!exits_step(c, memory))
			return UNWIND_GO_ON;
		if (!frame_pointer_is_last_hope(c, memory))
			return UNWIND_STOP;
	}
	if (keep)
		find_keep_chained(c, memory);
	c->guessed = 1;
	return cursor_execute(c, memory, &rule);
}

/*
 * Code that has put the stack pointer on another stack and saved no frame pointer (Go before 1.21:
 * systemstack and mcall in runtime/asm_amd64.s): %rbp is the frame of who called it, and the return
 * address lies a little below, behind a call that leads to this function.
 */
#define FRAME_POINTER_WORDS 64
#define FRAME_POINTER_BYTES 256 /* such a function has less */

/* Does the call before RA lead to the function that pc is in? Uses c->code. */
static inline bool frame_pointer_called(struct unwind_cursor *c, struct unwind_memory *memory,
					wire_u64 ra)
{
	wire_u64 target;

	/* As far as a call may lead. */
	if (!cursor_is_user(ra) || ra - c->pc + (1ULL << 31) >= 1ULL << 32)
		return false;
	target = leaf_call_target(c, memory, ra);
	return target && c->pc - target < FRAME_POINTER_BYTES;
}

/*
 * Does the frame of RA, which lies at AT, end where the frame pointer says, by its row? Words of calls
 * that are long over look like a return address, too. Where no row is there yet nobody knows better.
 */
static inline bool frame_pointer_fits(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 ra, wire_u64 at)
{
	struct wire_rule rule;
	enum unwind_found found = find_elsewhere(c, memory, ra, c->exact, &rule);

	if (found != UNWIND_FOUND)
		return found == UNWIND_ABSENT;
	return rule.kind == WIRE_RULE_CFA && rule.cfa_reg == DWARF_RSP &&
	       at + 8 + (wire_u64)(wire_s64)rule.cfa_offset == c->fp + 16;
}

struct frame_pointer_below {
	struct unwind_cursor *c;
	struct unwind_memory *memory;
	wire_u32 words; /* 0: nowhere */
};

static long frame_pointer_below_turn(wire_u32 turn, struct frame_pointer_below *below)
{
	struct unwind_cursor *c = below->c;
	wire_u64 at = c->fp - 8ULL * (turn + 1), word;

	if (cursor_load(c, below->memory, at, &word))
		return 1;
	if (!frame_pointer_called(c, below->memory, word) ||
	    !frame_pointer_fits(c, below->memory, word, at))
		return 0;
	below->words = turn + 1;
	return 1;
}

/* How many words below the frame pointer it lies; 0: nowhere. */
static inline wire_u32 frame_pointer_below(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct frame_pointer_below below = { .c = c, .memory = memory };

	unwind_loop(FRAME_POINTER_WORDS, frame_pointer_below_turn, &below);
	return below.words;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, frame_pointer_below, (struct unwind_cursor * c), c, (c, NULL), 0)

#define frame_pointer_below(c, memory) frame_pointer_below_alone(c)

#endif

/* Go to a caller on another stack. */
static inline enum unwind_verdict frame_pointer_leave(struct unwind_cursor *c, wire_u64 pc,
						      wire_u64 sp, wire_u64 fp)
{
	c->linked = 1;
	c->elsewhere = 1;
	c->sp = 0; /* every stack pointer is above it */
	return cursor_enter(c, pc, sp, fp);
}

static inline enum unwind_verdict frame_pointer_return(struct unwind_cursor *c,
						       struct unwind_memory *memory)
{
	wire_u64 at = c->fp - 8ULL * frame_pointer_below(c, memory), pc;

	if (at == c->fp)
		return cursor_stop(c, UNWIND_FP_BAD);
	if (cursor_load(c, memory, at, &pc))
		return UNWIND_STOP;
	return frame_pointer_leave(c, pc, at + 8, c->fp);
}

/* Can there be a frame where the frame pointer says, on whatever stack? */
static inline bool frame_pointer_leads(const struct unwind_cursor *c)
{
	return c->fp && (c->fp & 7) == 0 && cursor_is_user(c->fp);
}

/* Code that has put the stack pointer on another stack: the frame may be anywhere. A chain that runs in circles ends with the frames. */
static inline enum unwind_verdict frame_pointer_follow(struct unwind_cursor *c,
						       struct unwind_memory *memory)
{
	wire_u64 fp = c->fp, pc;

	/* Such code sets it to 0 where there is no way back. */
	if (!frame_pointer_leads(c))
		return cursor_stop(c, fp ? UNWIND_FP_BAD : UNWIND_DONE);
	if (cursor_load(c, memory, fp + 8, &pc) || cursor_load(c, memory, fp, &c->fp))
		return UNWIND_STOP;
	return frame_pointer_leave(c, pc, fp + 16, c->fp);
}

/* The step from such code (WIRE_RULE_FP). */
static inline enum unwind_verdict frame_pointer_switch(struct unwind_cursor *c,
						       struct unwind_memory *memory,
						       const struct wire_rule *rule)
{
	if (!rule->cfa_add || !frame_pointer_leads(c))
		return frame_pointer_follow(c, memory);
	return frame_pointer_return(c, memory);
}

#endif
