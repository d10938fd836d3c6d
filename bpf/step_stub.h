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
/* The call stub's code lies around the address that Java returns to: the parameters' loop before. */
#define STUB_CALL_BEFORE 320
#define STUB_CALL_BEHIND 160
/* Adapters move sp by the arguments, 255 words at most, and leave the caller's in %r13. */
#define STUB_MAX_ARGUMENTS 4096
/* Of an adapter: how far its beginning is looked for, and the pop of the return address. */
#define STUB_COPY_BYTES		 56
#define STUB_POPPED_BYTES	 15
#define STUB_POPPED_INSTRUCTIONS 4

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

static inline int stub_fp_frame(const struct unwind_cursor *c)
{
	return (c->fp & 7) == 0 && c->fp >= c->sp && c->fp - c->sp <= UNWIND_MAX_FRAME_BYTES;
}

/*
 * The nmethod entry barrier pushes -1 above its frame: generate_method_entry_barrier() in
 * stubGenerator_x86_64.cpp. Is that at AT, with the return address behind it?
 */
static inline int stub_has_cookie(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 at)
{
	wire_u64 word, ra;

	return !unwind_load(c, memory, at, &word) && word == ~0ULL &&
	       !unwind_load(c, memory, at + 8, &ra) && blob_owns(c, ra);
}

static inline int stub_is_barrier(struct unwind_cursor *c, struct unwind_memory *memory,
				  struct unwind_rule *rule)
{
	if (stub_has_cookie(c, memory, c->sp))
		*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8 };
	else if (stub_has_cookie(c, memory, c->sp + 8))
		*rule = (struct unwind_rule){ c->sp + 24, c->sp + 16, c->sp };
	else if (stub_fp_frame(c) && stub_has_cookie(c, memory, c->fp + 8))
		*rule = (struct unwind_rule){ c->fp + 24, c->fp + 16, c->fp };
	else
		return 0;
	return 1;
}

/*
 * An adapter to the interpreter that calls native code to have its caller call another way
 * (patch_callers_callsite() in sharedRuntime_x86_64.cpp): the return address is where %r13 points.
 */
static inline int stub_is_adapter(struct unwind_cursor *c, struct unwind_memory *memory,
				  struct unwind_rule *rule)
{
	wire_u64 ra;

	if ((c->r13 & 7) || c->r13 <= c->sp || c->r13 - c->sp >= STUB_MAX_ARGUMENTS ||
	    unwind_load(c, memory, c->r13, &ra) || !code_target(c, memory, ra))
		return 0;
	*rule = (struct unwind_rule){ .cfa = c->r13 + 8, .ra_at = c->r13 };
	return 1;
}

/*
 * Stubs that are jumped to and call on may have no frame (C1's unwind_exception): the return
 * address is where sp points, or above a word of alignment.
 */
static inline void stub_caller_rule(struct unwind_cursor *c, struct unwind_memory *memory,
				    struct unwind_rule *rule)
{
	struct unwind_rule other = { .cfa = c->sp + 8, .ra_at = c->sp };
	wire_u64 ra;

	if (stub_is_barrier(c, memory, rule) || stub_is_adapter(c, memory, rule))
		return;
	*rule = code_fp_rule(c);
	if (!unwind_load(c, memory, rule->ra_at, &ra) && code_target(c, memory, ra))
		return;
	if (code_fits(c, memory, &other)) {
		*rule = other;
		return;
	}
	other = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8 };
	if (code_fits(c, memory, &other))
		*rule = other;
}

static inline int step_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule = code_fp_rule(c);
	wire_u64 rbx = 0, r13 = 0;

	if (c->pc == c->jvm.call_stub_return) {
		if (stub_leave_java(c, memory, &rbx, &r13))
			return UNWIND_STOP;
	} else {
		/* Of a frame that the cache had. */
		if (c->blob_at != c->code_seen.blob && blob_read(c, memory, c->code_seen.blob))
			return UNWIND_STOP;
		stub_caller_rule(c, memory, &rule);
	}
	if (rule.fp_at && (c->fp < c->sp || c->fp - c->sp > UNWIND_MAX_FRAME_BYTES || (c->fp & 7)))
		return unwind_stop(c, UNWIND_JAVA_FRAME);
	if (code_follow(c, memory, &rule))
		return UNWIND_STOP;
	c->rbx = rbx;
	c->r13 = r13;
	return UNWIND_GO_ON;
}

/* --- the leaf --------------------------------------------------------------------------------- */

/*
 * Can the code at RA have SP as its stack pointer: is the word its own return address, then? Of
 * frames by the frame pointer nothing can be said.
 */
static inline int stub_checks_out(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 ra, wire_u64 sp)
{
	wire_u64 pc = c->pc, word;
	int found;

	if (ra >= c->jvm.interpreter_start && ra < c->jvm.interpreter_end)
		return 1;
	c->pc = ra;
	found = code_find(c, memory);
	c->pc = pc;
	c->missed = 0;
	if (found || !c->code_seen.frame_size)
		return !found;
	if (unwind_load(c, memory, sp + 8ULL * c->code_seen.frame_size - 8, &word))
		return 0;
	return blob_owns(c, word);
}

