/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf in the blobs that put interpreted frames in the place of a compiled one: generate_deopt_blob(),
 * generate_uncommon_trap_blob() in cpu/x86/sharedRuntime_x86_64.cpp (opto/runtime_x86_64.cpp from JDK 24 on), JDK 8 to 28.
 *
 * Where an exception was thrown, the deoptimisation blob is jumped to without a return address: that is in JavaThread::_exception_pc, and 0 is pushed
 * in its place until all registers are saved. And both blobs take the frame that goes off the stack before they push the new ones. Then %r8 is
 * the stack pointer of who is youngest there, and %rcx points to where it goes on (UnrollBlock::_frame_pcs), until that is pushed, too.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_DEOPT_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_DEOPT_H

#include "hotspot/compiled_rule.h"
#include "hotspot/unpacking.h"

/* Instead of a verdict: it is not that. */
#define COMPILED_NO_DEOPT 2

/* The words of a frame that has all registers: no other stub has so many. */
#define COMPILED_ALL_REGISTERS 32
/* push $0 is so long; push %rbp, mov %rsp,%rbp follow. */
#define COMPILED_PUSH0_BYTES 5

static inline bool compiled_is_push0(const wire_u8 *p)
{
	return p[0] == 0x68 && !leaf_u32(p + 1) && p[COMPILED_PUSH0_BYTES] == LEAF_PUSH_RBP;
}

/* mov %rdx or %rax,d32(%r15): its length, 0 when it is something else. */
static inline wire_u32 compiled_notes_exception(const wire_u8 *p, wire_u8 reg)
{
	return leaf_u24(p) == (0x878949U | (wire_u32)reg << 19) ? 7 : 0;
}

#define COMPILED_RDX 2

/* The exception's pc is in %rdx yet: mov %rdx,exception_pc(%r15); mov %rax,exception_oop(%r15); push $0. */
static inline bool compiled_has_exception(const wire_u8 *p)
{
	return compiled_notes_exception(p, COMPILED_RDX) && compiled_notes_exception(p + 7, 0) &&
	       compiled_is_push0(p + 14);
}

/* At and behind those, where the frame is; false: pc is elsewhere. */
static inline bool compiled_exception_entry(const struct unwind_cursor *c,
					    struct unwind_rule *ret_rule)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;

	*ret_rule = (struct unwind_rule){ .cfa = c->sp };
	if (compiled_has_exception(p) || compiled_is_push0(p) ||
	    (compiled_notes_exception(p, 0) && compiled_is_push0(p + 7)))
		return true;
	*ret_rule = (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (compiled_is_push0(p - COMPILED_PUSH0_BYTES))
		return true;
	*ret_rule = (struct unwind_rule){ c->sp + 16, c->sp + 8, c->sp };
	return compiled_is_push0(p - COMPILED_PUSH0_BYTES - 1);
}

/* Behind them the word of the return address is 0. */
static inline bool compiled_lacks_exception(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 word;

	return c->compiled_seen.frame_size >= COMPILED_ALL_REGISTERS && frame_pointer_is_near(c) &&
	       !cursor_load(c, memory, c->fp + 8, &word) && !word;
}

/* A verdict, or COMPILED_NO_DEOPT. */
static inline int compiled_leave_exception(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 pc = c->leaf_regs[DWARF_RDX], fp = c->fp;
	struct unwind_rule rule;

	if (c->jvm.thread_exception_pc == WIRE_JVM_ABSENT)
		return COMPILED_NO_DEOPT;
	if (!compiled_exception_entry(c, &rule)) {
		if (!compiled_lacks_exception(c, memory))
			return COMPILED_NO_DEOPT;
		rule = compiled_fp_rule(c);
	}
	if (!compiled_has_exception(c->text + UNWIND_TEXT_BEHIND) &&
	    memory_read(memory, &pc, 8, c->r15 + c->jvm.thread_exception_pc))
		return COMPILED_NO_DEOPT;
	if (!blob_owns(c, pc) || (rule.fp_at && cursor_load(c, memory, rule.fp_at, &fp)))
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	return compiled_enter(c, pc, rule.cfa, fp);
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_leave_exception, (struct unwind_cursor * c), c, (c, NULL),
	     COMPILED_NO_DEOPT)

#define compiled_leave_exception(c, memory) compiled_leave_exception_alone(c)

#endif

/* --- frames in place of others ---------------------------------------------------------------- */

/* How far from pc the loop that pushes frames is looked for, and what lies before and behind it. */
#define COMPILED_SWAP_BYTES 60

