/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Was the leaf's function called by the instruction before [sp]? Then it has no frame and moved no
 * stack pointer: gcc (since 8, ix86_finalize_stack_frame_flags() in config/i386/i386.cc) gives
 * functions that don't touch the stack no frame even with -fno-omit-frame-pointer, and so are
 * most of the C library's string functions. The chain of frame pointers would skip the caller.
 *
 * The call must lead to code that begins at or a little below pc and pushes no frame pointer:
 * directly, through a PLT entry or a function that jumps on (libjvm's copies in assembly), or through
 * a pointer beside the code.
 */
#ifndef HOSTPROF_BPF_NATIVE_LEAF_CALL_H
#define HOSTPROF_BPF_NATIVE_LEAF_CALL_H

#include "unwind/cursor.h"

/* Functions without a stack frame are small; vectorised string functions go up to a few KiB. */
#define LEAF_CALL_MAX_BYTES 8192

#define LEAF_ENDBR64  0xfa1e0ff3 /* f3 0f 1e fa */
#define LEAF_PUSH_RBP 0x55
#define LEAF_POP_RBP  0x5d
#define LEAF_RET      0xc3

static inline wire_u32 leaf_u24(const wire_u8 *p)
{
	return p[0] | p[1] << 8 | (wire_u32)p[2] << 16;
}

static inline wire_u32 leaf_u32(const wire_u8 *p)
{
	return leaf_u24(p) | (wire_u32)p[3] << 24;
}

/* The address that a signed displacement after an instruction that ends at END leads to. */
static inline wire_u64 leaf_relative(wire_u64 end, const wire_u8 *displacement)
{
	return end + (wire_u64)(wire_s64)(wire_s32)leaf_u32(displacement);
}

/* What tells whether a call is there lies so far before a return address. */
#define LEAF_CALL_BYTES 8

/* Is P right behind a call? call rel32; call *%reg; call *(%reg); call *d(%reg). */
static inline bool leaf_is_behind_call(const wire_u8 *p)
{
	if (p[-5] == 0xe8)
		return true;
	return (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) ||
	       (p[-3] == 0xff && (p[-2] & 0xf8) == 0x50) ||
	       (p[-6] == 0xff && (p[-5] & 0x38) == 0x10);
}

/* Is there a call in front of RA, whatever it leads to? Uses c->code. */
static inline bool leaf_has_called(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 ra)
{
	return cursor_is_user(ra) &&
	       !memory_read(memory, c->code, LEAF_CALL_BYTES, ra - LEAF_CALL_BYTES) &&
	       leaf_is_behind_call(c->code + LEAF_CALL_BYTES);
}

/* Where the call rel32 in front of RA leads; 0: there is none. Uses c->code. */
static inline wire_u64 leaf_call_target(struct unwind_cursor *c, struct unwind_memory *memory,
					wire_u64 ra)
{
	if (memory_read(memory, c->code, 8, ra - 5) || c->code[0] != 0xe8)
		return 0;
	return leaf_relative(ra, c->code + 1);
}

/* jmp *slot(%rip), as a PLT entry has it: [endbr64] [bnd] ff 25 d32. The slot, or 0. */
static inline wire_u64 leaf_call_plt_slot(const wire_u8 *p, wire_u64 at)
{
	if (p[0] == 0xff && p[1] == 0x25)
		return leaf_relative(at + 6, p + 2);
	if (leaf_u32(p) != LEAF_ENDBR64)
		return 0;
	if (p[4] == 0xff && p[5] == 0x25)
		return leaf_relative(at + 10, p + 6);
	if (p[4] == 0xf2 && p[5] == 0xff && p[6] == 0x25)
		return leaf_relative(at + 11, p + 7);
	return 0;
}

/* [endbr64;] jmp rel32 at AT: a function that only calls another. Where that is, or 0. */
static inline wire_u64 leaf_call_jump(const wire_u8 *p, wire_u64 at)
{
	if (p[0] == 0xe9)
		return leaf_relative(at + 5, p + 1);
	if (leaf_u32(p) == LEAF_ENDBR64 && p[4] == 0xe9)
		return leaf_relative(at + 9, p + 5);
	return 0;
}

/* Does the function at TARGET hold pc and push no frame pointer? CODE is its beginning. */
static inline bool leaf_call_fits(const struct unwind_cursor *c, wire_u64 target)
{
	const wire_u8 *p = c->code;

	if (target > c->pc || c->pc - target > LEAF_CALL_MAX_BYTES)
		return false;
	return p[0] != LEAF_PUSH_RBP && !(leaf_u32(p) == LEAF_ENDBR64 && p[4] == LEAF_PUSH_RBP);
}

/* The function that the call in front of RA leads to, and into c->code its beginning; 0: its bytes don't tell. */
static inline wire_u64 leaf_call_leads(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u64 ra)
{
	wire_u64 slot = 0, target = 0, jump = 0;

	if (memory_read(memory, c->code, 8, ra - 6))
		return 0;
	if (c->code[1] == 0xe8)
		target = leaf_relative(ra, c->code + 2);
	else if (c->code[0] == 0xff && c->code[1] == 0x15) /* call *slot(%rip) */
		slot = leaf_relative(ra, c->code + 2);
	else
		return 0;
	if (target) {
		if (memory_read(memory, c->code, 16, target))
			return 0;
		slot = leaf_call_plt_slot(c->code, target);
		jump = leaf_call_jump(c->code, target);
	}
	if (jump) {
		target = jump;
		if (memory_read(memory, c->code, 16, target))
			return 0;
	}
	if (slot &&
	    (memory_read(memory, &target, 8, slot) || memory_read(memory, c->code, 16, target)))
		return 0;
	return target;
}

/* Uses c->code. */
static inline bool leaf_was_called(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra, target;

	if (cursor_load(c, memory, c->sp, &ra) || !cursor_is_user(ra))
		return false;
	target = leaf_call_leads(c, memory, ra);
	return target && leaf_call_fits(c, target);
}

#endif