enum stub_mark { STUB_NO_MARK, STUB_BEGINNING, STUB_END };

/* Does an adapter to the interpreter note the caller's stack pointer at c->text + AT? */
static inline enum stub_mark stub_adapter_mark(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;

	if (p[0] == 0xff && p[1] == 0xe1) /* jmp *%rcx */
		return STUB_END;
	if (p[0] != 0x58)
		return STUB_NO_MARK;
	/* pop %rax; mov %rsp,%r13. Or lea 8(%rsp),%r13; pop %rax. */
	return leaf_u24(p + 1) == 0xec8b4c || leaf_u32(p - 5) == 0x246c8d4c ? STUB_BEGINNING
									    : STUB_NO_MARK;
}

#ifdef __bpf__

__attribute__((noinline)) int stub_adapter_mark_alone(struct unwind_cursor *c, wire_u32 at)
{
	UNWIND_OPAQUE(at);
	if (!c || at > UNWIND_TEXT_BEHIND)
		return STUB_NO_MARK;
	UNWIND_OPAQUE(at);
	if (at < 5)
		return STUB_NO_MARK;
	return stub_adapter_mark(c, at);
}

#define stub_adapter_mark(c, at) stub_adapter_mark_alone(c, at)

#endif

/* In the part of such an adapter that copies arguments %r13 is the caller's stack pointer. */
static inline int stub_is_to_interpreter(struct unwind_cursor *c)
{
	for (wire_u32 i = 5; i < STUB_COPY_BYTES; i++) {
		int mark = stub_adapter_mark(c, UNWIND_TEXT_BEHIND - i);

		if (mark != STUB_NO_MARK)
			return mark == STUB_BEGINNING;
	}
	return 0;
}

/* Of the caller at RA: behind the return address, or what an adapter has noted. */
static inline wire_u64 stub_sender_sp(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 ra, wire_u64 sp)
{
	wire_u64 r13 = c->leaf_regs[13];

	if ((r13 & 7) || r13 <= c->sp || r13 == sp || r13 - c->sp >= STUB_MAX_ARGUMENTS)
		return sp;
	if (stub_is_to_interpreter(c))
		return r13;
	return !stub_checks_out(c, memory, ra, sp) && stub_checks_out(c, memory, ra, r13) ? r13
											  : sp;
}

/* Where the return address is by the bytes at pc; 0: they don't say. */
static inline wire_u64 stub_decide(const wire_u8 *p, wire_u64 sp)
{
	struct leaf_frame leaf;

	leaf_decide(p, &leaf);
	if (leaf.state == LEAF_ENTRY)
		return sp;
	return leaf.state == LEAF_PUSHED ? sp + 8 : 0;
}

/* Where the call leads whose return address lies at AT, if to a place in front of pc; else 0. */
static inline wire_u64 stub_start(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 at)
{
	wire_u64 word, start;

	if (unwind_load(c, memory, at, &word))
		return 0;
	start = code_target(c, memory, word);
	return start <= c->pc ? start : 0;
}

#ifdef __bpf__

__attribute__((noinline)) wire_u64 stub_start_alone(struct unwind_cursor *c, wire_u64 at)
{
	return c ? stub_start(c, NULL, at) : 0;
}

#define stub_start(c, memory, at) stub_start_alone(c, at)

#endif

/*
 * A return address into a caller of this stub: where it lies, or 0. A stack holds old words, and a
 * blob many stubs, so that it is the call to the nearest place in front of pc.
 */
static inline wire_u64 stub_scan(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 nearest = stub_start(c, memory, c->sp), found = nearest ? c->sp : 0, start;

	if (stub_fp_frame(c)) {
		start = stub_start(c, memory, c->fp + 8);
		if (start > nearest)
			return c->fp + 8;
	}
	for (int i = 1; i < STUB_SCAN_WORDS && !found; i++)
		if (stub_start(c, memory, c->sp + 8ULL * i))
			found = c->sp + 8ULL * i;
	return found;
}

/* In the call stub, where its frame stands: its caller is no Java code. */
static inline int stub_is_call_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 from = c->jvm.call_stub_return - STUB_CALL_BEFORE, ra;

	if (c->pc < from || c->pc >= c->jvm.call_stub_return + STUB_CALL_BEHIND ||
	    !stub_fp_frame(c))
		return 0;
	return !unwind_load(c, memory, c->fp + 8, &ra) && unwind_is_user(ra) && !blob_owns(c, ra);
}

/*
 * The length of an instruction that adapters have between the pop of the return address into %rax
 * and the place where they put it again: mov %rsp,%r13 or %r11; sub or and $imm,%rsp; pop %reg.
 * *ret_moved is set when it moves sp.
 */
