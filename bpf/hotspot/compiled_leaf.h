/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The leaf's step in compiled Java code and runtime stubs. */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_LEAF_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_LEAF_H

#include "hotspot/compiled_check.h"
#include "hotspot/compiled_deopt.h"
#include "hotspot/compiled_safepoint.h"
#include "hotspot/compiled_saved.h"

/* String intrinsics push registers within a body (string_indexof() and others): so many words. */
#define COMPILED_MAX_PUSHED 6
/* How far ahead of pc another frame's epilogue is looked for. */
#define COMPILED_EPILOGUE_BYTES 64

/* The frame stands, and below it PUSHED words. */
static inline void compiled_rule_pushed(const struct unwind_cursor *c, wire_u32 pushed,
					struct unwind_rule *ret_rule)
{
	compiled_rule(c, COMPILED_BODY, ret_rule);
	ret_rule->cfa += 8ULL * pushed;
	ret_rule->ra_at += 8ULL * pushed;
	ret_rule->fp_at += 8ULL * pushed;
}

/* In this order: a frame that was called from where it leads says more than a call of this code. */
enum compiled_try {
	COMPILED_UNFIT,
	COMPILED_FITS,
	COMPILED_CALLED,
	COMPILED_CHECKS_OUT,
	COMPILED_CERTAIN
};

/*
 * Do PUSHED words lead to where Java code was called from, to a call of this very code, to a frame that
 * has been called itself? An old return address in a slot may be a call of this code too.
 */
static inline enum compiled_try compiled_try(struct unwind_cursor *c, struct unwind_memory *memory,
					     wire_u32 pushed)
{
	struct unwind_rule rule;
	wire_u64 ra;
	int called;

	compiled_rule_pushed(c, pushed, &rule);
	if (cursor_load(c, memory, rule.ra_at, &ra) || !blob_owns(c, ra))
		return COMPILED_UNFIT;
	called = compiled_target(c, memory, ra) != 0;
	rule.cfa += compiled_pushed_bytes(c, memory, ra);
	if (compiled_checks_out(c, memory, ra, rule.cfa))
		return called ? COMPILED_CERTAIN : COMPILED_CHECKS_OUT;
	return called ? COMPILED_CALLED : COMPILED_FITS;
}

#ifdef __bpf__

UNWIND_ALONE(enum compiled_try, compiled_try, (struct unwind_cursor * c, wire_u32 pushed), c,
	     (c, NULL, pushed), COMPILED_UNFIT)

#define compiled_try(c, memory, pushed) compiled_try_alone(c, pushed)

#endif

#define COMPILED_NO_TRY 0xff

/* The number of pushed words that is the best, or COMPILED_NO_TRY. */
static inline wire_u32 compiled_try_all(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 odd = c->sp >> 3 & 1, best = COMPILED_NO_TRY;
	enum compiled_try how = COMPILED_UNFIT;

	for (wire_u32 i = 0; i <= COMPILED_MAX_PUSHED / 2 && how != COMPILED_CERTAIN; i++) {
		enum compiled_try found = compiled_try(c, memory, 2 * i + odd);

		if (found <= how)
			continue;
		how = found;
		best = 2 * i + odd;
	}
	return best;
}

/* Does the frame begin at sp beyond doubt? Any word can be an address in the interpreter. */
static inline bool compiled_stands(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra = 0;
	enum compiled_try how = compiled_try(c, memory, 0);

	cursor_load(c, memory, c->sp + 8ULL * c->compiled_seen.frame_size - 8, &ra);
	return how == COMPILED_CERTAIN ||
	       (how == COMPILED_CHECKS_OUT && !blob_is_interpreter(c, ra));
}

/* Registers may be saved below the frame, and may look like a return address. */
static inline wire_u32 compiled_try_body(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 saved;

	if (compiled_stands(c, memory))
		return 0;
	saved = compiled_saved_bytes(c, memory);
	return saved ? saved / 8 : compiled_try_all(c, memory);
}

/* add $imm,%rsp; pop %rbp at c->text + AT: bytes from sp to behind the return address, or 0. */
static inline wire_u32 compiled_epilogue(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;

	return leaf_u24(p) == COMPILED_ADD8 && p[4] == LEAF_POP_RBP ? p[3] + 16U : 0;
}

#ifdef __bpf__

UNWIND_ALONE_AT(wire_u32, compiled_epilogue, 0, UNWIND_TEXT_BYTES - 8, 0)

#define compiled_epilogue(c, at) compiled_epilogue_alone(c, at)

#endif

static inline wire_u32 compiled_find_epilogue(struct unwind_cursor *c)
{
	wire_u32 bytes = 0;

	for (wire_u32 i = 0; i < COMPILED_EPILOGUE_BYTES && !bytes; i++)
		bytes = compiled_epilogue(c, UNWIND_TEXT_BEHIND + i);
	return bytes;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, compiled_find_epilogue, (struct unwind_cursor * c), c, (c), 0)

#define compiled_find_epilogue(c) compiled_find_epilogue_alone(c)

#endif

/* The frame of the native nmethod below has these words; its load of %rsp is these bytes before its epilogue. */
#define COMPILED_YIELD_FRAME 2
#define COMPILED_YIELD_BYTES 48

/* Is mov d32(%r15),%rsp a little behind pc? */
static inline bool compiled_has_switched(const struct unwind_cursor *c)
{
	/* Upwards: Linux 7.2 takes no offset from the cursor that becomes negative. */
	for (wire_u32 i = 0; i < COMPILED_YIELD_BYTES - 7; i++)
		if (leaf_u24(c->text + UNWIND_TEXT_BEHIND - COMPILED_YIELD_BYTES + 1 + i) ==
		    0xa78b49)
			return true;
	return false;
}

