/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf's step: where the thread itself is in a prologue or epilogue, the frame pointer is
 * still, or already again, the caller's, and the plain chain would skip the caller. The code bytes
 * around pc tell; anything not recognised is taken for a function's body.
 *
 * Prologues: gcc and clang (endbr64, push %rbp, mov %rsp,%rbp) and HotSpot's (JDK 8 to 28,
 * src/hotspot/cpu/x86/macroAssembler_x86.cpp verified_entry, c1_MacroAssembler_x86.cpp
 * build_frame): stack bang, push %rbp, [mov %rsp,%rbp], sub; or without the bang: sub imm32,
 * store of %rbp, [mov %rsp,%rbp, add]. Epilogues: pop %rbp, the JDK's return poll
 * (safepoint_poll, relocInfo::poll_return_type), ret.
 */
#ifndef HOSTPROF_BPF_NATIVE_LEAF_H
#define HOSTPROF_BPF_NATIVE_LEAF_H

#include "native/ahead.h"
#include "native/closure.h"
#include "native/frame_pointer.h"
#include "native/leaf_call.h"

enum leaf_state {
	LEAF_BODY,   /* the frame stands */
	LEAF_ENTRY,  /* no frame yet or any more: sp points to the return address */
	LEAF_CLONED, /* the same; in the new thread or process it is the first frame */
	LEAF_JUMPS, /* the same, where it is a tail call; or a jump into a table, and the frame stands */
	LEAF_PUSHED,	/* sp points to the saved frame pointer, the return address is above */
	LEAF_ALLOCATED, /* HotSpot, no bang: `size` bytes taken, %rbp not stored yet */
	LEAF_STORED,	/* the same, %rbp stored, not yet set */
};

struct leaf_frame {
	enum leaf_state state;
	wire_u32 size; /* LEAF_ALLOCATED, LEAF_STORED: from sp to the saved frame pointer */
};

#define LEAF_MOV_RBP	 0xe58948 /* 48 89 e5: mov %rsp,%rbp, as gcc and clang encode it */
#define LEAF_MOV_RBP_JIT 0xec8b48 /* 48 8b ec: the same, as HotSpot encodes it */
#define LEAF_SUB8	 0xec8348 /* 48 83 ec: sub $imm8,%rsp */
#define LEAF_SUB32	 0xec8148 /* 48 81 ec: sub $imm32,%rsp */
#define LEAF_ADD8_RBP	 0xc58348 /* 48 83 c5: add $imm8,%rbp */
#define LEAF_ADD32_RBP	 0xc58148 /* 48 81 c5: add $imm32,%rbp */

/* What follows `push %rbp` in a prologue. */
static inline bool leaf_sets_frame(wire_u32 op)
{
	return op == LEAF_MOV_RBP || op == LEAF_MOV_RBP_JIT || op == LEAF_SUB8 || op == LEAF_SUB32;
}

static inline bool leaf_is_prologue(const wire_u8 *p)
{
	return p[0] == LEAF_PUSH_RBP && leaf_sets_frame(leaf_u24(p + 1));
}

/* 48 89 6c 24 d8 or 48 89 ac 24 d32: mov %rbp,N(%rsp). The displacement, or 0 for no such store. */
static inline wire_u32 leaf_store_size(const wire_u8 *p)
{
	wire_u32 op = leaf_u32(p);

	if (op == 0x246c8948)
		return p[4];
	if (op == 0x24ac8948)
		return leaf_u32(p + 4);
	return 0;
}

/* vzeroupper (c5 f8 77) before it, as Graal has it behind its poll. */
static inline bool leaf_is_ret(const wire_u8 *p)
{
	return p[0] == LEAF_RET || (leaf_u24(p) == 0x77f8c5 && p[3] == LEAF_RET);
}

