/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Whether a leaf's frame stands in compiled Java code, by the bytes around pc and the frame's
 * exact size, JDK 8 to 28. Prologues: verified_entry() in cpu/x86/macroAssembler_x86.cpp (C2),
 * build_frame() in c1_MacroAssembler_x86.cpp, generate_native_wrapper() in
 * sharedRuntime_x86_64.cpp. Epilogues: MachEpilogNode in x86_64.ad, remove_frame(); the return
 * polls of native/leaf.h; C2SafepointPollStub in c2_CodeStubs_x86.cpp (C1SafepointPollStub alike).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_BYTES_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_BYTES_H

#include "hotspot/compiled.h"
#include "native/leaf.h"

/* How far ahead of pc the instruction that builds the frame is looked for. */
#define COMPILED_PROLOGUE_BYTES 96

#define COMPILED_ADD8  0xc48348 /* 48 83 c4: add $imm8,%rsp */
#define COMPILED_ADD32 0xc48148 /* 48 81 c4: add $imm32,%rsp */
#define COMPILED_BANG  0x248489 /* 89 84 24: mov %eax,d32(%rsp) */
#define COMPILED_LEAVE 0xc9
#define COMPILED_JMP32 0xe9

/* How long the exception blob's end is, from behind the pop on. */
#define COMPILED_EXCEPTION_BYTES 32
/* How far the last jump can be behind a `leave`. */
#define COMPILED_LEAVE_BYTES 52

#define COMPILED_PUSH_RDX 0x52
#define COMPILED_POP_RDX  0x5a
#define COMPILED_POP_RCX  0x59

enum compiled_state {
	COMPILED_BODY,	    /* the frame stands */
	COMPILED_ENTRY,	    /* no frame yet or any more: sp points to the return address */
	COMPILED_PUSHED,    /* sp points to the saved frame pointer, the return address is above */
	COMPILED_ALLOCATED, /* the frame's size is taken, %rbp not stored yet */
	COMPILED_FP,	    /* push %rbp, mov %rsp,%rbp were done, whatever else */
	COMPILED_SPILLED,   /* the frame stands, one word was pushed */
	COMPILED_POPPED,    /* no frame; the return address is in %rdx */
	COMPILED_IN_RCX,    /* the same, in %rcx */
};

static inline bool compiled_is_sub(const wire_u8 *p, wire_u32 bytes)
{
	wire_u32 op = leaf_u24(p);

	return (op == LEAF_SUB8 && p[3] == bytes) || (op == LEAF_SUB32 && leaf_u32(p + 3) == bytes);
}

/* Does `add $BYTES,%rsp` end right before P? */
static inline bool compiled_is_behind_add(const wire_u8 *p, wire_u32 bytes)
{
	return (leaf_u24(p - 4) == COMPILED_ADD8 && p[-1] == bytes) ||
	       (leaf_u24(p - 7) == COMPILED_ADD32 && leaf_u32(p - 4) == bytes);
}

/* The instruction at P is the first one of the prologue that changes %rsp; BYTES: the frame's. */
static inline bool compiled_builds_frame(const wire_u8 *p, wire_u32 bytes)
{
	wire_u32 op = leaf_u24(p + 1);

	if (p[0] != LEAF_PUSH_RBP)
		return compiled_is_sub(p, bytes - 8);
	if (op == LEAF_MOV_RBP_JIT || op == LEAF_MOV_RBP || compiled_is_sub(p + 1, bytes - 16))
		return true;
	return bytes == 16 && leaf_u24(p - 7) == COMPILED_BANG;
}

#ifdef __bpf__

/* A function of its own: Linux 6.1 refuses the loop that clang makes of all this. */
__attribute__((noinline)) int compiled_builds_frame_alone(struct unwind_cursor *c, wire_u32 at,
							  wire_u32 bytes)
{
	if (!c || at >= COMPILED_PROLOGUE_BYTES)
		return 0;
	return compiled_builds_frame(c->text + UNWIND_TEXT_BEHIND + at, bytes);
}

#else

static inline int compiled_builds_frame_alone(const struct unwind_cursor *c, wire_u32 at,
					      wire_u32 bytes)
{
	return compiled_builds_frame(c->text + UNWIND_TEXT_BEHIND + at, bytes);
}

#endif

/* Is the frame of BYTES still to be built, at most AHEAD bytes from pc on? */
static inline bool compiled_is_unbuilt(struct unwind_cursor *c, wire_u32 ahead, wire_u32 bytes)
{
	for (wire_u32 i = 0; i < COMPILED_PROLOGUE_BYTES && i < ahead; i++)
		if (compiled_builds_frame_alone(c, i, bytes))
			return true;
	return false;
}

