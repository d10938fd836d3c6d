/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf's step in a JVM's code that has no frame size. The bytes at pc tell, else a return
 * address whose call leads here, else where stubs mostly have theirs.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_STUB_LEAF_H
#define HOSTPROF_BPF_HOTSPOT_STUB_LEAF_H

#include "hotspot/stub_scan.h"

/* The call stub's code lies around the address that Java returns to: the parameters' loop before. */
#define STUB_CALL_BEFORE 320
#define STUB_CALL_BEHIND 160

/*
 * The sp of the caller at RA is behind the return address, or what an adapter has noted. What the
 * caller takes off behind the call is compiled_follow()'s to add.
 */
static inline wire_u64 stub_sender_sp(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 ra, wire_u64 sp)
{
	wire_u64 r13 = c->leaf_regs[DWARF_R13];

	if (r13 == sp || !compiled_is_sender_sp(c, r13, STUB_MAX_ARGUMENTS))
		return sp;
	if (stub_is_to_interpreter(c))
		return r13;
	if (compiled_checks_out(c, memory, ra, sp + compiled_pushed_bytes(c, memory, ra)))
		return sp;
	return compiled_checks_out(c, memory, ra, r13) ? r13 : sp;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_sender_sp, (struct unwind_cursor * c, wire_u64 ra, wire_u64 sp), c,
	     (c, NULL, ra, sp), 0)

#define stub_sender_sp(c, memory, ra, sp) stub_sender_sp_alone(c, ra, sp)

#endif

/* push $-1: the cookie. Its length, or 0. */
static inline wire_u32 stub_cookie_length(const wire_u8 *p)
{
	if (p[0] == 0x68 && leaf_u32(p + 1) == ~0U)
		return 5;
	return p[0] == 0x6a && p[1] == 0xff ? 2 : 0;
}

static inline bool stub_is_behind_cookie(const wire_u8 *p)
{
	return stub_cookie_length(p - 5) == 5 || stub_cookie_length(p - 2) == 2;
}

/*
 * An entry barrier whose frame is not there yet, or not any more. The bytes must say so: what lies in the frame of the method that it
 * was called by, which has only just begun, may be the cookie and the return address of another one.
 */
static inline bool stub_is_barrier_alone(struct unwind_cursor *c, struct unwind_memory *memory,
					 struct unwind_rule *rule)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;

	if (p[-1] == LEAF_PUSH_RBP && stub_is_behind_cookie(p - 1)) {
		*rule = (struct unwind_rule){ c->sp + 24, c->sp + 16, c->sp };
		return stub_has_cookie(c, memory, c->sp + 8);
	}
	*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8 };
	return (p[-1] == COMPILED_LEAVE || stub_is_behind_cookie(p)) &&
	       stub_has_cookie(c, memory, c->sp);
}

/* Says where the return address is, by the bytes at pc; 0: they don't tell. */
static inline wire_u64 stub_decide(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u32 op = leaf_u32(p);
	wire_u64 sp = c->sp;
	struct leaf_frame leaf;

	/* A left barrier's end: test %rsp,(%rsp); mov (%rsp),%rsp; jmp *-8(%rsp). */
	if (op == 0x24248548 || op == 0x24248b48)
		return stub_new_sp(c, memory, sp);
	if (op == 0xf82464ff || stub_cookie_length(p))
		return sp;
	leaf_decide(p, &leaf);
	if (leaf.state == LEAF_ENTRY)
		return sp;
	return leaf.state == LEAF_PUSHED ? sp + 8 : 0;
}

/* Where such a frame begins (stub_outer_fp()) there is no return address AT: %rbp is the stub's. */
static inline bool stub_is_within(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 at)
{
	wire_u64 word;

	return frame_pointer_is_near(c) && !cursor_load(c, memory, at, &word) &&
	       !blob_owns(c, word) && stub_start(c, memory, c->fp + 8);
}

/* Is pc in the call stub, where its frame stands? Its caller is no Java code. */
static inline bool stub_is_call_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 from = c->jvm.call_stub_return - STUB_CALL_BEFORE, ra;

	if (c->pc < from || c->pc >= c->jvm.call_stub_return + STUB_CALL_BEHIND ||
	    !frame_pointer_is_near(c))
		return false;
	return !cursor_load(c, memory, c->fp + 8, &ra) && cursor_is_user(ra) && !blob_owns(c, ra);
}

static inline enum unwind_verdict stub_enter_popped(struct unwind_cursor *c,
						    struct unwind_memory *memory, int moved)
{
	wire_u64 ra = c->leaf_regs[DWARF_RAX], r13 = c->leaf_regs[DWARF_R13];

	if (moved && compiled_is_sender_sp(c, r13, STUB_MAX_ARGUMENTS))
		return compiled_enter(c, ra, r13, c->fp);
	return compiled_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
}

/* The word AT is known to be a return address of this stub: what is around it says where the caller is. */
static inline enum unwind_verdict stub_follow(struct unwind_cursor *c, struct unwind_memory *memory,
					      wire_u64 at)
{
	struct unwind_rule rule = { .ra_at = at };
	wire_u64 ra;

	if (cursor_load(c, memory, at, &ra))
		return UNWIND_STOP;
	/* A frame pointer that was pushed, or a whole frame. */
	if (at == c->fp + 8)
		rule.fp_at = c->fp;
	else if (at == c->sp + 8)
		rule.fp_at = c->sp;
	rule.cfa = stub_sender_sp(c, memory, ra, at + 8);
	return compiled_follow(c, memory, &rule);
}

