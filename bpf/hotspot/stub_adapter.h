/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What the bytes around pc say of adapters between compiled code and the interpreter, and of method
 * handle adapters: cpu/x86/sharedRuntime_x86_64.cpp, methodHandles_x86.cpp.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_STUB_ADAPTER_H
#define HOSTPROF_BPF_HOTSPOT_STUB_ADAPTER_H

#include "hotspot/compiled_leaf.h"

/* How far an adapter's beginning is looked for, and its pop of the return address. */
#define STUB_COPY_BYTES		 56
#define STUB_POPPED_BYTES	 15
#define STUB_POPPED_INSTRUCTIONS 4

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

UNWIND_ALONE_AT(int, stub_adapter_mark, 5, UNWIND_TEXT_BEHIND + 1, STUB_NO_MARK)

#define stub_adapter_mark(c, at) stub_adapter_mark_alone(c, at)

#endif

/* In the part of such an adapter that copies arguments %r13 is the caller's stack pointer. */
static inline bool stub_is_to_interpreter(struct unwind_cursor *c)
{
	for (wire_u32 i = 5; i < STUB_COPY_BYTES; i++) {
		int mark = stub_adapter_mark(c, UNWIND_TEXT_BEHIND - i);

		if (mark != STUB_NO_MARK)
			return mark == STUB_BEGINNING;
	}
	return false;
}

enum stub_patch { STUB_PATCH_NONE, STUB_PATCH_AHEAD, STUB_PATCH_HERE };

/* At c->text + AT: an adapter's way to have its caller patched begins, or is under way. */
static inline enum stub_patch stub_patch_mark(const struct unwind_cursor *c, wire_u32 at)
{
	wire_u32 op = leaf_u32(c->text + at);

	if (op == 0xf0e48348) /* and $-16,%rsp */
		return STUB_PATCH_AHEAD;
	/* fxsave (%rsp); fxrstor (%rsp); popf, mov %r13,%rsp */
	if (op == 0x04ae0f48 || op == 0x0cae0f48 || op == 0xe58b499d)
		return STUB_PATCH_HERE;
	return STUB_PATCH_NONE;
}

#ifdef __bpf__

UNWIND_ALONE_AT(int, stub_patch_mark, 0, UNWIND_TEXT_BYTES - 8, STUB_PATCH_NONE)

#define stub_patch_mark(c, at) stub_patch_mark_alone(c, at)

#endif

/*
 * Does the leaf save or restore all registers to have its caller patched
 * (patch_callers_callsite())? %r13 points to the return address then, also right behind the popf.
 */
static inline bool stub_patches_caller(struct unwind_cursor *c)
{
	for (wire_u32 at = UNWIND_TEXT_BEHIND - 1; at < UNWIND_TEXT_BYTES - 8; at++) {
		int mark = stub_patch_mark(c, at);

		if (mark != STUB_PATCH_NONE)
			return mark == STUB_PATCH_HERE;
	}
	return false;
}

#ifdef __bpf__

UNWIND_ALONE(bool, stub_patches_caller, (struct unwind_cursor * c), c, (c), false)

#define stub_patches_caller(c) stub_patches_caller_alone(c)

#endif

/* The same of a caller: [vzeroupper;] fxrstor (%rsp) is behind the call. Uses c->code. */
static inline bool stub_called_patcher(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code;

	if (memory_read(memory, c->code, 8, c->pc))
		return false;
	if (leaf_u24(p) == 0x77f8c5)
		p += 3;
	return leaf_u32(p) == 0x0cae0f48;
}

#define STUB_LENGTH_MASK 7
#define STUB_MOVES_SP	 8

/*
 * The length of an instruction that adapters have between the pop of the return address into %rax
 * and the place where they put it again: mov %rsp,%r13 or %r11; sub or and $imm,%rsp; pop %reg.
 * STUB_MOVES_SP is added when it does. 0: it is another one.
 */
static inline wire_u32 stub_popped_length(const struct unwind_cursor *c, wire_u32 at)
{
	const wire_u8 *p = c->text + at;
	wire_u32 op = leaf_u24(p);

	if (op == 0xec8b4c || op == 0xdc8b4c)
		return 3;
	if ((p[0] & 0xf8) == 0x58)
		return 1;
	if (op == LEAF_SUB8 || op == 0xe48348)
		return 4 | STUB_MOVES_SP;
	return op == LEAF_SUB32 ? 7 | STUB_MOVES_SP : 0;
}

#ifdef __bpf__

UNWIND_ALONE_AT(wire_u32, stub_popped_length, 0, UNWIND_TEXT_BEHIND, 0)

#define stub_popped_length(c, at) stub_popped_length_alone(c, at)

#endif

enum stub_popped { STUB_NOT_POPPED, STUB_POPPED, STUB_POPPED_MOVED };

/* Is the pop at c->text + AT, and do only such instructions lie between it and pc? */
static inline enum stub_popped stub_popped_at(struct unwind_cursor *c, wire_u32 at)
{
	wire_u32 all = 0;

	if (c->text[at++] != 0x58)
		return STUB_NOT_POPPED;
	for (int i = 0; i < STUB_POPPED_INSTRUCTIONS && at < UNWIND_TEXT_BEHIND; i++) {
		wire_u32 length = stub_popped_length(c, at);

		if (!length)
			return STUB_NOT_POPPED;
		at += length & STUB_LENGTH_MASK;
		all |= length;
	}
	if (at != UNWIND_TEXT_BEHIND)
		return STUB_NOT_POPPED;
	return all & STUB_MOVES_SP ? STUB_POPPED_MOVED : STUB_POPPED;
}

#ifdef __bpf__

UNWIND_ALONE_AT(int, stub_popped_at, 0, UNWIND_TEXT_BEHIND, STUB_NOT_POPPED)

#define stub_popped_at(c, at) ((enum stub_popped)stub_popped_at_alone(c, at))

#endif

/*
 * Or it was copied: mov (%rsp),%rax; mov %rsp,%r11; [sub $imm8,%rsp]; and $-16,%rsp. Behind one of
 * the last two?
 */
static inline bool stub_has_copied(const wire_u8 *p)
{
	const wire_u8 *from = p;

	if (leaf_u24(from - 4) == 0xe48348)
		from -= 4;
	if (leaf_u24(from - 4) == LEAF_SUB8)
		from -= 4;
	return from != p && leaf_u24(from - 3) == 0xdc8b4c && leaf_u32(from - 7) == 0x24048b48;
}

/* Has an adapter the return address in %rax, and not on the stack? And is sp another one already? */
static inline enum stub_popped stub_has_popped(struct unwind_cursor *c)
{
	for (wire_u32 i = 1; i <= STUB_POPPED_BYTES; i++) {
		enum stub_popped popped = stub_popped_at(c, UNWIND_TEXT_BEHIND - i);

		if (popped != STUB_NOT_POPPED)
			return popped;
	}
	return stub_has_copied(c->text + UNWIND_TEXT_BEHIND) ? STUB_POPPED : STUB_NOT_POPPED;
}

#ifdef __bpf__

UNWIND_ALONE(int, stub_has_popped, (struct unwind_cursor * c), c, (c), STUB_NOT_POPPED)

#define stub_has_popped(c) ((enum stub_popped)stub_has_popped_alone(c))

#endif

#endif