/* sub $16,%rbx; push (%rcx); push %rbp: a frame is pushed. */
static inline bool compiled_pushes_frame(const struct unwind_cursor *c, wire_u32 at)
{
	return leaf_u32(c->text + at) == 0x10eb8348 && leaf_u32(c->text + at + 4) == 0x5531ff48;
}

#ifdef __bpf__

UNWIND_ALONE_AT(bool, compiled_pushes_frame, 0, UNWIND_TEXT_BYTES - 8, false)

#define compiled_pushes_frame(c, at) (compiled_pushes_frame_alone(c, at) & 1)

#endif

/* Where in c->text; 0: nowhere near. */
static inline wire_u32 compiled_find_push(struct unwind_cursor *c)
{
	wire_u32 found = 0;

	for (wire_u32 i = 0; i < 2 * COMPILED_SWAP_BYTES && !found; i++)
		if (compiled_pushes_frame(c, UNWIND_TEXT_BEHIND - COMPILED_SWAP_BYTES + i))
			found = UNWIND_TEXT_BEHIND - COMPILED_SWAP_BYTES + i;
	return found;
}

enum compiled_swap {
	COMPILED_SWAP_NONE,
	COMPILED_SWAP_TAKES,  /* mov [d8](%rdi),%ecx; add %rcx,%rsp: the frame goes */
	COMPILED_SWAP_FP,     /* mov d8(%rdi),%rbp: that of the caller */
	COMPILED_SWAP_DROPS,  /* add $8,%rsp: the return address */
	COMPILED_SWAP_GROWS,  /* sub %rbx,%rsp; mov (%rsi),%rbx: room for locals */
	COMPILED_SWAP_PUSHED, /* jne; push (%rcx): all are there */
};

/* What begins at c->text + AT. */
static inline enum compiled_swap compiled_swap_mark(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;

	if (p[0] == 0x8b && ((p[1] == 0x0f && leaf_u24(p + 2) == 0xe10348) ||
			     (p[1] == 0x4f && leaf_u24(p + 3) == 0xe10348)))
		return COMPILED_SWAP_TAKES;
	if (leaf_u24(p) == 0x6f8b48)
		return COMPILED_SWAP_FP;
	if (leaf_u32(p) == 0x08c48348)
		return COMPILED_SWAP_DROPS;
	if (leaf_u24(p) == 0xe32b48 && leaf_u24(p + 3) == 0x1e8b48)
		return COMPILED_SWAP_GROWS;
	if (p[0] == 0x75 && leaf_u24(p + 2) == 0x31ff48)
		return COMPILED_SWAP_PUSHED;
	return COMPILED_SWAP_NONE;
}

#ifdef __bpf__

UNWIND_ALONE_AT(int, compiled_swap_mark, 0, UNWIND_TEXT_BYTES - 8, COMPILED_SWAP_NONE)

#define compiled_swap_mark(c, at) compiled_swap_mark_alone(c, at)

#endif

struct compiled_swap_search {
	struct unwind_cursor *c;
	int done;
};

static long compiled_swap_turn(wire_u32 turn, struct compiled_swap_search *swap)
{
	swap->done = compiled_swap_mark(swap->c, UNWIND_TEXT_BEHIND - 1 - turn);
	return swap->done != COMPILED_SWAP_NONE;
}

/* The last of them that is in front of pc, near the loop. */
static inline int compiled_swap_done(struct unwind_cursor *c)
{
	struct compiled_swap_search swap = { .c = c, .done = COMPILED_SWAP_NONE };

	unwind_loop(COMPILED_SWAP_BYTES - 1, compiled_swap_turn, &swap);
	return swap.done;
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_swap_done, (struct unwind_cursor * c), c, (c), COMPILED_SWAP_NONE)

#define compiled_swap_done(c) compiled_swap_done_alone(c)

#endif

/* Behind push (%rcx), the first instruction of a frame; push %rbp; mov %rsp,%rbp. */
#define COMPILED_PUSHED_PC    3
#define COMPILED_PUSHED_FP    (COMPILED_PUSHED_PC + 1)
#define COMPILED_PUSHED_FRAME (COMPILED_PUSHED_FP + 3)

/*
 * A frame is being made, DONE bytes behind its first instruction or in front of that. The rule for it, from when on its return address is on the
 * stack; else it is called from where %rcx says, and the rule has no place for that: ra_at is 0.
 */