/* What stands of the frame when pc is in front of the prologue's end. */
static inline enum compiled_state compiled_prologue(struct unwind_cursor *c, wire_u32 ahead,
						    wire_u32 bytes)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u32 op = leaf_u24(p);

	/* The exception blob, to which code jumps: OptoRuntime::generate_exception_blob(). */
	if (p[0] == COMPILED_PUSH_RDX && compiled_is_sub(p + 1, bytes - 8))
		return COMPILED_POPPED;
	if (compiled_is_sub(p, bytes - 16))
		return COMPILED_PUSHED;
	if (p[-1] == LEAF_PUSH_RBP && (op == LEAF_MOV_RBP_JIT || op == LEAF_MOV_RBP))
		return COMPILED_PUSHED;
	if (op == 0x6c8948 || op == 0xac8948 || op == 0x2c8948) /* mov %rbp,d(%rsp) */
		if (compiled_is_sub(p - 7, bytes - 8) || compiled_is_sub(p - 4, bytes - 8))
			return COMPILED_ALLOCATED;
	return compiled_is_unbuilt(c, ahead, bytes) ? COMPILED_ENTRY : COMPILED_BODY;
}

/* jmp rel32; jmp *%reg: behind a frame's end. */
static inline bool compiled_is_jump(const wire_u8 *p)
{
	if (p[0] == COMPILED_JMP32)
		return true;
	if (p[0] == 0x41)
		p++;
	return p[0] == 0xff && (p[1] & 0xf8) == 0xe0;
}

/* lea pc(%rip),%r10, or mov $pc,%r10, ends right before P: its length, or 0. */
static inline wire_u32 compiled_poll_load(const wire_u8 *p)
{
	if (leaf_u24(p - 7) == 0x158d4c)
		return 7;
	return p[-10] == 0x49 && p[-9] == 0xba ? 10 : 0;
}

/*
 * The stub to which a return poll goes, the frame removed: that; mov %r10,saved_exception_pc(%r15); jmp.
 * P may be at any of the three.
 */
static inline bool compiled_is_poll_stub(const wire_u8 *p)
{
	if (p[0] == COMPILED_JMP32)
		return leaf_u24(p - 7) == 0x97894d && compiled_poll_load(p - 7);
	if (leaf_u24(p) != 0x97894d)
		p += leaf_u24(p) == 0x158d4c ? 7 : 10;
	return leaf_u24(p) == 0x97894d && p[7] == COMPILED_JMP32 && compiled_poll_load(p);
}

/* JDK 8 with its polling page far away: mov $page,%r10; test %eax,(%r10); ret. */
static inline bool compiled_is_far_poll(const wire_u8 *p)
{
	return p[0] == 0x49 && p[1] == 0xba && leaf_u24(p + 10) == 0x028541 && p[13] == LEAF_RET;
}

/*
 * A native wrapper's end begins at P: leave; then testb poll(%r15) or cmpq $0,
 * pending_exception(%r15).
 */
static inline bool compiled_is_leave(const wire_u8 *p)
{
	wire_u32 op = leaf_u24(p + 1);

	return p[0] == COMPILED_LEAVE && (op == 0x7f8349 || op == 0x7f8149 || op == 0x47f641);
}

enum compiled_leave_mark { COMPILED_NO_LEAVE, COMPILED_LEAVE_BEGINS, COMPILED_LEAVE_ENDED };

/* Is at c->text + AT such a `leave`, or the last `ret; jmp`? */
static inline enum compiled_leave_mark compiled_leave_mark(const struct unwind_cursor *c,
							   wire_u32 at)
{
	const wire_u8 *p = c->text + at;

	if (at < UNWIND_TEXT_BEHIND - 5 && p[0] == LEAF_RET && p[1] == COMPILED_JMP32)
		return COMPILED_LEAVE_ENDED;
	return compiled_is_leave(p) ? COMPILED_LEAVE_BEGINS : COMPILED_NO_LEAVE;
}

#ifdef __bpf__

UNWIND_ALONE_AT(int, compiled_leave_mark, 0, UNWIND_TEXT_BEHIND, COMPILED_NO_LEAVE)

#define compiled_leave_mark(c, at) compiled_leave_mark_alone(c, at)

#endif

/* Is pc behind such a `leave`, and not behind the last `ret; jmp`? */
static inline bool compiled_is_behind_leave(struct unwind_cursor *c)
{
	for (wire_u32 i = 1; i <= COMPILED_LEAVE_BYTES; i++) {
		int mark = compiled_leave_mark(c, UNWIND_TEXT_BEHIND - i);

		if (mark != COMPILED_NO_LEAVE)
			return mark == COMPILED_LEAVE_BEGINS;
	}
	return false;
}

/*
 * Is P at the comparison or the branch around the call that protects the reserved zone of the stack again? Methods
 * that may use the zone have it behind their frame's end: cmp d32(%r15),%rsp; jb
 * (reserved_stack_check() in cpu/x86/macroAssembler_x86.cpp; Graal has the same, and branches over a short way).
 */