/* The same of a stub that began with push %rbp: the caller's is below the return address. */
static inline enum unwind_verdict stub_follow_entered(struct unwind_cursor *c,
						      struct unwind_memory *memory, wire_u64 at)
{
	struct unwind_rule rule = { .cfa = at + 8, .ra_at = at, .fp_at = at - 8 };

	return compiled_follow(c, memory, &rule);
}

/*
 * Is the return address in %rdx? C1's unwind_exception: pop %rdx; jmp *%rbx. generate_forward_exception()
 * in stubGenerator_x86_64.cpp loads and clears JavaThread::_pending_exception between the two.
 */
static inline bool stub_has_rdx(const wire_u8 *p)
{
	int jumps = p[0] == 0xff && p[1] == 0xe3;

	if (p[-1] == COMPILED_POP_RDX)
		return jumps || leaf_u24(p) == 0x478b49;
	if (p[-5] == COMPILED_POP_RDX && leaf_u24(p - 4) == 0x478b49)
		return leaf_u24(p) == 0x47c749;
	return jumps && p[-13] == COMPILED_POP_RDX && leaf_u24(p - 8) == 0x47c749;
}

/*
 * An adapter begins with its entry from the interpreter: mov %rsp,%r11; pop %rax, or until JDK 17 mov
 * (%rsp),%rax; mov %rsp,%r11 (gen_i2c_adapter() in sharedRuntime_x86_64.cpp). Uses c->code.
 */
static inline bool stub_in_adapter(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code;

	if (memory_read(memory, c->code, 8, blob_code_begin(c)))
		return false;
	return leaf_u32(p) == 0x58dc8b4c ||
	       (leaf_u32(p) == 0x24048b48 && leaf_u24(p + 4) == 0xdc8b4c);
}

/*
 * An adapter's return address is where sp points, also when no call can be seen to lead there (through
 * a vtable stub) but one to it lies higher up: %rbp is often that of an older interpreted frame, which
 * was entered by the same adapter.
 */
static inline bool stub_is_adapter_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	return stub_fits(c, memory, c->sp) && stub_in_adapter(c, memory);
}

#ifdef __bpf__

UNWIND_ALONE(bool, stub_is_adapter_leaf, (struct unwind_cursor * c), c, (c, NULL), false)

#define stub_is_adapter_leaf(c, memory) stub_is_adapter_leaf_alone(c)

#endif

static inline enum unwind_verdict stub_leave(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule;
	wire_u64 ra = c->leaf_regs[DWARF_RAX], at;
	enum stub_popped popped;

	if (stub_is_barrier_alone(c, memory, &rule) || stub_is_barrier(c, memory, &rule))
		return compiled_follow(c, memory, &rule);
	if (stub_has_rdx(c->text + UNWIND_TEXT_BEHIND) && blob_owns(c, c->leaf_regs[DWARF_RDX]))
		return compiled_enter(c, c->leaf_regs[DWARF_RDX], c->sp, c->fp);
	at = stub_decide(c, memory);
	if (at && !stub_is_within(c, memory, at))
		return stub_follow(c, memory, at);
	if (stub_is_call_stub(c, memory)) {
		rule = compiled_fp_rule(c);
		return compiled_follow(c, memory, &rule);
	}
	if (stub_patches_caller(c) && stub_is_adapter(c, memory, 1, &rule))
		return compiled_follow(c, memory, &rule);
	popped = stub_has_popped(c);
	if (popped != STUB_NOT_POPPED && blob_owns(c, ra))
		return stub_enter_popped(c, memory, popped == STUB_POPPED_MOVED);
	if (stub_is_adapter_leaf(c, memory))
		return stub_follow(c, memory, c->sp);
	if (!stub_start(c, memory, c->sp) && stub_is_adapter(c, memory, 0, &rule))
		return compiled_follow(c, memory, &rule);
	at = stub_noted(c, memory);
	if (at)
		return stub_follow_entered(c, memory, at);
	at = stub_scan(c, memory);
	if (at)
		return stub_follow(c, memory, at);
	if (stub_guess(c, memory, &rule)) {
		if (rule.ra_at == c->sp)
			return stub_follow(c, memory, c->sp);
		return compiled_follow(c, memory, &rule);
	}
	/* An adapter has taken it off the stack. */
	if (blob_owns(c, ra) && !blob_holds(c, ra))
		return compiled_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
	if (frame_pointer_is_near(c) || stub_pushes_for_native(c, memory, &rule))
		return compiled_follow(c, memory, &rule);
	return cursor_stop(c, UNWIND_JAVA_FRAME);
}

static inline enum unwind_verdict stub_leaf_step(struct unwind_cursor *c,
						 struct unwind_memory *memory)
{
	if (blob_read(c, memory, c->compiled_seen.blob) || compiled_read_text(c, memory))
		return UNWIND_STOP;
	return stub_leave(c, memory);
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, stub_leaf_step, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define stub_leaf_step(c, memory) (stub_leaf_step_alone(c) & UNWIND_STOP)

#endif
#endif
