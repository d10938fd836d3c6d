/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The leaf's step in compiled Java code and runtime stubs. */
#ifndef HOSTPROF_CODE_LEAF_H
#define HOSTPROF_CODE_LEAF_H

#include "code_check.h"
#include "code_safepoint.h"
#include "code_saved.h"

/* String intrinsics push registers within a body (string_indexof() and others): so many words. */
#define CODE_MAX_PUSHED 6
/* How far ahead of pc another frame's epilogue is looked for. */
#define CODE_EPILOGUE_BYTES 64

/* The frame stands, and below it PUSHED words. */
static inline void code_rule_pushed(const struct unwind_cursor *c, wire_u32 pushed,
				    struct unwind_rule *ret_rule)
{
	code_rule(c, CODE_BODY, ret_rule);
	ret_rule->cfa += 8ULL * pushed;
	ret_rule->ra_at += 8ULL * pushed;
	ret_rule->fp_at += 8ULL * pushed;
}

/* In this order: a frame that was called from where it leads says more than a call of this code. */
enum code_try { CODE_UNFIT, CODE_FITS, CODE_CALLED, CODE_CHECKS_OUT, CODE_CERTAIN };

/*
 * Do PUSHED words lead to where Java code was called from, to a call of this very code, to a frame that
 * has been called itself? An old return address in a slot may be a call of this code too.
 */
static inline int code_try(struct unwind_cursor *c, struct unwind_memory *memory, wire_u32 pushed)
{
	struct unwind_rule rule;
	wire_u64 ra;
	int called;

	code_rule_pushed(c, pushed, &rule);
	if (unwind_load(c, memory, rule.ra_at, &ra) || !blob_owns(c, ra))
		return CODE_UNFIT;
	called = code_target(c, memory, ra) != 0;
	rule.cfa += code_pushed_bytes(c, memory, ra);
	if (code_checks_out(c, memory, ra, rule.cfa))
		return called ? CODE_CERTAIN : CODE_CHECKS_OUT;
	return called ? CODE_CALLED : CODE_FITS;
}

#ifdef __bpf__

__attribute__((noinline)) int code_try_alone(struct unwind_cursor *c, wire_u32 pushed)
{
	return c ? code_try(c, NULL, pushed) : CODE_UNFIT;
}

#define code_try(c, memory, pushed) code_try_alone(c, pushed)

#endif

#define CODE_NO_TRY 0xff

/* The number of pushed words that is the best, or CODE_NO_TRY. */
static inline wire_u32 code_try_all(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 odd = c->sp >> 3 & 1, best = CODE_NO_TRY;
	int how = CODE_UNFIT;

	for (wire_u32 i = 0; i <= CODE_MAX_PUSHED / 2 && how != CODE_CERTAIN; i++) {
		int found = code_try(c, memory, 2 * i + odd);

		if (found <= how)
			continue;
		how = found;
		best = 2 * i + odd;
	}
	return best;
}

/* Does the frame begin at sp beyond doubt? Any word can be an address in the interpreter. */
static inline int code_stands(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra = 0;
	int how = code_try(c, memory, 0);

	unwind_load(c, memory, c->sp + 8ULL * c->code_seen.frame_size - 8, &ra);
	return how == CODE_CERTAIN || (how == CODE_CHECKS_OUT && !blob_is_interpreter(c, ra));
}

/* Registers may be saved below the frame, and may look like a return address. */
static inline wire_u32 code_try_body(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 saved;

	if (code_stands(c, memory))
		return 0;
	saved = code_saved_bytes(c, memory);
	return saved ? saved / 8 : code_try_all(c, memory);
}