static inline wire_u32 stub_popped_length(const wire_u8 *p, int *moved)
{
	wire_u32 op = leaf_u24(p);

	if (op == 0xec8b4c || op == 0xdc8b4c)
		return 3;
	if ((p[0] & 0xf8) == 0x58)
		return 1;
	*moved = 1;
	if (op == LEAF_SUB8 || op == 0xe48348)
		return 4;
	return op == LEAF_SUB32 ? 7 : 0;
}

/* Do only such lie between FROM and P? */
static inline int stub_is_popped_since(const wire_u8 *from, const wire_u8 *p, int *moved)
{
	*moved = 0;
	for (int i = 0; i < STUB_POPPED_INSTRUCTIONS && from < p; i++) {
		wire_u32 len = stub_popped_length(from, moved);

		if (!len)
			return 0;
		from += len;
	}
	return from == p;
}

enum stub_popped { STUB_NOT_POPPED, STUB_POPPED, STUB_POPPED_MOVED };

/* Has an adapter the return address in %rax, and not on the stack? And is sp another one already? */
static inline enum stub_popped stub_has_popped(const struct unwind_cursor *c)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	int moved;

	for (int i = 1; i <= STUB_POPPED_BYTES; i++)
		if (p[-i] == 0x58 && stub_is_popped_since(p - i + 1, p, &moved))
			return moved ? STUB_POPPED_MOVED : STUB_POPPED;
	/* Or it was copied: mov (%rsp),%rax; mov %rsp,%r11; and $-16,%rsp. */
	if (leaf_u32(p - 11) == 0x24048b48 && leaf_u24(p - 4) == 0xe48348)
		return STUB_POPPED;
	return STUB_NOT_POPPED;
}

#ifdef __bpf__

__attribute__((noinline)) int stub_has_popped_alone(struct unwind_cursor *c)
{
	return c ? (int)stub_has_popped(c) : STUB_NOT_POPPED;
}

#define stub_has_popped(c) ((enum stub_popped)stub_has_popped_alone(c))

#endif

static inline int stub_enter_popped(struct unwind_cursor *c, struct unwind_memory *memory,
				    int moved)
{
	wire_u64 ra = c->leaf_regs[0], r13 = c->leaf_regs[13];

	if (moved && (r13 & 7) == 0 && r13 > c->sp && r13 - c->sp < STUB_MAX_ARGUMENTS)
		return code_enter(c, ra, r13, c->fp);
	return code_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
}

/* Was it called by native code, with nothing pushed yet? call rel32; call *%reg; call *d(%reg). */
static inline int stub_is_from_native(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code + 8;
	wire_u64 ra;

	if (unwind_load(c, memory, c->sp, &ra) || !unwind_is_user(ra) || blob_owns(c, ra) ||
	    unwind_read(memory, c->code, 8, ra - 8))
		return 0;
	if (p[-5] == 0xe8)
		return 1;
	return (p[-2] == 0xff && (p[-1] & 0xf8) == 0xd0) ||
	       (p[-3] == 0xff && (p[-2] & 0xf8) == 0x50) ||
	       (p[-6] == 0xff && (p[-5] & 0x38) == 0x10);
}

/* The first place that holds an address of Java code, of those where stubs have it. */
static inline int stub_guess(struct unwind_cursor *c, struct unwind_memory *memory,
			     struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (code_fits(c, memory, rule) || stub_is_from_native(c, memory))
		return 1;
	*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8, .fp_at = c->sp };
	if (code_fits(c, memory, rule))
		return 1;
	*rule = code_fp_rule(c);
	return stub_fp_frame(c) && code_fits(c, memory, rule);
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

static inline int stub_leave(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	struct unwind_rule rule;
	wire_u64 ra = c->leaf_regs[0], at;
	enum stub_popped popped;

	if (stub_is_barrier(c, memory, &rule))
		return code_follow(c, memory, &rule);
	at = stub_decide(p, c->sp);
	if (at)
		return stub_follow(c, memory, at);
	if (stub_is_call_stub(c, memory)) {
		rule = code_fp_rule(c);
		return code_follow(c, memory, &rule);
	}
	popped = stub_has_popped(c);
	if (popped != STUB_NOT_POPPED && blob_owns(c, ra))
		return stub_enter_popped(c, memory, popped == STUB_POPPED_MOVED);
	if (!stub_start(c, memory, c->sp) && stub_is_adapter(c, memory, &rule))
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
	if (blob_owns(c, ra))
		return code_enter(c, ra, stub_sender_sp(c, memory, ra, c->sp), c->fp);
	return stub_fp_frame(c) ? code_follow(c, memory, &rule) : unwind_stop(c, UNWIND_JAVA_FRAME);
}

static inline int step_stub_leaf(struct unwind_cursor *c, struct unwind_memory *memory)
{
	if ((c->blob_at != c->code_seen.blob && blob_read(c, memory, c->code_seen.blob)) ||
	    code_read_text(c, memory))
		return UNWIND_STOP;
	return stub_leave(c, memory);
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

#define step_stub(c, memory)	  (step_stub_alone(c) & UNWIND_STOP)
#define step_stub_leaf(c, memory) (step_stub_leaf_alone(c) & UNWIND_STOP)

#endif
#endif