static inline int compiled_push_rule(struct unwind_cursor *c, struct unwind_memory *memory,
				     int done, struct unwind_rule *rule)
{
	wire_u64 sender = c->leaf_regs[DWARF_R8];

	/* When there is a slot for it, %r8 is for the next frame. */
	if (done >= COMPILED_PUSHED_FRAME && sender <= c->fp &&
	    cursor_load(c, memory, c->fp - 8, &sender))
		sender = 0;
	*rule = (struct unwind_rule){ .cfa = sender };
	if (done >= COMPILED_PUSHED_FRAME)
		*rule = (struct unwind_rule){ sender, c->fp + 8, c->fp };
	else if (done >= COMPILED_PUSHED_FP)
		*rule = (struct unwind_rule){ sender, c->sp + 8, c->sp };
	else if (done >= COMPILED_PUSHED_PC)
		*rule = (struct unwind_rule){ sender, c->sp, 0 };
	return 0;
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_push_rule,
	     (struct unwind_cursor * c, int done, struct unwind_rule *rule), c &&rule,
	     (c, NULL, done, rule), 0)

#define compiled_push_rule(c, memory, done, rule) compiled_push_rule_alone(c, done, rule)

#endif

/*
 * Where the return address of what comes behind the frame that goes is; false: no such code, or it is for the frame pointer to say.
 * *RET_GONE: the frame is not there any more.
 */
static inline bool compiled_swap_rule(struct unwind_cursor *c, struct unwind_memory *memory,
				      struct unwind_rule *ret_rule, bool *ret_gone)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u32 push = compiled_find_push(c);
	wire_u64 sp = c->sp;

	if (!push)
		return false;
	*ret_gone = false;
	*ret_rule = (struct unwind_rule){ sp + 8, sp, sp - 8 };
	if (compiled_swap_mark(c, UNWIND_TEXT_BEHIND) == COMPILED_SWAP_TAKES)
		return true;
	switch (compiled_swap_done(c)) {
	/* add %rcx,%rsp */
	case COMPILED_SWAP_TAKES: *ret_gone = leaf_u24(p - 3) == 0xe10348; return true;
	case COMPILED_SWAP_FP: *ret_rule = (struct unwind_rule){ sp + 8, sp, 0 }; break;
	case COMPILED_SWAP_DROPS: *ret_rule = (struct unwind_rule){ sp, sp - 8, 0 }; break;
	/* sub $16,%rbx is in front of it. */
	case COMPILED_SWAP_GROWS:
		compiled_push_rule(c, memory, UNWIND_TEXT_BEHIND - (int)push - 4, ret_rule);
		break;
	case COMPILED_SWAP_PUSHED:
		/* The last one, behind jne: the blob's own. */
		if (p[-2] != 0x75 && p[-5] != 0x75 && p[-6] != 0x75)
			return false;
		compiled_push_rule(c, memory,
				   p[-2] == 0x75   ? 0
				   : p[-5] == 0x75 ? COMPILED_PUSHED_PC
						   : COMPILED_PUSHED_FP,
				   ret_rule);
		break;
	default: return false;
	}
	*ret_gone = true;
	return true;
}

/* By the rule, or by %rcx. */
static inline enum unwind_verdict compiled_follow_swap(struct unwind_cursor *c,
						       struct unwind_memory *memory,
						       const struct unwind_rule *rule)
{
	wire_u64 pc;

	if (rule->ra_at)
		return compiled_follow(c, memory, rule);
	if (memory_read(memory, &pc, 8, c->leaf_regs[DWARF_RCX]) || !blob_owns(c, pc))
		return cursor_stop(c, UNWIND_JAVA_FRAME);
	return compiled_enter(c, pc, rule->cfa, c->fp);
}

/* Instead of UNWIND_GO_ON: and the frame that goes is not there any more. */
#define COMPILED_SWAPPED 3

/* A verdict, or one of the above. */
static inline int compiled_leave_swap(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	bool gone;

	if (!compiled_swap_rule(c, memory, &rule, &gone))
		return COMPILED_NO_DEOPT;
	if (compiled_follow_swap(c, memory, &rule))
		return UNWIND_STOP;
	return gone ? COMPILED_SWAPPED : UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(int, compiled_leave_swap, (struct unwind_cursor * c), c, (c, NULL), COMPILED_NO_DEOPT)

#define compiled_leave_swap(c, memory) compiled_leave_swap_alone(c)

#endif

/* A verdict, or COMPILED_NO_DEOPT. */
static inline int compiled_leave_deopt(struct unwind_cursor *c, struct unwind_memory *memory)
{
	int stop;

	if (blob_frame_complete(c) >= 0)
		return COMPILED_NO_DEOPT;
	stop = compiled_leave_exception(c, memory);
	if (stop == COMPILED_NO_DEOPT)
		stop = compiled_leave_swap(c, memory);
	if (stop != COMPILED_SWAPPED)
		return stop;
	(void)unpacking_begin(c, memory);
	return UNWIND_GO_ON;
}

#endif
