/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Where an exception has removed an activation, the template interpreter looks for the caller's
 * handler, with the exception and the return address pushed (generate_throw_exception() in
 * cpu/x86/templateInterpreterGenerator_x86.cpp): push %rax; push %rdx; mov %rdx,%rsi; mov %r15,%rdi;
 * test $15,%spl; je; then sub; call; add; jmp to align sp by a word, or call alone; then
 * mov %rax,%rbx; pop %rdx; pop %rax; jmp *%rbx.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_INTERPRETED_RETHROW_H
#define HOSTPROF_BPF_HOTSPOT_INTERPRETED_RETHROW_H

#include "hotspot/interpreted_exit.h"

/* How far the end, and the other call's return, are behind the first call's: add, jmp, call. */
#define INTERPRETED_RETHROW_BYTES 24
#define INTERPRETED_OTHER_CALL	  14

#define INTERPRETED_NO_WORDS 0xff

/* The pushes and the first move. */
static inline bool interpreted_rethrow_begins(const wire_u8 *p)
{
	return p[0] == 0x50 && leaf_u32(p + 1) == 0xf28b4852;
}

/* Is P where a call returns? No branch: the verifier would follow both its ways five times. */
static inline bool interpreted_rethrow_ends(const wire_u8 *p)
{
	return ((leaf_u32(p) ^ 0x5ad88b48) | (leaf_u24(p + 4) ^ 0xe3ff58)) == 0;
}

/* Goes to the caller at RA, whose stack pointer is SP. */
static inline bool interpreted_rethrow_to(struct unwind_cursor *c, wire_u64 ra, wire_u64 sp)
{
	if (!blob_owns(c, ra))
		return false;
	c->interpreted.ra = ra;
	c->interpreted.sender_sp = sp;
	c->interpreted.fp = c->fp;
	return true;
}

/* How many words the leaf at P has on the stack. */
static inline wire_u32 interpreted_rethrow_words(const wire_u8 *p)
{
	static const wire_u8 places[] = { 0, 1, 2, 5, 8, 12, 18 };

	for (wire_u32 i = 0; i < sizeof(places); i++)
		if (interpreted_rethrow_begins(p - places[i]))
			return places[i] < 2 ? places[i] : 2;
	if (interpreted_rethrow_ends(p) || interpreted_rethrow_ends(p - 3))
		return 2;
	if (interpreted_rethrow_ends(p - 4))
		return 1;
	return interpreted_rethrow_ends(p - 5) ? 0 : INTERPRETED_NO_WORDS;
}

static inline bool interpreted_rethrows_here(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u32 words = interpreted_rethrow_words(c->text + UNWIND_TEXT_BEHIND);
	wire_u64 ra = c->leaf_regs[DWARF_RDX];

	if (words > 2 || (words == 2 && cursor_load(c, memory, c->sp, &ra)))
		return false;
	return interpreted_rethrow_to(c, ra, c->sp + 8 * words);
}

#ifdef __bpf__

UNWIND_ALONE(bool, interpreted_rethrows_here, (struct unwind_cursor * c), c, (c, NULL), false)

#define interpreted_rethrows_here(c, memory) interpreted_rethrows_here_alone(c)

#endif

/* Does native code return to one of these calls, behind which pc is? Uses c->code. */
static inline bool interpreted_rethrows(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 *p = c->code;
	wire_u64 at = c->sp, ra;

	if (memory_read(memory, c->code, INTERPRETED_RETHROW_BYTES, c->pc))
		return false;
	if (interpreted_alignment(p) && p[4] == COMPILED_JMP32) {
		p += INTERPRETED_OTHER_CALL;
		at += 8;
	}
	if (!interpreted_rethrow_ends(p) || cursor_load(c, memory, at, &ra))
		return false;
	return interpreted_rethrow_to(c, ra, at + 16);
}

#endif
