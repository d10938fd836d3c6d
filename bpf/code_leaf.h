/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf in compiled Java code: whether its frame stands, by the bytes around pc and the frame's
 * exact size, JDK 8 to 28. Prologues: verified_entry() in cpu/x86/macroAssembler_x86.cpp (C2),
 * build_frame() in c1_MacroAssembler_x86.cpp, generate_native_wrapper() in
 * sharedRuntime_x86_64.cpp. Epilogues: MachEpilogNode in x86_64.ad, remove_frame(); the return
 * polls of step_leaf.h; C2SafepointPollStub in c2_CodeStubs_x86.cpp (C1SafepointPollStub alike).
 */
#ifndef HOSTPROF_CODE_LEAF_H
#define HOSTPROF_CODE_LEAF_H

#include "step_compiled.h"
#include "step_leaf.h"

/* How far ahead of pc the instruction that builds the frame is looked for. */
#define CODE_PROLOGUE_BYTES 96

#define CODE_ADD8  0xc48348 /* 48 83 c4: add $imm8,%rsp */
#define CODE_ADD32 0xc48148 /* 48 81 c4: add $imm32,%rsp */
#define CODE_BANG  0x248489 /* 89 84 24: mov %eax,d32(%rsp) */
#define CODE_LEAVE 0xc9
#define CODE_JMP32 0xe9

/* Of the exception blob's end, from behind the pop on. */
#define CODE_EXCEPTION_BYTES 32
/* From behind it to the last jump. */
#define CODE_LEAVE_BYTES 52

/* How far ahead of pc another frame's epilogue is looked for. */
#define CODE_EPILOGUE_BYTES 64
/* All registers with AVX-512 are less. */
#define CODE_MAX_SAVED 8192

#define CODE_PUSH_RDX 0x52
#define CODE_POP_RDX  0x5a

/* Stubs that don't say where their frame is complete have it within so many bytes. */
#define CODE_STUB_PROLOGUE 48
/* String intrinsics push registers within a body (string_indexof() and others): so many words. */
#define CODE_MAX_PUSHED 6
/* Words that are pushed for a call and taken off behind it: so many, and the bytes of those pops. */
#define CODE_MAX_ARGUMENTS 3
#define CODE_POPS_BYTES	   8

enum code_state {
	CODE_BODY,	/* the frame stands */
	CODE_ENTRY,	/* no frame yet or any more: sp points to the return address */
	CODE_PUSHED,	/* sp points to the saved frame pointer, the return address is above */
	CODE_ALLOCATED, /* the frame's size is taken, %rbp not stored yet */
	CODE_FP,	/* push %rbp, mov %rsp,%rbp were done, whatever else */
	CODE_SPILLED,	/* the frame stands, one word was pushed */
	CODE_POPPED,	/* no frame; the return address is in %rdx */
};

static inline int code_is_sub(const wire_u8 *p, wire_u32 bytes)
{
	wire_u32 op = leaf_u24(p);

	return (op == LEAF_SUB8 && p[3] == bytes) || (op == LEAF_SUB32 && leaf_u32(p + 3) == bytes);
}

/* Does `add $BYTES,%rsp` end right before P? */
static inline int code_is_behind_add(const wire_u8 *p, wire_u32 bytes)
{
	return (leaf_u24(p - 4) == CODE_ADD8 && p[-1] == bytes) ||
	       (leaf_u24(p - 7) == CODE_ADD32 && leaf_u32(p - 4) == bytes);
}

/* The instruction at P is the first one of the prologue that changes %rsp; BYTES: the frame's. */
static inline int code_builds_frame(const wire_u8 *p, wire_u32 bytes)
{
	wire_u32 op = leaf_u24(p + 1);

	if (p[0] != LEAF_PUSH_RBP)
		return code_is_sub(p, bytes - 8);
	if (op == LEAF_MOV_RBP_JIT || op == LEAF_MOV_RBP || code_is_sub(p + 1, bytes - 16))
		return 1;
	return bytes == 16 && leaf_u24(p - 7) == CODE_BANG;
}

#ifdef __bpf__

