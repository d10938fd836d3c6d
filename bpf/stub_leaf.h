/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf's step in a JVM's code that has no frame size. The bytes at pc tell, else a return
 * address whose call leads here, else where stubs mostly have theirs.
 */
#ifndef HOSTPROF_STUB_LEAF_H
#define HOSTPROF_STUB_LEAF_H

#include "step_stub.h"

/* Words of the stack in which a return address is looked for. */
#define STUB_SCAN_WORDS 16
/* The call stub's code lies around the address that Java returns to: the parameters' loop before. */
#define STUB_CALL_BEFORE 320
#define STUB_CALL_BEHIND 160

/*
 * Of the caller at RA: behind the return address, or what an adapter has noted. What the caller takes
 * off behind the call is code_follow()'s to add.
 */
static inline wire_u64 stub_sender_sp(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 ra, wire_u64 sp)
{
	wire_u64 r13 = c->leaf_regs[13];

	if (r13 == sp || !code_is_sender_sp(c, r13, STUB_MAX_ARGUMENTS))
		return sp;
	if (stub_is_to_interpreter(c))
		return r13;
	if (code_checks_out(c, memory, ra, sp + code_pushed_bytes(c, memory, ra)))
		return sp;
	return code_checks_out(c, memory, ra, r13) ? r13 : sp;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u64 stub_sender_sp_alone(struct unwind_cursor *c, wire_u64 ra,
							wire_u64 sp)
{
	return c ? stub_sender_sp(c, NULL, ra, sp) : 0;
}

#define stub_sender_sp(c, memory, ra, sp) stub_sender_sp_alone(c, ra, sp)

#endif

/* Where the return address is by the bytes at pc; 0: they don't say. */
static inline wire_u64 stub_decide(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u32 op = leaf_u32(p);
	wire_u64 sp = c->sp;
	struct leaf_frame leaf;

	/* A left barrier's end: test %rsp,(%rsp); mov (%rsp),%rsp; jmp *-8(%rsp). */
	if (op == 0x24248548 || op == 0x24248b48)
		return stub_new_sp(c, memory, sp);
	if (op == 0xf82464ff)
		return sp;
	leaf_decide(p, &leaf);
	if (leaf.state == LEAF_ENTRY)
		return sp;
	return leaf.state == LEAF_PUSHED ? sp + 8 : 0;
}

/* Where the call leads whose return address lies at AT, if into this blob; else 0. */
static inline wire_u64 stub_called(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 at)
{
	wire_u64 word;

	return unwind_load(c, memory, at, &word) ? 0 : code_target(c, memory, word);
}

#ifdef __bpf__

__attribute__((noinline)) wire_u64 stub_called_alone(struct unwind_cursor *c, wire_u64 at)
{
	return c ? stub_called(c, NULL, at) : 0;
}

#define stub_called(c, memory, at) stub_called_alone(c, at)

#endif

/* The same, if it is in front of pc. */
static inline wire_u64 stub_start(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 at)
{
	wire_u64 start = stub_called(c, memory, at);

	return start <= c->pc ? start : 0;
}

/*
 * Does the stub at START make a frame at once? Compiled code leaves an older interpreted frame's
 * address in %rbp, and what called that may have come through a stub of this blob too. Uses c->code.
 */
static inline int stub_enters(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 start)
{
	const wire_u8 *p = c->code;

	if (unwind_read(memory, c->code, 16, start))
		return 0;
	for (int i = 0; i < 12; i++)
		if (p[i] == LEAF_PUSH_RBP && (leaf_u24(p + i + 1) == LEAF_MOV_RBP_JIT ||
					      leaf_u24(p + i + 1) == LEAF_MOV_RBP))
			return 1;
	return 0;
}

/*
 * Does the frame that %rbp says belong to this stub, when a call that [sp] tells of leads to NEAREST?
 * A stub may have jumped to another with its frame standing (generate_generic_copy() to copies in
 * front of it): where it was called is then behind pc.
 */
static inline int stub_has_frame(struct unwind_cursor *c, struct unwind_memory *memory,
				 wire_u64 nearest)
{
	wire_u64 start;

	if (!step_fp_is_near(c))
		return 0;
	start = stub_called(c, memory, c->fp + 8);
	if (start > c->pc)
		return !nearest && stub_enters(c, memory, start);
	return start > nearest && (!nearest || stub_enters(c, memory, start));
}

/*
 * A return address into a caller of this stub: where it lies, or 0. A stack holds old words, and a
 * blob many stubs, so that it is the call to the nearest place in front of pc.
 */
static inline wire_u64 stub_scan(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 nearest = stub_start(c, memory, c->sp), found = nearest ? c->sp : 0;

	if (stub_has_frame(c, memory, nearest))
		return c->fp + 8;
	for (int i = 1; i < STUB_SCAN_WORDS && !found; i++)
		if (stub_start(c, memory, c->sp + 8ULL * i))
			found = c->sp + 8ULL * i;
	return found;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u64 stub_scan_alone(struct unwind_cursor *c)
{
	return c ? stub_scan(c, NULL) : 0;
}

#define stub_scan(c, memory) stub_scan_alone(c)

#endif

/* In the call stub, where its frame stands: its caller is no Java code. */
static inline int stub_is_call_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 from = c->jvm.call_stub_return - STUB_CALL_BEFORE, ra;

	if (c->pc < from || c->pc >= c->jvm.call_stub_return + STUB_CALL_BEHIND ||
	    !step_fp_is_near(c))
		return 0;
	return !unwind_load(c, memory, c->fp + 8, &ra) && unwind_is_user(ra) && !blob_owns(c, ra);
}

static inline int stub_enter_popped(struct unwind_cursor *c, struct unwind_memory *memory,
				    int moved)
{
	wire_u64 ra = c->leaf_regs[0], r13 = c->leaf_regs[13];

	if (moved && code_is_sender_sp(c, r13, STUB_MAX_ARGUMENTS))
		return code_enter(c, ra, r13, c->fp);
	return code_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
}

/* Is there a return address of native code at AT? call rel32; call *%reg; call *d(%reg). */
static inline int stub_is_from_native(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 at)
{
	const wire_u8 *p = c->code + 8;
	wire_u64 ra;

	if (unwind_load(c, memory, at, &ra) || !unwind_is_user(ra) || blob_owns(c, ra) ||
	    unwind_read(memory, c->code, 8, ra - 8))
		return 0;
	if (p[-5] == 0xe8)
		return 1;
	return (p[-2] == 0xff && (p[-1] & 0xf8) == 0xd0) ||
	       (p[-3] == 0xff && (p[-2] & 0xf8) == 0x50) ||
	       (p[-6] == 0xff && (p[-5] & 0x38) == 0x10);
}

#ifdef __bpf__

__attribute__((noinline)) int stub_is_from_native_alone(struct unwind_cursor *c, wire_u64 at)
{
	return c ? stub_is_from_native(c, NULL, at) : 0;
}

#define stub_is_from_native(c, memory, at) stub_is_from_native_alone(c, at)

#endif

/* Words that get_cpu_info pushes (vm_version_x86.cpp), the frame pointer first. */
#define STUB_NATIVE_PUSHED 5

/* The JVM asks for the processor's features by a stub that has no frame and uses %rbp. */
static inline int stub_pushes_for_native(struct unwind_cursor *c, struct unwind_memory *memory,
					 struct unwind_rule *rule)
{
	for (wire_u32 i = 1; i <= STUB_NATIVE_PUSHED; i++) {
		wire_u64 at = c->sp + 8ULL * i;

		if (!stub_is_from_native(c, memory, at))
			continue;
		*rule = (struct unwind_rule){ .cfa = at + 8, .ra_at = at, .fp_at = at - 8 };
		return 1;
	}
	return 0;
}

/*
 * Is there an address of Java code at AT? Of this very blob only behind a call within it: a register
 * that was saved may hold the address that the stub was called by.
 */
static inline int stub_fits(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 at)
{
	wire_u64 ra;

	if (unwind_load(c, memory, at, &ra) || !blob_owns(c, ra))
		return 0;
	return !blob_holds(c, ra) || code_target(c, memory, ra);
}

#ifdef __bpf__

__attribute__((noinline)) int stub_fits_alone(struct unwind_cursor *c, wire_u64 at)
{
	return c ? stub_fits(c, NULL, at) : 0;
}

#define stub_fits(c, memory, at) stub_fits_alone(c, at)

#endif

/* The first place that holds an address of Java code, of those where stubs have it. */
static inline int stub_guess(struct unwind_cursor *c, struct unwind_memory *memory,
			     struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (stub_fits(c, memory, rule->ra_at) || stub_is_from_native(c, memory, c->sp))
		return 1;
	*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8, .fp_at = c->sp };
	if (stub_fits(c, memory, rule->ra_at))
		return 1;
	*rule = code_fp_rule(c);
	return step_fp_is_near(c) && stub_fits(c, memory, rule->ra_at);
}

