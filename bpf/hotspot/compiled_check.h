/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Whether a return address that was found may be one: by the frame that it would lead to. */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILED_CHECK_H
#define HOSTPROF_BPF_HOTSPOT_COMPILED_CHECK_H

#include "hotspot/compiled_rule.h"

static inline void compiled_keep(struct unwind_cursor *c)
{
	c->compiled_kept.seen = c->compiled_seen;
	c->compiled_kept.blob = c->blob_at;
	c->compiled_kept.pc = c->pc;
	c->compiled_kept.sp = c->sp;
	c->compiled_kept.leaf = c->leaf;
	c->compiled_kept.exact = c->exact;
}

static inline void compiled_give_back(struct unwind_cursor *c)
{
	c->compiled_seen = c->compiled_kept.seen;
	c->pc = c->compiled_kept.pc;
	c->sp = c->compiled_kept.sp;
	c->leaf = c->compiled_kept.leaf;
	c->exact = c->compiled_kept.exact;
	c->missed = 0;
}

/* Frame size of the code at RA, whose stack pointer would be SP; 0: not known, -1: no code. */
static inline int compiled_size_elsewhere(struct unwind_cursor *c, struct unwind_memory *memory,
					  wire_u64 ra, wire_u64 sp)
{
	int words;

	compiled_keep(c);
	c->pc = ra;
	c->sp = sp;
	words = compiled_find(c, memory) ? -1 : (int)c->compiled_seen.frame_size;
	compiled_give_back(c);
	return words;
}

/* c->blob is that of c->compiled_kept again, if there was one. */
static inline int compiled_give_back_blob(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 blob = c->compiled_kept.blob;

	if (!blob || !blob_read(c, memory, blob))
		return 0;
	c->missed = 0;
	return -1;
}

/*
 * Can the code at RA have SP as its stack pointer: is the word its own return address, then? Of
 * frames by the frame pointer nothing can be said. Leaves c->compiled_seen and c->blob as they were.
 */
static inline bool compiled_checks_out(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u64 ra, wire_u64 sp)
{
	wire_u64 word;
	int words;

	if (blob_is_interpreter(c, ra))
		return true;
	words = compiled_size_elsewhere(c, memory, ra, sp);
	if (compiled_give_back_blob(c, memory))
		return false;
	if (words <= 0)
		return !words;
	return !cursor_load(c, memory, sp + 8ULL * (wire_u32)words - 8, &word) &&
	       blob_owns(c, word);
}

#ifdef __bpf__

UNWIND_ALONE(bool, compiled_checks_out, (struct unwind_cursor * c, wire_u64 ra, wire_u64 sp), c,
	     (c, NULL, ra, sp), 0)

#define compiled_checks_out(c, memory, ra, sp) compiled_checks_out_alone(c, ra, sp)

#endif

#endif