static inline bool compiled_is_reserved_check(const wire_u8 *p)
{
	const wire_u8 *branch = leaf_u24(p) == 0xa73b49 ? p + 7 : p;

	return leaf_u24(branch - 7) == 0xa73b49 &&
	       (branch[0] == 0x72 || (branch[0] == 0x0f && branch[1] == 0x82));
}

static inline bool compiled_is_gone(struct unwind_cursor *c, wire_u32 bytes)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;

	if (leaf_is_return(p) || compiled_is_far_poll(p) || compiled_is_poll_stub(p) ||
	    compiled_is_reserved_check(p))
		return true;
	if (p[-1] == LEAF_POP_RBP && bytes > 16 && compiled_is_behind_add(p - 1, bytes - 16))
		return true;
	if (p[-1] == LEAF_POP_RBP && compiled_is_jump(p))
		return true;
	/* C1's handle_exception: leave; pop %rcx; jmp *%rcx. */
	if (p[-1] == COMPILED_LEAVE && (p[0] & 0xf8) == 0x58 && compiled_is_jump(p + 1))
		return true;
	return compiled_is_behind_leave(c);
}

static inline bool compiled_is_pop(const wire_u8 *p, wire_u32 bytes)
{
	if (p[0] != LEAF_POP_RBP)
		return false;
	if (bytes > 16 && compiled_is_behind_add(p, bytes - 16))
		return true;
	return leaf_is_return(p + 1) || compiled_is_far_poll(p + 1) || compiled_is_jump(p + 1);
}

/* C2 copies from stack to stack by push d(%rsp), pop d(%rsp): at the pop? */
static inline bool compiled_is_spill(const wire_u8 *p)
{
	if (p[0] == 0x48)
		p++;
	return p[0] == 0x8f && (p[1] & 0x3f) == 0x04 && p[2] == 0x24;
}

/* add $8,%rsp; pop %rdx: the pop is at c->text + AT. */
static inline bool compiled_pops_exception(const struct unwind_cursor *c, wire_u32 at)
{
	return c->text[at] == COMPILED_POP_RDX && leaf_u32(c->text + at - 4) == 0x08c48348;
}

#ifdef __bpf__

UNWIND_ALONE_AT(bool, compiled_pops_exception, 4, UNWIND_TEXT_BEHIND, false)

#define compiled_pops_exception(c, at) compiled_pops_exception_alone(c, at)

#endif

/*
 * Near the end of the exception blob: mov (%rsp),%rbp; add $8,%rsp; pop %rdx; and on to the jump,
 * 30 bytes on.
 */
static inline bool compiled_is_exception_end(struct unwind_cursor *c, wire_u32 bytes)
{
	if (bytes != 16)
		return false;
	for (wire_u32 i = 1; i <= COMPILED_EXCEPTION_BYTES; i++)
		if (compiled_pops_exception(c, UNWIND_TEXT_BEHIND - i))
			return true;
	return false;
}

/* What the bytes around pc say; AHEAD is how far the prologue reaches from there. */
static inline enum compiled_state compiled_decide(struct unwind_cursor *c, wire_u32 ahead,
						  wire_u32 bytes)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;

	if (ahead) {
		enum compiled_state state = compiled_prologue(c, ahead, bytes);

		if (state != COMPILED_BODY)
			return state;
	}
	/* OptoRuntime's rethrow stub: pop %rbp; pop %rdx; jmp. */
	if (p[-2] == LEAF_POP_RBP && p[-1] == COMPILED_POP_RDX && compiled_is_jump(p))
		return COMPILED_POPPED;
	if (compiled_is_exception_end(c, bytes))
		return COMPILED_POPPED;
	/* The end of C1's handle_exception_from_callee: generate_handle_exception(). */
	if (p[-2] == COMPILED_LEAVE && p[-1] == COMPILED_POP_RCX && compiled_is_jump(p))
		return COMPILED_IN_RCX;
	if (bytes == 16 && compiled_pops_exception(c, UNWIND_TEXT_BEHIND))
		return COMPILED_ENTRY;
	if (compiled_is_spill(p))
		return COMPILED_SPILLED;
	if (compiled_is_gone(c, bytes))
		return COMPILED_ENTRY;
	return compiled_is_pop(p, bytes) ? COMPILED_PUSHED : COMPILED_BODY;
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_decide, (struct unwind_cursor * c, wire_u32 ahead, wire_u32 bytes), c,
	     (c, ahead, bytes), COMPILED_BODY)

#define compiled_decide(c, ahead, bytes) \
	((enum compiled_state)compiled_decide_alone(c, ahead, bytes))

#endif

#endif