/* A function of its own: Linux 6.1 refuses the loop that clang makes of all this. */
__attribute__((noinline)) int code_builds_frame_alone(struct unwind_cursor *c, wire_u32 at,
						      wire_u32 bytes)
{
	if (!c || at >= CODE_PROLOGUE_BYTES)
		return 0;
	return code_builds_frame(c->text + UNWIND_TEXT_BEHIND + at, bytes);
}

#else

static inline int code_builds_frame_alone(const struct unwind_cursor *c, wire_u32 at,
					  wire_u32 bytes)
{
	return code_builds_frame(c->text + UNWIND_TEXT_BEHIND + at, bytes);
}

#endif

/* Is the frame of BYTES still to be built, at most AHEAD bytes from pc on? */
static inline int code_is_unbuilt(struct unwind_cursor *c, wire_u32 ahead, wire_u32 bytes)
{
	for (wire_u32 i = 0; i < CODE_PROLOGUE_BYTES && i < ahead; i++)
		if (code_builds_frame_alone(c, i, bytes))
			return 1;
	return 0;
}

/* In front of the end of the prologue. */
static inline enum code_state code_prologue(struct unwind_cursor *c, wire_u32 ahead, wire_u32 bytes)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u32 op = leaf_u24(p);

	/* The exception blob, to which code jumps: OptoRuntime::generate_exception_blob(). */
	if (p[0] == CODE_PUSH_RDX && code_is_sub(p + 1, bytes - 8))
		return CODE_POPPED;
	if (code_is_sub(p, bytes - 16))
		return CODE_PUSHED;
	if (p[-1] == LEAF_PUSH_RBP && (op == LEAF_MOV_RBP_JIT || op == LEAF_MOV_RBP))
		return CODE_PUSHED;
	if (op == 0x6c8948 || op == 0xac8948 || op == 0x2c8948) /* mov %rbp,d(%rsp) */
		if (code_is_sub(p - 7, bytes - 8) || code_is_sub(p - 4, bytes - 8))
			return CODE_ALLOCATED;
	return code_is_unbuilt(c, ahead, bytes) ? CODE_ENTRY : CODE_BODY;
}

/* jmp rel32; jmp *%reg: behind a frame's end. */
static inline int code_is_jump(const wire_u8 *p)
{
	if (p[0] == CODE_JMP32)
		return 1;
	if (p[0] == 0x41)
		p++;
	return p[0] == 0xff && (p[1] & 0xf8) == 0xe0;
}

/*
 * The stub to which a return poll goes, the frame removed: lea pc(%rip),%r10; mov %r10,
 * saved_exception_pc(%r15); jmp. P may be at any of the three.
 */
static inline int code_is_poll_stub(const wire_u8 *p)
{
	if (leaf_u24(p) == 0x158d4c && leaf_u24(p + 7) == 0x97894d)
		return p[14] == CODE_JMP32;
	if (leaf_u24(p) == 0x97894d && leaf_u24(p - 7) == 0x158d4c)
		return p[7] == CODE_JMP32;
	return p[0] == CODE_JMP32 && leaf_u24(p - 7) == 0x97894d && leaf_u24(p - 14) == 0x158d4c;
}

/* JDK 8 with its polling page far away: mov $page,%r10; test %eax,(%r10); ret. */
static inline int code_is_far_poll(const wire_u8 *p)
{
	return p[0] == 0x49 && p[1] == 0xba && leaf_u24(p + 10) == 0x028541 && p[13] == LEAF_RET;
}

/*
 * A native wrapper's end begins at P: leave; then testb poll(%r15) or cmpq $0,
 * pending_exception(%r15).
 */
static inline int code_is_leave(const wire_u8 *p)
{
	wire_u32 op = leaf_u24(p + 1);

	return p[0] == CODE_LEAVE && (op == 0x7f8349 || op == 0x7f8149 || op == 0x47f641);
}

/* Is P behind such a `leave`, and not behind the last `ret; jmp`? */
static inline int code_is_behind_leave(const wire_u8 *p)
{
	for (int i = 1; i <= CODE_LEAVE_BYTES; i++) {
		if (i > 6 && p[-i] == LEAF_RET && p[-i + 1] == CODE_JMP32)
			return 0;
		if (code_is_leave(p - i))
			return 1;
	}
	return 0;
}