/* One of the JDK's return polls, then ret. */
static inline bool leaf_is_return_poll(const wire_u8 *p)
{
	wire_u32 op = leaf_u24(p);

	if (p[0] == 0x85 && p[1] == 0x05) /* 8: test %eax,polling_page(%rip) */
		return p[6] == LEAF_RET;
	if (op == 0x978b4d) /* 11: mov d32(%r15),%r10; test %eax,(%r10) */
		return leaf_u24(p + 7) == 0x028541 && p[10] == LEAF_RET;
	if (op == 0x578b4d || op == 0x5f8b4d) /* the same with a short offset; or %r11 */
		return p[4] == 0x41 && p[5] == 0x85 && p[7] == LEAF_RET;
	if (op == 0x028541 || op == 0x038541) /* its second half */
		return p[3] == LEAF_RET;
	if (op == 0xa73b49) /* 17 and later: cmp d32(%r15),%rsp; ja stub */
		return p[7] == 0x0f && p[8] == 0x87 && leaf_is_ret(p + 13);
	if (op == 0x673b49)
		return p[4] == 0x0f && p[5] == 0x87 && leaf_is_ret(p + 10);
	return p[0] == 0x0f && p[1] == 0x87 && leaf_is_ret(p + 6); /* its second half */
}

/*
 * Is nothing left from P on but the return? ret; a poll and ret; vzeroupper (c5 f8 77) before them.
 * Or a jump through memory: a PLT entry (with or without endbr64) or a tail call. Or glibc's end of a
 * system call: cmp $-4095,%rax; ja; ret.
 */
static inline bool leaf_is_return(const wire_u8 *p)
{
	if (leaf_is_ret(p) || p[0] == 0xc2 || (p[0] == 0xf3 && p[1] == LEAF_RET))
		return true;
	if (p[0] == 0xff && p[1] == 0x25)
		return true;
	if (leaf_u32(p) == 0xf0003d48 && p[6] == 0x77 && p[8] == LEAF_RET)
		return true;
	if (leaf_u24(p) == 0x77f8c5)
		return leaf_is_return_poll(p + 3);
	return leaf_is_return_poll(p);
}

/* jmp *%reg without a prefix of its own: musl's wrapper_cmp() of qsort() is nothing else. */
static inline bool leaf_is_jump(const wire_u8 *p)
{
	const wire_u8 *op = p[0] == 0x41 ? p + 1 : p;

	return op[0] == 0xff && (op[1] & 0xf8) == 0xe0;
}

static inline bool leaf_is_entry(const wire_u8 *p)
{
	if (leaf_u32(p) == LEAF_ENDBR64)
		return p[4] == LEAF_PUSH_RBP || (p[4] == 0xff && p[5] == 0x25) ||
		       (p[4] == 0xf2 && p[5] == 0xff && p[6] == 0x25);
	if (leaf_u24(p) == 0x248489 && p[7] == LEAF_PUSH_RBP) /* mov %eax,-N(%rsp): the bang */
		return true;
	if (leaf_u24(p) == LEAF_SUB32 && leaf_store_size(p + 7)) /* HotSpot without a bang */
		return true;
	return leaf_is_prologue(p) || (p[0] == LEAF_PUSH_RBP && leaf_u32(p - 4) == LEAF_ENDBR64);
}

/*
 * glibc's clone() and clone3() have no call frame information from their system call on, since it
 * would be wrong in the child (sysdeps/unix/sysv/linux/x86_64/clone.S): test %rax,%rax; jl; je; ret.
 * A new thread may lose its cpu at each of them.
 */
static inline bool leaf_is_behind_clone(const wire_u8 *test)
{
	return leaf_u24(test) == 0xc08548 && test[3] == 0x7c && test[5] == 0x74 &&
	       test[7] == LEAF_RET;
}

static inline bool leaf_is_clone(const wire_u8 *p)
{
	return leaf_is_behind_clone(p) || leaf_is_behind_clone(p - 3) ||
	       leaf_is_behind_clone(p - 5);
}

