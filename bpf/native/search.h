/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Code that a program made and that neither keeps a frame pointer nor is described. Mostly it is one
 * frame between code of files: PHP's traces lie in the frame of its interpreter, the code of PCRE, QEMU,
 * PyPy and Guile in one of its own. No file's code can call it but by a pointer. So the caller is the
 * first word of the stack that is a return address behind such a call in a file's code, if the frames
 * above have callers by their rows. Where its own row says too little, or one behind another call or into
 * made code comes first, nobody knows.
 */
#ifndef HOSTPROF_BPF_NATIVE_SEARCH_H
#define HOSTPROF_BPF_NATIVE_SEARCH_H

#include "native/frame_pointer.h"

/* Words of the stack: QEMU's frame has 145 (CPU_TEMP_BUF_NLONGS and saved registers, tcg/tcg.c). */
#define SEARCH_WORDS 192

enum search_found { SEARCH_NOTHING, SEARCH_CALLER, SEARCH_UNKNOWN };

/* Is there a call before RA? Uses c->code. */
static inline bool search_is_called(struct unwind_cursor *c, struct unwind_memory *memory,
				    wire_u64 ra)
{
	return cursor_is_user(ra) &&
	       !memory_read(memory, c->code, LEAF_CALL_BYTES, ra - LEAF_CALL_BYTES) &&
	       leaf_is_behind_call(c->code + LEAF_CALL_BYTES);
}

/* Frames of the caller and above that are looked at. */
#define SEARCH_LEVELS 4

/*
 * Does the frame that returns to RA, which lies at AT, have a caller by its row, and that one, too? Old
 * stacks that others have written over end soon. 1: yes; 0: no; SEARCH_UNSAID: its own row says too little.
 */
#define SEARCH_UNSAID 2

static inline int search_goes_on(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 ra,
				 wire_u64 at)
{
	for (int level = 0; level < SEARCH_LEVELS; level++) {
		struct wire_rule rule = {};
		wire_u32 found = find_cold(c, memory, ra - 1, &rule);

		if (found == UNWIND_OUTSIDE)
			return 0;
		/* Rows are made when the walk gets there. */
		if (found == UNWIND_ABSENT || (found == UNWIND_FOUND && rule.kind == WIRE_RULE_END))
			return 1;
		if (found != UNWIND_FOUND || rule.kind != WIRE_RULE_CFA ||
		    rule.cfa_reg != DWARF_RSP || rule.ra_slot != 1)
			return level ? 1 : SEARCH_UNSAID;
		at += (wire_u64)(wire_s64)rule.cfa_offset;
		if (cursor_load(c, memory, at, &ra) || !search_is_called(c, memory, ra))
			return 0;
	}
	return 1;
}

#ifdef __bpf__

UNWIND_ALONE(int, search_goes_on, (struct unwind_cursor * c, wire_u64 ra, wire_u64 at), c,
	     (c, NULL, ra, at), 0)

#define search_goes_on(c, memory, ra, at) search_goes_on_alone(c, ra, at)

#endif

/* Is the word AT the return address into the code that has called what was made? */
static inline enum search_found search_look(struct unwind_cursor *c, struct unwind_memory *memory,
					    wire_u64 at)
{
	bool by_pointer;
	wire_u64 ra;
	int goes_on;

	if (cursor_load(c, memory, at, &ra))
		return SEARCH_UNKNOWN;
	if (!search_is_called(c, memory, ra))
		return SEARCH_NOTHING;
	by_pointer = leaf_is_behind_pointer_call(c->code + LEAF_CALL_BYTES);
	goes_on = search_goes_on(c, memory, ra, at);
	if (goes_on == 0)
		return SEARCH_NOTHING;
	return by_pointer && goes_on == 1 ? SEARCH_CALLER : SEARCH_UNKNOWN;
}

/* Where it lies, or 0. */
static inline wire_u64 search_find(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u8 reason = c->reason;
	wire_u64 at = c->sp;
	wire_u32 found = SEARCH_NOTHING;

	for (int i = 0; i < SEARCH_WORDS; i++) {
		found = search_look(c, memory, at);
		if (found != SEARCH_NOTHING)
			break;
		at += 8;
	}
	c->reason = reason;
	return found == SEARCH_CALLER ? at : 0;
}

/* The frame pointer leads to where a call returns to. Of callers it is believed without a look. */
static inline bool search_is_needless(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 ra;

	if (c->fp == 0 || !frame_pointer_is_near(c))
		return false;
	return !c->leaf ||
	       (!cursor_load(c, memory, c->fp + 8, &ra) && search_is_called(c, memory, ra));
}

/* By the frame pointer, or to the caller that is found. Its registers are not known. */
static inline enum unwind_verdict search_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	struct unwind_rule rule = {};

	if (!search_is_needless(c, memory))
		rule.ra_at = search_find(c, memory);
	if (!rule.ra_at)
		return frame_pointer_step(c, memory);
	rule.cfa = rule.ra_at + 8;
	c->searched_frames++;
	c->fp = 1; /* no frame pointer */
	c->rbx = c->r13 = c->r15 = 0;
	return cursor_execute(c, memory, &rule);
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, search_step, (struct unwind_cursor * c), c, (c, NULL),
	     UNWIND_STOP)

#define search_step(c, memory) (search_step_alone(c) & UNWIND_STOP)

#endif

#endif
