/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The steps of a JVM's code that has no frame size: StubRoutines, the call stub, adapters, vtable
 * and itable stubs, method handle intrinsics (cpu/x86/stubGenerator_x86_64*.cpp,
 * sharedRuntime_x86_64.cpp, vtableStubs_x86_64.cpp). What they call from has a frame pointer's
 * frame; as a leaf they have none, or one word, or that.
 */
#ifndef HOSTPROF_STEP_STUB_H
#define HOSTPROF_STEP_STUB_H

#include "code_leaf.h"

/* Words of the stack in which a return address is looked for. */
#define STUB_SCAN_WORDS 16
/* Adapters move sp by the arguments, 255 words at most, and leave the caller's in %r13. */
#define STUB_MAX_ARGUMENTS 4096

/* --- a caller --------------------------------------------------------------------------------- */

static inline int stub_slot(struct unwind_cursor *c, struct unwind_memory *memory, int slot,
			    wire_u64 *ret_word)
{
	return unwind_load(c, memory, c->fp + (wire_u64)((wire_s64)slot * 8), ret_word);
}

/* The C++ code that called Java gets its registers back; the anchor of older Java frames is known. */
static inline int stub_leave_java(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 *ret_rbx, wire_u64 *ret_r13)
{
	wire_u64 wrapper;

	if (stub_slot(c, memory, WIRE_ENTRY_WRAPPER, &wrapper) ||
	    stub_slot(c, memory, WIRE_ENTRY_RBX, ret_rbx) ||
	    stub_slot(c, memory, WIRE_ENTRY_R13, ret_r13) ||
	    stub_slot(c, memory, WIRE_ENTRY_R15, &c->r15))
		return UNWIND_STOP;
	c->anchor_at = 0;
	c->anchor_own = 0;
	if (c->jvm.wrapper_anchor != WIRE_JVM_ABSENT && unwind_is_user(wrapper))
		c->anchor_at = wrapper + c->jvm.wrapper_anchor;
	return UNWIND_GO_ON;
}

/* A frame by the frame pointer. */
static inline int step_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule = { .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };
	wire_u64 rbx = 0, r13 = 0;

	if (c->fp < c->sp || c->fp - c->sp > UNWIND_MAX_FRAME_BYTES)
		return unwind_stop(c, UNWIND_JAVA_FRAME);
	if (c->pc == c->jvm.call_stub_return && stub_leave_java(c, memory, &rbx, &r13))
		return UNWIND_STOP;
	if (code_follow(c, memory, &rule))
		return UNWIND_STOP;
	c->rbx = rbx;
	c->r13 = r13;
	return UNWIND_GO_ON;
}

/* --- the leaf --------------------------------------------------------------------------------- */

/*
 * Is RA behind a call that leads into this blob? call rel32, or mov $target,%r10; call *%r10.
 * Uses c->code.
 */
static inline int stub_was_called(struct unwind_cursor *c, struct unwind_memory *memory,
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
	return blob_holds(c, target);
}

#ifdef __bpf__

__attribute__((noinline)) int stub_was_called_alone(struct unwind_cursor *c, wire_u64 ra)
{
	return c ? stub_was_called(c, NULL, ra) : 0;
}

#define stub_was_called(c, memory, ra) stub_was_called_alone(c, ra)

#endif

/* Behind the return address, or what an adapter has noted. */
static inline wire_u64 stub_sender_sp(const struct unwind_cursor *c, wire_u64 sp)
{
	wire_u64 r13 = c->leaf_regs[13];

	if ((r13 & 7) == 0 && r13 > c->sp && r13 - c->sp < STUB_MAX_ARGUMENTS)
		return r13;
	return sp;
}

/* What the bytes at pc say: 1 when it is sure that the return address is at [sp] or above. */
static inline int stub_decide(const wire_u8 *p, wire_u64 sp, struct unwind_rule *ret_rule)
{
	struct leaf_frame leaf;

	leaf_decide(p, &leaf);
	if (leaf.state == LEAF_ENTRY)
		*ret_rule = (struct unwind_rule){ .cfa = sp + 8, .ra_at = sp };
	else if (leaf.state == LEAF_PUSHED)
		*ret_rule = (struct unwind_rule){ .cfa = sp + 16, .ra_at = sp + 8, .fp_at = sp };
	else
		return 0;
	return 1;
}