static inline int code_is_gone(const wire_u8 *p, wire_u32 bytes)
{
	if (leaf_is_return(p) || code_is_far_poll(p) || code_is_poll_stub(p))
		return 1;
	if (p[-1] == LEAF_POP_RBP && bytes > 16 && code_is_behind_add(p - 1, bytes - 16))
		return 1;
	if (p[-1] == LEAF_POP_RBP && code_is_jump(p))
		return 1;
	/* C1's handle_exception: leave; pop %rcx; jmp *%rcx. */
	if (p[-1] == CODE_LEAVE && (p[0] & 0xf8) == 0x58 && code_is_jump(p + 1))
		return 1;
	return code_is_behind_leave(p);
}

static inline int code_is_pop(const wire_u8 *p, wire_u32 bytes)
{
	if (p[0] != LEAF_POP_RBP)
		return 0;
	if (bytes > 16 && code_is_behind_add(p, bytes - 16))
		return 1;
	return leaf_is_return(p + 1) || code_is_far_poll(p + 1) || code_is_jump(p + 1);
}

/* C2 copies from stack to stack by push d(%rsp), pop d(%rsp): at the pop? */
static inline int code_is_spill(const wire_u8 *p)
{
	if (p[0] == 0x48)
		p++;
	return p[0] == 0x8f && (p[1] & 0x3f) == 0x04 && p[2] == 0x24;
}

/*
 * Near the end of the exception blob: mov (%rsp),%rbp; add $8,%rsp; pop %rdx; and on to the jump,
 * 30 bytes on.
 */
static inline int code_is_exception_end(const wire_u8 *p, wire_u32 bytes)
{
	if (bytes != 16)
		return 0;
	for (int i = 0; i < CODE_EXCEPTION_BYTES; i++)
		if (p[-i - 1] == CODE_POP_RDX && leaf_u32(p - i - 5) == 0x08c48348)
			return 1;
	return 0;
}

/* By the bytes around pc; AHEAD is how far the prologue reaches from there. */
static inline enum code_state code_decide(struct unwind_cursor *c, wire_u32 ahead, wire_u32 bytes)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;

	if (ahead) {
		enum code_state state = code_prologue(c, ahead, bytes);

		if (state != CODE_BODY)
			return state;
	}
	/* OptoRuntime's rethrow stub: pop %rbp; pop %rdx; jmp. */
	if (p[-2] == LEAF_POP_RBP && p[-1] == CODE_POP_RDX && code_is_jump(p))
		return CODE_POPPED;
	if (code_is_exception_end(p, bytes))
		return CODE_POPPED;
	if (p[0] == CODE_POP_RDX && bytes == 16 && leaf_u32(p - 4) == 0x08c48348)
		return CODE_ENTRY;
	if (code_is_spill(p))
		return CODE_SPILLED;
	if (code_is_gone(p, bytes))
		return CODE_ENTRY;
	return code_is_pop(p, bytes) ? CODE_PUSHED : CODE_BODY;
}

/* --- execution -------------------------------------------------------------------------------- */

/* The bytes around pc into c->text; at the code's end there may be fewer. */
static inline int code_read_text(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 from = c->pc - UNWIND_TEXT_BEHIND;

	if (!unwind_read(memory, c->text, UNWIND_TEXT_BYTES, from))
		return UNWIND_GO_ON;
	__builtin_memset(c->text, 0, UNWIND_TEXT_BYTES);
	if (!unwind_read(memory, c->text, UNWIND_TEXT_BEHIND + 16, from))
		return UNWIND_GO_ON;
	return blob_miss(c, UNWIND_PAGE);
}

static inline struct unwind_rule code_fp_rule(const struct unwind_cursor *c)
{
	return (struct unwind_rule){ .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };
}

/*
 * Do push %rbp, mov %rsp,%rbp lie between the code's beginning and pc? Runtime stubs do, and then
 * save all registers. Uses c->code.
 */