/* By a return address that is known to be one of this stub, AT: what is around it. */
static inline int stub_follow(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 at)
{
	struct unwind_rule rule = { .ra_at = at };
	wire_u64 ra;

	if (unwind_load(c, memory, at, &ra))
		return UNWIND_STOP;
	/* A frame pointer that was pushed, or a whole frame. */
	if (at == c->fp + 8)
		rule.fp_at = c->fp;
	else if (at == c->sp + 8)
		rule.fp_at = c->sp;
	rule.cfa = stub_sender_sp(c, memory, ra, at + 8);
	return code_follow(c, memory, &rule);
}

/*
 * Is the return address in %rdx? C1's unwind_exception: pop %rdx; jmp *%rbx. generate_forward_exception()
 * in stubGenerator_x86_64.cpp loads and clears JavaThread::_pending_exception between the two.
 */
static inline int stub_has_rdx(const wire_u8 *p)
{
	int jumps = p[0] == 0xff && p[1] == 0xe3;

	if (p[-1] == CODE_POP_RDX)
		return jumps || leaf_u24(p) == 0x478b49;
	if (p[-5] == CODE_POP_RDX && leaf_u24(p - 4) == 0x478b49)
		return leaf_u24(p) == 0x47c749;
	return jumps && p[-13] == CODE_POP_RDX && leaf_u24(p - 8) == 0x47c749;
}

