/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What a state of a frame in Java code means for the way to its caller, and whether that fits. */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_RULE_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_RULE_H

#include "hotspot/compiled_bytes.h"

/* Stubs that don't say where their frame is complete have it within so many bytes. */
#define COMPILED_STUB_PROLOGUE 48
/* Words that are pushed for a call and taken off behind it: so many, and the bytes of those pops. */
#define COMPILED_MAX_ARGUMENTS 3
#define COMPILED_ADD_ARGUMENTS 0x10c48348 /* add $16,%rsp */
#define COMPILED_POPS_BYTES    24

/* The bytes around pc into c->text; at the code's end there may be fewer. */
static inline enum unwind_verdict compiled_read_text(struct unwind_cursor *c,
						     struct unwind_memory *memory)
{
	wire_u64 from = c->pc - UNWIND_TEXT_BEHIND;

	if (!memory_read(memory, c->text, UNWIND_TEXT_BYTES, from))
		return UNWIND_GO_ON;
	__builtin_memset(c->text, 0, UNWIND_TEXT_BYTES);
	if (!memory_read(memory, c->text, UNWIND_TEXT_BEHIND + 16, from))
		return UNWIND_GO_ON;
	return blob_miss(c, UNWIND_PAGE);
}

static inline struct unwind_rule compiled_fp_rule(const struct unwind_cursor *c)
{
	return (struct unwind_rule){ .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };
}

/*
 * JDK 28's barriers of Shenandoah save all registers in a frame within that of their code, with no
 * return address of its own (ShenandoahBarrierSetAssembler in shenandoahBarrierSetAssembler_x86.cpp).
 * Does %rbp point to such a frame? The outer one's is saved there.
 */
static inline bool compiled_is_inner(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u64 *ret_outer)
{
	wire_u64 word;

	return !cursor_load(c, memory, c->fp + 8, &word) && !blob_owns(c, word) &&
	       !cursor_load(c, memory, c->fp, ret_outer);
}

struct compiled_push {
	const struct unwind_cursor *c;
	wire_u64 done; /* bytes of its code that have run */
	bool found;
};

/* push %rbp; mov %rsp,%rbp at its byte TURN? */
static long compiled_push_turn(wire_u32 turn, struct compiled_push *push)
{
	const wire_u8 *code = push->c->code;

	if (turn > UNWIND_CODE_BYTES - 4 || turn + 4 > push->done)
		return 1;
	push->found = code[turn] == LEAF_PUSH_RBP && leaf_u24(code + turn + 1) == LEAF_MOV_RBP_JIT;
	return push->found;
}

/*
 * Do push %rbp, mov %rsp,%rbp lie between the code's beginning and pc? Runtime stubs do, and then
 * save all registers. Uses c->code.
 */
static inline bool compiled_keeps_fp(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 begin = blob_code_begin(c);
	struct compiled_push push = { .c = c, .done = c->pc - begin };

	if (!frame_pointer_is_near(c) || memory_read(memory, c->code, UNWIND_CODE_BYTES, begin))
		return false;
	unwind_loop(UNWIND_CODE_BYTES - 3, compiled_push_turn, &push);
	return push.found;
}

#ifdef __bpf__

UNWIND_ALONE(bool, compiled_keeps_fp, (struct unwind_cursor * c), c, (c, NULL), false)

#define compiled_keeps_fp(c, memory) compiled_keeps_fp_alone(c)

#endif

/* Bytes from pc to where the frame is complete; 0: behind that. */
static inline wire_u32 compiled_ahead(const struct unwind_cursor *c)
{
	wire_s32 complete = blob_frame_complete(c);

	return blob_ahead(c, complete < 0 ? COMPILED_STUB_PROLOGUE : complete);
}

static inline void compiled_rule(const struct unwind_cursor *c, enum compiled_state state,
				 struct unwind_rule *ret_rule)
{
	wire_u64 top = c->sp + 8ULL * c->compiled_seen.frame_size;

	switch (state) {
	case COMPILED_ENTRY: *ret_rule = (struct unwind_rule){ .cfa = c->sp + 8 }; break;
	case COMPILED_PUSHED:
		*ret_rule = (struct unwind_rule){ .cfa = c->sp + 16, .fp_at = c->sp };
		break;
	case COMPILED_FP: *ret_rule = compiled_fp_rule(c); break;
	case COMPILED_SPILLED:
		*ret_rule = (struct unwind_rule){ .cfa = top + 8, .fp_at = top - 8 };
		break;
	case COMPILED_IN_RCX:
	case COMPILED_POPPED: *ret_rule = (struct unwind_rule){ .cfa = c->sp }; break;
	case COMPILED_ALLOCATED: *ret_rule = (struct unwind_rule){ .cfa = top }; break;
	case COMPILED_BODY:
	default: *ret_rule = (struct unwind_rule){ .cfa = top, .fp_at = top - 16 }; break;
	}
	ret_rule->ra_at = ret_rule->cfa - 8;
}