/*
 * Continuation.doYield() ends in the frame of enterSpecial(), which it takes for its own out of the
 * thread and which is of another size (gen_continuation_yield() in sharedRuntime_x86_64.cpp): what
 * the epilogue ahead takes off tells.
 */
static inline bool compiled_rule_switched(struct unwind_cursor *c, struct unwind_rule *rule)
{
	wire_u32 bytes;

	if (c->compiled_seen.frame_size != COMPILED_YIELD_FRAME || !compiled_has_switched(c))
		return false;
	bytes = compiled_find_epilogue(c);
	rule->cfa = c->sp + bytes;
	rule->ra_at = rule->cfa - 8;
	rule->fp_at = rule->cfa - 16;
	return bytes != 0;
}

/*
 * Nothing fits: the frame is that of other code, which jumped here. Of C1's forward_exception it is
 * one by the frame pointer (generate_handle_exception() in c1_Runtime1_x86.cpp).
 */
static inline void compiled_rule_last(struct unwind_cursor *c, struct unwind_memory *memory,
				      struct unwind_rule *rule)
{
	struct unwind_rule other = compiled_fp_rule(c);

	compiled_rule(c, COMPILED_BODY, rule);
	if (c->fp - c->sp < 8ULL * c->compiled_seen.frame_size && compiled_fits(c, memory, &other))
		*rule = other;
}

/*
 * In a body, but words may be pushed in it. Frames are aligned to 16 bytes (StackAlignmentInBytes),
 * so that their number is even or odd as the stack pointer is; the best is one that leads to a call
 * of this very code.
 */
static inline enum unwind_verdict compiled_leave_body(struct unwind_cursor *c,
						      struct unwind_memory *memory)
{
	struct unwind_rule rule;
	wire_u32 pushed;

	if (compiled_rule_switched(c, &rule))
		return compiled_follow(c, memory, &rule);
	pushed = compiled_try_body(c, memory);
	if (pushed != COMPILED_NO_TRY) {
		compiled_rule_pushed(c, pushed, &rule);
		return compiled_follow(c, memory, &rule);
	}
	compiled_rule(c, c->sp & 8 ? COMPILED_ENTRY : COMPILED_PUSHED, &rule);
	if (!compiled_fits(c, memory, &rule))
		compiled_rule_last(c, memory, &rule);
	return compiled_follow(c, memory, &rule);
}

/* The return address in a register: %rdx; behind that the handler of an exception is in %r8. */
static inline enum unwind_verdict compiled_leave_popped(struct unwind_cursor *c)
{
	wire_u64 ra = c->leaf_regs[DWARF_RDX];

	if (!blob_owns(c, ra))
		ra = c->leaf_regs[DWARF_R8];
	if (!blob_owns(c, ra))
		ra = c->leaf_regs[DWARF_RAX];
	return compiled_enter(c, ra, c->sp, c->fp);
}

/*
 * Code that is jumped to with the frame of another, all registers in it (C1's forward_exception,
 * generate_handle_exception() in c1_Runtime1_x86.cpp): %rbp says where it is, while sp goes up.
 */
static inline bool compiled_takes_over(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra, bytes = 8ULL * c->compiled_seen.frame_size;

	if (c->compiled_seen.frame_size < COMPILED_ALL_REGISTERS || blob_frame_complete(c) >= 0 ||
	    !frame_pointer_is_near(c) || c->fp + 16 - c->sp > bytes ||
	    cursor_load(c, memory, c->fp + 8, &ra) || !blob_owns(c, ra))
		return false;
	return compiled_checks_out(c, memory, ra, c->fp + 16);
}

static inline enum unwind_verdict compiled_leave(struct unwind_cursor *c,
						 struct unwind_memory *memory,
						 enum compiled_state state)
{
	struct unwind_rule rule;

	if (state == COMPILED_BODY &&
	    (compiled_keeps_fp(c, memory) || compiled_takes_over(c, memory)))
		state = COMPILED_FP;
	if (state == COMPILED_POPPED)
		return compiled_leave_popped(c);
	if (state == COMPILED_IN_RCX)
		return compiled_enter(c, c->leaf_regs[DWARF_RCX], c->sp, c->fp);
	compiled_rule(c, state, &rule);
	if (state != COMPILED_BODY && compiled_fits(c, memory, &rule))
		return compiled_follow(c, memory, &rule);
	return compiled_leave_body(c, memory);
}

static inline enum unwind_verdict compiled_leaf_step(struct unwind_cursor *c,
						     struct unwind_memory *memory)
{
	wire_u32 ahead, bytes = 8 * c->compiled_seen.frame_size;
	enum compiled_state state;
	enum unwind_verdict stop;

	if (blob_read(c, memory, c->compiled_seen.blob) || compiled_read_text(c, memory))
		return UNWIND_STOP;
	stop = compiled_leave_poll(c, memory);
	if (stop != COMPILED_NO_POLL)
		return stop;
	stop = compiled_leave_deopt(c, memory);
	if (stop != COMPILED_NO_DEOPT)
		return stop;
	ahead = compiled_ahead(c);
	state = compiled_decide(c, ahead, bytes);
	return compiled_leave(c, memory, state);
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, compiled_leaf_step, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define compiled_leaf_step(c, memory) (compiled_leaf_step_alone(c) & UNWIND_STOP)

#endif

#endif
