/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Whether a return address that was found may be one: by the frame that it would lead to. */
#ifndef HOSTPROF_CODE_CHECK_H
#define HOSTPROF_CODE_CHECK_H

#include "code_rule.h"

/* What is known of the code at RA, whose stack pointer would be SP, into c->code_seen. */
static inline int code_look_elsewhere(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 ra, wire_u64 sp)
{
	wire_u8 leaf = c->leaf, exact = c->exact;
	wire_u64 pc = c->pc, own_sp = c->sp;
	int found;

	c->pc = ra;
	c->sp = sp;
	found = code_find(c, memory);
	c->pc = pc;
	c->sp = own_sp;
	c->leaf = leaf;
	c->exact = exact;
	c->missed = 0;
	return found;
}

/*
 * Can the code at RA have SP as its stack pointer: is the word its own return address, then? Of
 * frames by the frame pointer nothing can be said. Leaves c->code_seen and c->blob as they were.
 */
static inline int code_checks_out(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 ra, wire_u64 sp)
{
	struct wire_hot_code seen = c->code_seen;
	wire_u64 blob = c->blob_at, words, word;
	int found;

	if (blob_is_interpreter(c, ra))
		return 1;
	found = code_look_elsewhere(c, memory, ra, sp);
	words = c->code_seen.frame_size;
	c->code_seen = seen;
	if (c->blob_at != blob && blob && blob_read(c, memory, blob)) {
		c->missed = 0;
		return 0;
	}
	if (found || !words)
		return !found;
	return !unwind_load(c, memory, sp + 8 * words - 8, &word) && blob_owns(c, word);
}

#ifdef __bpf__

/* A function of its own for the verifier: see step_leaf_alone(). */
__attribute__((noinline)) int code_checks_out_alone(struct unwind_cursor *c, wire_u64 ra,
						    wire_u64 sp)
{
	return c ? code_checks_out(c, NULL, ra, sp) : 0;
}

#define code_checks_out(c, memory, ra, sp) code_checks_out_alone(c, ra, sp)

#endif

#endif