static inline int code_keeps_fp(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 begin = blob_code_begin(c), done = c->pc - begin;

	if (c->fp < c->sp || c->fp - c->sp > UNWIND_MAX_FRAME_BYTES || (c->fp & 7) ||
	    unwind_read(memory, c->code, UNWIND_CODE_BYTES, begin))
		return 0;
	for (wire_u32 i = 0; i + 4 <= UNWIND_CODE_BYTES && i + 4 <= done; i++)
		if (c->code[i] == LEAF_PUSH_RBP && leaf_u24(c->code + i + 1) == LEAF_MOV_RBP_JIT)
			return 1;
	return 0;
}

/* Bytes from pc to where the frame is complete; 0: behind that. */
static inline wire_u32 code_ahead(const struct unwind_cursor *c)
{
	wire_s32 complete = blob_frame_complete(c);
	wire_u64 done = c->pc - blob_code_begin(c);

	if (complete < 0)
		complete = CODE_STUB_PROLOGUE;
	if (complete == 0 || done >= (wire_u32)complete)
		return 0;
	return (wire_u32)complete - (wire_u32)done;
}

static inline void code_rule(const struct unwind_cursor *c, enum code_state state,
			     struct unwind_rule *ret_rule)
{
	wire_u64 top = c->sp + 8ULL * c->code_seen.frame_size;

	*ret_rule = (struct unwind_rule){ .cfa = 0 };
	switch (state) {
	case CODE_ENTRY: *ret_rule = (struct unwind_rule){ .cfa = c->sp + 8 }; break;
	case CODE_PUSHED:
		*ret_rule = (struct unwind_rule){ .cfa = c->sp + 16, .fp_at = c->sp };
		break;
	case CODE_FP: *ret_rule = code_fp_rule(c); break;
	case CODE_SPILLED:
		*ret_rule = (struct unwind_rule){ .cfa = top + 8, .fp_at = top - 8 };
		break;
	case CODE_POPPED: *ret_rule = (struct unwind_rule){ .cfa = c->sp }; break;
	case CODE_ALLOCATED: *ret_rule = (struct unwind_rule){ .cfa = top }; break;
	case CODE_BODY: *ret_rule = (struct unwind_rule){ .cfa = top, .fp_at = top - 16 }; break;
	}
	ret_rule->ra_at = ret_rule->cfa - 8;
}

/*
 * Bytes that the caller has pushed for a call and takes off behind it, so that its frame lies above
 * them: for d2i_fixup() and its like (convertD2I() in cpu/x86/macroAssembler_x86.cpp), for C1's
 * slow_subtype_check (emit_typecheck_helper() in c1_LIRAssembler_x86.cpp). Uses c->code.
 */
static inline wire_u32 code_pushed_bytes(struct unwind_cursor *c, struct unwind_memory *memory,
					 wire_u64 ra)
{
	const wire_u8 *p = c->code;
	wire_u32 at = 0, bytes = 0;

	if (!blob_owns(c, ra) || unwind_read(memory, c->code, CODE_POPS_BYTES, ra))
		return 0;
	for (int i = 0; i < CODE_MAX_ARGUMENTS; i++) {
		at += p[at] == 0x41;
		if ((p[at] & 0xf8) != 0x58 || (p[at] == LEAF_POP_RBP && (!at || p[at - 1] != 0x41)))
			break;
		bytes += 8;
		at++;
	}
	return bytes;
}

#ifdef __bpf__

__attribute__((noinline)) int code_pushed_bytes_alone(struct unwind_cursor *c, wire_u64 ra)
{
	return c ? (int)code_pushed_bytes(c, NULL, ra) : 0;
}

#define code_pushed_bytes(c, memory, ra) (code_pushed_bytes_alone(c, ra) & 0x38)

#endif

static inline int code_follow(struct unwind_cursor *c, struct unwind_memory *memory,
			      const struct unwind_rule *rule)
{
	wire_u64 ra, fp = c->fp;

	if (rule->fp_at && unwind_load(c, memory, rule->fp_at, &fp))
		return UNWIND_STOP;
	if (unwind_load(c, memory, rule->ra_at, &ra))
		return UNWIND_STOP;
	return code_enter(c, ra, rule->cfa + code_pushed_bytes(c, memory, ra), fp);
}