static inline int stub_leave(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	wire_u64 ra = c->leaf_regs[0], at;
	enum stub_popped popped;

	if (stub_is_barrier(c, memory, &rule))
		return code_follow(c, memory, &rule);
	if (stub_has_rdx(c->text + UNWIND_TEXT_BEHIND) && blob_owns(c, c->leaf_regs[1]))
		return code_enter(c, c->leaf_regs[1], c->sp, c->fp);
	at = stub_decide(c, memory);
	if (at)
		return stub_follow(c, memory, at);
	if (stub_is_call_stub(c, memory)) {
		rule = code_fp_rule(c);
		return code_follow(c, memory, &rule);
	}
	if (stub_patches_caller(c) && stub_is_adapter(c, memory, 1, &rule))
		return code_follow(c, memory, &rule);
	popped = stub_has_popped(c);
	if (popped != STUB_NOT_POPPED && blob_owns(c, ra))
		return stub_enter_popped(c, memory, popped == STUB_POPPED_MOVED);
	if (!stub_start(c, memory, c->sp) && stub_is_adapter(c, memory, 0, &rule))
		return code_follow(c, memory, &rule);
	at = stub_scan(c, memory);
	if (at)
		return stub_follow(c, memory, at);
	if (stub_guess(c, memory, &rule)) {
		if (rule.ra_at == c->sp)
			return stub_follow(c, memory, c->sp);
		return code_follow(c, memory, &rule);
	}
	/* An adapter has taken it off the stack. */
	if (blob_owns(c, ra) && !blob_holds(c, ra))
		return code_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
	if (step_fp_is_near(c) || stub_pushes_for_native(c, memory, &rule))
		return code_follow(c, memory, &rule);
	return unwind_stop(c, UNWIND_JAVA_FRAME);
}

static inline int step_stub_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if ((c->blob_at != c->code_seen.blob && blob_read(c, memory, c->code_seen.blob)) ||
	    code_read_text(c, memory))
		return UNWIND_STOP;
	return stub_leave(c, memory);
}

#ifdef __bpf__

__attribute__((noinline)) int step_stub_leaf_alone(struct unwind_cursor *c)
{
	return c ? step_stub_leaf(c, NULL) : UNWIND_STOP;
}

#define step_stub_leaf(c, memory) (step_stub_leaf_alone(c) & UNWIND_STOP)

#endif
#endif