/* Decide from the bytes; P points to the byte at pc, UNWIND_CODE_BEHIND bytes before it are known. */
static inline void leaf_decide(const wire_u8 *p, struct leaf_frame *ret_leaf)
{
	wire_u32 op = leaf_u24(p), size = leaf_store_size(p);

	ret_leaf->state = LEAF_BODY;
	ret_leaf->size = size;
	if (leaf_is_entry(p) || leaf_is_return(p)) {
		ret_leaf->state = LEAF_ENTRY;
	} else if (leaf_is_clone(p)) {
		ret_leaf->state = LEAF_CLONED;
	} else if (leaf_is_jump(p)) {
		ret_leaf->state = LEAF_JUMPS;
	} else if (p[-1] == LEAF_PUSH_RBP && leaf_sets_frame(op)) {
		ret_leaf->state = LEAF_PUSHED;
	} else if (p[0] == LEAF_POP_RBP && leaf_is_return(p + 1)) {
		ret_leaf->state = LEAF_PUSHED;
	} else if (size && leaf_u24(p - 7) == LEAF_SUB32) {
		ret_leaf->state = LEAF_ALLOCATED;
	} else if (op == LEAF_MOV_RBP_JIT && (leaf_store_size(p - 5) || leaf_store_size(p - 8))) {
		ret_leaf->state = LEAF_STORED;
		ret_leaf->size = leaf_store_size(p - 8) ? leaf_u32(p - 4) : p[-1];
	} else if (leaf_u24(p - 3) == LEAF_MOV_RBP_JIT && op == LEAF_ADD8_RBP) {
		ret_leaf->state = LEAF_STORED;
		ret_leaf->size = p[3];
	} else if (leaf_u24(p - 3) == LEAF_MOV_RBP_JIT && op == LEAF_ADD32_RBP) {
		ret_leaf->state = LEAF_STORED;
		ret_leaf->size = leaf_u32(p + 3);
	}
}

/* The same of the bytes in c->code. */
static inline int leaf_look(struct unwind_cursor *c, struct leaf_frame *ret_leaf)
{
	leaf_decide(c->code + UNWIND_CODE_BEHIND, ret_leaf);
	return 0;
}

#ifdef __bpf__

UNWIND_ALONE(int, leaf_look, (struct unwind_cursor * c, struct leaf_frame *ret_leaf), c &&ret_leaf,
	     (c, ret_leaf), 0)

#define leaf_look(c, ret_leaf) leaf_look_alone(c, ret_leaf)

#endif

static inline enum unwind_verdict leaf_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct leaf_frame leaf = {};
	struct unwind_rule rule = { .fp_at = 0 };
	wire_u64 ra, closure;

	if (c->at_entry) {
		rule.ra_at = c->sp;
		rule.cfa = c->sp + 8;
		return cursor_execute(c, memory, &rule);
	}
	c->code[UNWIND_CODE_BEHIND - 1] = 0;
	/* The page before may be absent; so may code that was unmapped meanwhile. */
	if (memory_read(memory, c->code, UNWIND_CODE_BYTES, c->pc - UNWIND_CODE_BEHIND) &&
	    memory_read(memory, c->code + UNWIND_CODE_BEHIND,
			UNWIND_CODE_BYTES - UNWIND_CODE_BEHIND, c->pc))
		return frame_pointer_step(c, memory, false);
	leaf_look(c, &leaf);
	closure = closure_ra_at(c);
	if (closure)
		leaf.state = LEAF_JUMPS;
	switch (leaf.state) {
	case LEAF_BODY:
		if (ahead_find(c, memory, &rule)) {
			c->read_frames++;
			break;
		}
		if (!leaf_was_called(c, memory))
			return frame_pointer_step(c, memory, false);
		rule.ra_at = c->sp;
		break;
	case LEAF_CLONED:
	case LEAF_ENTRY:
		if (leaf.state == LEAF_CLONED && c->leaf_regs[DWARF_RAX] == 0)
			return cursor_stop(c, UNWIND_DONE);
		rule.ra_at = c->sp;
		break;
	case LEAF_JUMPS:
		rule.ra_at = closure ? closure : c->sp;
		if (cursor_load(c, memory, rule.ra_at, &ra) || !leaf_has_called(c, memory, ra))
			return frame_pointer_step(c, memory, false);
		break;
	case LEAF_PUSHED:
		rule.fp_at = c->sp;
		rule.ra_at = c->sp + 8;
		break;
	case LEAF_ALLOCATED: rule.ra_at = c->sp + leaf.size + 8; break;
	case LEAF_STORED:
		rule.fp_at = c->sp + leaf.size;
		rule.ra_at = c->sp + leaf.size + 8;
		break;
	}
	rule.cfa = rule.ra_at + 8;
	return cursor_execute(c, memory, &rule);
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, leaf_step, (struct unwind_cursor * c), c, (c, NULL), UNWIND_STOP)

#define leaf_step(c, memory) (leaf_step_alone(c) & UNWIND_STOP)

#endif
#endif