/* Does the rule lead to where Java code was called from? */
static inline int code_fits(struct unwind_cursor *c, struct unwind_memory *memory,
			    const struct unwind_rule *rule)
{
	wire_u64 ra;

	return !unwind_load(c, memory, rule->ra_at, &ra) && blob_owns(c, ra);
}

/*
 * Where the call before RA leads, if that is into this blob; else 0. call rel32, or
 * mov $target,%r10; call *%r10. Uses c->code.
 */
static inline wire_u64 code_target(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 ra)
{
	const wire_u8 *p = c->code;
	wire_u64 target;

	if (!blob_owns(c, ra) || unwind_read(memory, c->code, 16, ra - 13))
		return 0;
	if (p[8] == 0xe8)
		target = leaf_relative(ra, p + 9);
	else if (p[0] == 0x49 && p[1] == 0xba && leaf_u24(p + 10) == 0xd2ff41)
		target = leaf_u32(p + 2) | (wire_u64)leaf_u32(p + 6) << 32;
	else
		return 0;
	return blob_holds(c, target) ? target : 0;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u64 code_target_alone(struct unwind_cursor *c, wire_u64 ra)
{
	return c ? code_target(c, NULL, ra) : 0;
}

#define code_target(c, memory, ra) code_target_alone(c, ra)

#endif

/* The frame stands, and below it PUSHED words. */
static inline void code_rule_pushed(const struct unwind_cursor *c, wire_u32 pushed,
				    struct unwind_rule *ret_rule)
{
	code_rule(c, CODE_BODY, ret_rule);
	ret_rule->cfa += 8ULL * pushed;
	ret_rule->ra_at += 8ULL * pushed;
	ret_rule->fp_at += 8ULL * pushed;
}

enum code_try { CODE_UNFIT, CODE_FITS, CODE_CERTAIN };

/* Do PUSHED words lead to where Java code was called from, or even to a call of this very code? */
static inline int code_try(struct unwind_cursor *c, struct unwind_memory *memory, wire_u32 pushed)
{
	struct unwind_rule rule;
	wire_u64 ra;

	code_rule_pushed(c, pushed, &rule);
	if (unwind_load(c, memory, rule.ra_at, &ra) || !blob_owns(c, ra))
		return CODE_UNFIT;
	return code_target(c, memory, ra) ? CODE_CERTAIN : CODE_FITS;
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
	wire_u32 odd = c->sp >> 3 & 1, first = CODE_NO_TRY;

	for (wire_u32 i = 0; i <= CODE_MAX_PUSHED / 2; i++) {
		int found = code_try(c, memory, 2 * i + odd);

		if (found == CODE_CERTAIN)
			return 2 * i + odd;
		if (found == CODE_FITS && first == CODE_NO_TRY)
			first = 2 * i + odd;
	}
	return first;
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

/*
 * Continuation.doYield() ends in the frame of enterSpecial(), of another size (gen_continuation_yield()
 * in sharedRuntime_x86_64.cpp): what the epilogue ahead takes off tells.
 */
static inline void code_rule_ahead(struct unwind_cursor *c, struct unwind_rule *rule)
{
	for (wire_u32 i = 0; i < CODE_EPILOGUE_BYTES; i++) {
		wire_u32 bytes = code_epilogue(c, UNWIND_TEXT_BEHIND + i);

		if (!bytes)
			continue;
		rule->cfa = c->sp + bytes;
		rule->ra_at = rule->cfa - 8;
		rule->fp_at = rule->cfa - 16;
		break;
	}
}

/*
 * In a body, but words may be pushed in it. Frames are aligned to 16 bytes (StackAlignmentInBytes),
 * so that their number is even or odd as the stack pointer is; the best is one that leads to a call
 * of this very code.
 */
static inline int code_leave_body(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 pushed = code_try_all(c, memory);
	struct unwind_rule rule;

	if (pushed != CODE_NO_TRY) {
		code_rule_pushed(c, pushed, &rule);
		return code_follow(c, memory, &rule);
	}
	code_rule(c, c->sp & 8 ? CODE_ENTRY : CODE_PUSHED, &rule);
	if (!code_fits(c, memory, &rule)) {
		code_rule(c, CODE_BODY, &rule);
		code_rule_ahead(c, &rule);
	}
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

static inline int code_leave(struct unwind_cursor *c, struct unwind_memory *memory,
			     enum code_state state)
{
	struct unwind_rule rule;

	if (state == CODE_BODY && code_keeps_fp(c, memory))
		state = CODE_FP;
	if (state == CODE_BODY)
		return code_leave_body(c, memory);
	if (state == CODE_POPPED)
		return code_leave_popped(c);
	code_rule(c, state, &rule);
	if (code_fits(c, memory, &rule))
		return code_follow(c, memory, &rule);
	return code_leave_body(c, memory);
}

/* --- below native code ------------------------------------------------------------------------ */

/* add $imm,%rsp at c->text + AT, and it is no epilogue's: how much, or 0. */
static inline wire_u32 code_added(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;
	wire_u32 op = leaf_u24(p);

	if (op == CODE_ADD8 && p[4] != LEAF_POP_RBP)
		return p[3];
	if (op != CODE_ADD32 || p[7] == LEAF_POP_RBP || leaf_u32(p + 3) > CODE_MAX_SAVED)
		return 0;
	return leaf_u32(p + 3);
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_added_alone(struct unwind_cursor *c, wire_u32 at)
{
	UNWIND_OPAQUE(at);
	return c && at < UNWIND_TEXT_BYTES - 8 ? code_added(c, at) : 0;
}

#define code_added(c, at) code_added_alone(c, at)

#endif

/* The first such instruction in c->text: where << 16 | how much, or 0. */
static inline wire_u32 code_find_added(struct unwind_cursor *c)
{
	for (wire_u32 at = 0; at < UNWIND_TEXT_BYTES - 8; at++) {
		wire_u32 added = code_added(c, at);

		if (added)
			return at << 16 | (added & 0xffff);
	}
	return 0;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u32 code_find_added_alone(struct unwind_cursor *c)
{
	return c ? code_find_added(c) : 0;
}

#define code_find_added(c) code_find_added_alone(c)

#endif

/* Does the frame begin LOWERED bytes above sp? */
static inline int code_is_lowered(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u32 lowered)
{
	wire_u64 end = c->sp + lowered + 8ULL * c->code_seen.frame_size, ra;

	return !unwind_load(c, memory, end - 8, &ra) && blob_owns(c, ra);
}

/*
 * A compiled frame that native code returns to: a barrier's stub (SaveLiveRegisters of ZGC and G1)
 * or JDK 8's trigonometry has saved registers below it, and adds that up again behind the call, in
 * two steps at the most. Puts sp to where the frame begins.
 */
static inline int code_settle(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 found, lowered;

	if (code_is_lowered(c, memory, 0) || unwind_read(memory, c->text, UNWIND_TEXT_BYTES, c->pc))
		return UNWIND_GO_ON;
	found = code_find_added(c);
	lowered = found & 0xffff;
	if (found && !code_is_lowered(c, memory, lowered) &&
	    !unwind_read(memory, c->text, UNWIND_TEXT_BYTES, c->pc + (found >> 16) + 4))
		lowered += code_find_added(c) & 0xffff;
	if (lowered && code_is_lowered(c, memory, lowered))
		c->sp += lowered;
	return UNWIND_GO_ON;
}

#ifdef __bpf__

__attribute__((noinline)) int code_settle_alone(struct unwind_cursor *c)
{
	return c ? code_settle(c, NULL) : UNWIND_STOP;
}

#define code_settle(c, memory) (code_settle_alone(c) & UNWIND_STOP)

#endif

static inline int step_compiled_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 ahead, bytes = 8 * c->code_seen.frame_size;
	enum code_state state;

	if ((c->blob_at != c->code_seen.blob && blob_read(c, memory, c->code_seen.blob)) ||
	    code_read_text(c, memory))
		return UNWIND_STOP;
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