/* The word of the stack's top that is a return address into a caller of this blob: its index. */
static inline int stub_scan(struct unwind_cursor *c, struct unwind_memory *memory)
{
	for (int i = 0; i < STUB_SCAN_WORDS; i++) {
		wire_u64 word;

		if (unwind_load(c, memory, c->sp + 8ULL * i, &word))
			return -1;
		if (stub_was_called(c, memory, word))
			return i;
	}
	return -1;
}

static inline int stub_fp_frame(const struct unwind_cursor *c)
{
	return (c->fp & 7) == 0 && c->fp >= c->sp && c->fp - c->sp <= UNWIND_MAX_FRAME_BYTES;
}

/* The first place that holds an address of Java code, of those where stubs have it. */
static inline int stub_guess(struct unwind_cursor *c, struct unwind_memory *memory,
			     struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (code_fits(c, memory, rule))
		return 1;
	*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8, .fp_at = c->sp };
	if (code_fits(c, memory, rule))
		return 1;
	*rule = (struct unwind_rule){ .cfa = c->fp + 16, .ra_at = c->fp + 8, .fp_at = c->fp };
	return stub_fp_frame(c) && code_fits(c, memory, rule);
}

static inline int stub_leave(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	int at;

	if (stub_decide(c->text + UNWIND_TEXT_BEHIND, c->sp, &rule))
		return code_follow(c, memory, &rule);
	at = stub_scan(c, memory);
	if (at >= 0) {
		rule = (struct unwind_rule){ .ra_at = c->sp + 8ULL * at };
		rule.cfa = stub_sender_sp(c, rule.ra_at + 8);
		/* Behind a frame pointer that was pushed, or a whole frame. */
		if (at > 0 && c->fp + 8 == rule.ra_at)
			rule.fp_at = c->fp;
		else if (at == 1)
			rule.fp_at = c->sp;
		return code_follow(c, memory, &rule);
	}
	if (stub_guess(c, memory, &rule)) {
		if (rule.ra_at == c->sp)
			rule.cfa = stub_sender_sp(c, rule.cfa);
		return code_follow(c, memory, &rule);
	}
	/* An adapter has taken it off the stack. */
	if (blob_owns(c, c->leaf_regs[0]))
		return code_enter(c, c->leaf_regs[0], stub_sender_sp(c, c->sp), c->fp);
	return stub_fp_frame(c) ? code_follow(c, memory, &rule) : unwind_stop(c, UNWIND_JAVA_FRAME);
}

static inline int step_stub_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if ((c->blob_at != c->code_seen.blob && blob_read(c, memory, c->code_seen.blob)) ||
	    code_read_text(c, memory))
		return UNWIND_STOP;
	return stub_leave(c, memory);
}

/* --- virtual threads -------------------------------------------------------------------------- */

/*
 * The oldest frame of a virtual thread that is on the stack returns to this barrier; older ones
 * lie in the heap. The carrier's go on at Continuation.enterSpecial(), whose frame holds the
 * thread's ContinuationEntry (share/runtime/continuationEntry.hpp).
 */
static inline int step_barrier(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 thread = tables_thread(memory, c), entry;

	if (!thread || c->jvm.thread_cont_entry == WIRE_JVM_ABSENT || !c->jvm.enter_return)
		return unwind_stop(c, UNWIND_NO_THREAD);
	if (unwind_read(memory, &entry, 8, thread + c->jvm.thread_cont_entry))
		return unwind_stop(c, UNWIND_NO_THREAD);
	c->frozen++;
	return code_enter(c, c->jvm.enter_return, entry, c->fp);
}

#ifdef __bpf__

__attribute__((noinline)) int step_stub_alone(struct unwind_cursor *c)
{
	return c ? step_stub(c, NULL) : UNWIND_STOP;
}

__attribute__((noinline)) int step_stub_leaf_alone(struct unwind_cursor *c)
{
	return c ? step_stub_leaf(c, NULL) : UNWIND_STOP;
}

__attribute__((noinline)) int step_barrier_alone(struct unwind_cursor *c)
{
	return c ? step_barrier(c, NULL) : UNWIND_STOP;
}

#define step_stub(c, memory)	  (step_stub_alone(c) & UNWIND_STOP)
#define step_stub_leaf(c, memory) (step_stub_leaf_alone(c) & UNWIND_STOP)
#define step_barrier(c, memory)	  (step_barrier_alone(c) & UNWIND_STOP)

#endif
#endif