/* add $imm,%rsp; pop %rbp at c->text + AT: bytes from sp to behind the return address, or 0. */
static inline wire_u32 code_epilogue(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;

	return leaf_u24(p) == CODE_ADD8 && p[4] == LEAF_POP_RBP ? p[3] + 16U : 0;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_epilogue_alone(struct unwind_cursor *c, wire_u32 at)
{
	UNWIND_OPAQUE(at);
	return c && at < UNWIND_TEXT_BYTES - 8 ? code_epilogue(c, at) : 0;
}

#define code_epilogue(c, at) code_epilogue_alone(c, at)

#endif

static inline wire_u32 code_find_epilogue(struct unwind_cursor *c)
{
	wire_u32 bytes = 0;

	for (wire_u32 i = 0; i < CODE_EPILOGUE_BYTES && !bytes; i++)
		bytes = code_epilogue(c, UNWIND_TEXT_BEHIND + i);
	return bytes;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_find_epilogue_alone(struct unwind_cursor *c)
{
	return c ? code_find_epilogue(c) : 0;
}

#define code_find_epilogue(c) code_find_epilogue_alone(c)

#endif

/* Of the native nmethod below: words, and bytes from its load of %rsp to its epilogue. */
#define CODE_YIELD_FRAME 2
#define CODE_YIELD_BYTES 48

/* Is mov d32(%r15),%rsp a little behind pc? */
static inline int code_has_switched(const struct unwind_cursor *c)
{
	/* Upwards: Linux 7.2 takes no offset from the cursor that becomes negative. */
	for (wire_u32 i = 0; i < CODE_YIELD_BYTES - 7; i++)
		if (leaf_u24(c->text + UNWIND_TEXT_BEHIND - CODE_YIELD_BYTES + 1 + i) == 0xa78b49)
			return 1;
	return 0;
}

/*
 * Continuation.doYield() ends in the frame of enterSpecial(), which it takes for its own out of the
 * thread and which is of another size (gen_continuation_yield() in sharedRuntime_x86_64.cpp): what
 * the epilogue ahead takes off tells.
 */
static inline int code_rule_switched(struct unwind_cursor *c, struct unwind_rule *rule)
{
	wire_u32 bytes;

	if (c->code_seen.frame_size != CODE_YIELD_FRAME || !code_has_switched(c))
		return 0;
	bytes = code_find_epilogue(c);
	rule->cfa = c->sp + bytes;
	rule->ra_at = rule->cfa - 8;
	rule->fp_at = rule->cfa - 16;
	return bytes != 0;
}

/*
 * Nothing fits: the frame is that of other code, which jumped here. Of C1's forward_exception it is
 * one by the frame pointer (generate_handle_exception() in c1_Runtime1_x86.cpp).
 */
static inline void code_rule_last(struct unwind_cursor *c, struct unwind_memory *memory,
				  struct unwind_rule *rule)
{
	struct unwind_rule other = code_fp_rule(c);

	code_rule(c, CODE_BODY, rule);
	if (c->fp - c->sp < 8ULL * c->code_seen.frame_size && code_fits(c, memory, &other))
		*rule = other;
}

/*
 * In a body, but words may be pushed in it. Frames are aligned to 16 bytes (StackAlignmentInBytes),
 * so that their number is even or odd as the stack pointer is; the best is one that leads to a call
 * of this very code.
 */
static inline int code_leave_body(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	wire_u32 pushed;

	if (code_rule_switched(c, &rule))
		return code_follow(c, memory, &rule);
	pushed = code_try_body(c, memory);
	if (pushed != CODE_NO_TRY) {
		code_rule_pushed(c, pushed, &rule);
		return code_follow(c, memory, &rule);
	}
	code_rule(c, c->sp & 8 ? CODE_ENTRY : CODE_PUSHED, &rule);
	if (!code_fits(c, memory, &rule))
		code_rule_last(c, memory, &rule);
	return code_follow(c, memory, &rule);
}

/* The return address in a register: %rdx; behind that the handler of an exception is in %r8. */
static inline int code_leave_popped(struct unwind_cursor *c)
{
	wire_u64 ra = c->leaf_regs[1];

	if (!blob_owns(c, ra))
		ra = c->leaf_regs[8];
	if (!blob_owns(c, ra))
		ra = c->leaf_regs[0];
	return code_enter(c, ra, c->sp, c->fp);
}

/* The words of a frame that has all registers: no other stub has so many. */
#define CODE_ALL_REGISTERS 32

/*
 * Code that is jumped to with the frame of another, all registers in it (C1's forward_exception,
 * generate_handle_exception() in c1_Runtime1_x86.cpp): %rbp says where it is, while sp goes up.
 */
static inline int code_takes_over(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra, bytes = 8ULL * c->code_seen.frame_size;

	if (c->code_seen.frame_size < CODE_ALL_REGISTERS || blob_frame_complete(c) >= 0 ||
	    !step_fp_is_near(c) || c->fp + 16 - c->sp > bytes ||
	    unwind_load(c, memory, c->fp + 8, &ra) || !blob_owns(c, ra))
		return 0;
	return code_checks_out(c, memory, ra, c->fp + 16);
}

static inline int code_leave(struct unwind_cursor *c, struct unwind_memory *memory,
			     enum code_state state)
{
	struct unwind_rule rule;

	if (state == CODE_BODY && (code_keeps_fp(c, memory) || code_takes_over(c, memory)))
		state = CODE_FP;
	if (state == CODE_POPPED)
		return code_leave_popped(c);
	if (state == CODE_IN_RCX)
		return code_enter(c, c->leaf_regs[2], c->sp, c->fp);
	code_rule(c, state, &rule);
	if (state != CODE_BODY && code_fits(c, memory, &rule))
		return code_follow(c, memory, &rule);
	return code_leave_body(c, memory);
}

static inline int step_compiled_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 ahead, bytes = 8 * c->code_seen.frame_size;
	enum code_state state;
	int stop;

	if (blob_read(c, memory, c->code_seen.blob) || code_read_text(c, memory))
		return UNWIND_STOP;
	stop = code_leave_poll(c, memory);
	if (stop != CODE_NO_POLL)
		return stop;
	ahead = code_ahead(c);
	state = code_decide(c, ahead, bytes);
	return code_leave(c, memory, state);
}

#ifdef __bpf__

__attribute__((noinline)) int step_compiled_leaf_alone(struct unwind_cursor *c)
{
	return c ? step_compiled_leaf(c, NULL) : UNWIND_STOP;
}

#define step_compiled_leaf(c, memory) (step_compiled_leaf_alone(c) & UNWIND_STOP)

#endif

#endif