/* Can ADDRESS be a caller's stack pointer, less than MAX bytes above this one? */
static inline bool compiled_is_sender_sp(const struct unwind_cursor *c, wire_u64 address,
					 wire_u32 max)
{
	return (address & 7) == 0 && address > c->sp && address - c->sp < max;
}

/*
 * Bytes that the caller has pushed for a call and takes off behind it, so that its frame lies above
 * them: for d2i_fixup() and its like (convertD2I() in cpu/x86/macroAssembler_x86.cpp), for C1's
 * slow_subtype_check (emit_typecheck_helper() in c1_LIRAssembler_x86.cpp), for C1's barriers of ZGC
 * (generate_c1_load_barrier_stub() in zBarrierSetAssembler_x86.cpp). What the interpreter pops there
 * is a return address. Uses c->code.
 */
static inline wire_u32 compiled_pushed_bytes(struct unwind_cursor *c, struct unwind_memory *memory,
					     wire_u64 ra)
{
	const wire_u8 *p = c->code;
	wire_u32 at = 0, bytes = 0;

	if (!blob_owns(c, ra) || blob_is_interpreter(c, ra) ||
	    memory_read(memory, c->code, COMPILED_POPS_BYTES, ra))
		return 0;
	/* The end of a frame of two words. */
	if (p[0] == LEAF_POP_RBP && leaf_is_return(p + 1))
		return 0;
	if (leaf_u32(p) == COMPILED_ADD_ARGUMENTS && p[4] != LEAF_POP_RBP) {
		bytes = 16;
		/* mov %rax,%reg: the result. */
		at = (p[4] & 0xfb) == 0x48 && p[5] == 0x8b && (p[6] & 0xc7) == 0xc0 ? 7 : 4;
	}
	for (int i = 0; i < COMPILED_MAX_ARGUMENTS; i++) {
		at += p[at] == 0x41;
		if ((p[at] & 0xf8) != 0x58)
			break;
		bytes += 8;
		at++;
	}
	return bytes;
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_pushed_bytes, (struct unwind_cursor * c, wire_u64 ra), c, (c, NULL, ra),
	     0)

#define compiled_pushed_bytes(c, memory, ra) (compiled_pushed_bytes_alone(c, ra) & 0x38)

#endif

static inline enum unwind_verdict compiled_follow(struct unwind_cursor *c,
						  struct unwind_memory *memory,
						  const struct unwind_rule *rule)
{
	wire_u64 ra, fp = c->fp;

	if (rule->fp_at && cursor_load(c, memory, rule->fp_at, &fp))
		return UNWIND_STOP;
	if (cursor_load(c, memory, rule->ra_at, &ra))
		return UNWIND_STOP;
	return compiled_enter(c, ra, rule->cfa + compiled_pushed_bytes(c, memory, ra), fp);
}

/* Does the rule lead to where Java code was called from? */
static inline bool compiled_fits(struct unwind_cursor *c, struct unwind_memory *memory,
				 const struct unwind_rule *rule)
{
	wire_u64 ra;

	return !cursor_load(c, memory, rule->ra_at, &ra) && blob_owns(c, ra);
}

/*
 * A call may lead to a piece of code that loads a register and jumps on: an inline cache that is
 * changing (InlineCacheBuffer::assemble_ic_buffer_code() in cpu/x86/icBuffer_x86.cpp, until JDK 22),
 * or a static call to the interpreter. mov $imm64,%rax or %rbx; jmp. Uses c->code.
 */
static inline wire_u64 compiled_jump_target(struct unwind_cursor *c, struct unwind_memory *memory,
					    wire_u64 at)
{
	const wire_u8 *p = c->code;
	wire_u64 target;

	if (!blob_owns(c, at) || memory_read(memory, c->code, 16, at))
		return 0;
	if (p[0] != 0x48 || (p[1] != 0xb8 && p[1] != 0xbb) || p[10] != COMPILED_JMP32)
		return 0;
	target = leaf_relative(at + 15, p + 11);
	return blob_holds(c, target) ? target : 0;
}

/*
 * Where the call before RA leads, if that is into this blob; else 0. call rel32, or
 * mov $target,%r10; call *%r10. Uses c->code.
 */
static inline wire_u64 compiled_target(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u64 ra)
{
	const wire_u8 *p = c->code;
	wire_u64 target;

	if (!blob_owns(c, ra) || memory_read(memory, c->code, 16, ra - 13))
		return 0;
	if (p[8] == 0xe8)
		target = leaf_relative(ra, p + 9);
	else if (p[0] == 0x49 && p[1] == 0xba && leaf_u24(p + 10) == 0xd2ff41)
		target = leaf_u32(p + 2) | (wire_u64)leaf_u32(p + 6) << 32;
	else
		return 0;
	return blob_holds(c, target) ? target : compiled_jump_target(c, memory, target);
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, compiled_target, (struct unwind_cursor * c, wire_u64 ra), c, (c, NULL, ra),
	     0)

#define compiled_target(c, memory, ra) compiled_target_alone(c, ra)

#endif

#endif
