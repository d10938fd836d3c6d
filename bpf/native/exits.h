/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Code that was made while the program ran, without frame pointers, and of which nobody tells anything (PCRE2's, mono's): how
 * it returns says where its frame ends. That takes a look at hundreds of instructions, and is left to userspace; what is found
 * there must lead to a word behind a call in code.
 */
#ifndef HOSTPROF_BPF_NATIVE_EXITS_H
#define HOSTPROF_BPF_NATIVE_EXITS_H

#include "native/leaf_call.h"
#include "unwind/find.h"

#ifdef __bpf__

/* c->reason stays what it is, if nobody can go on. */
static inline enum unwind_verdict exits_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	(void)memory;
	c->missed = 1;
	return UNWIND_STOP;
}

#else

#define EXITS_MOST   8
/* Pieces of code that jump to one another, farther than is looked at once. */
#define EXITS_PIECES 4

/* A place of an exit's register: it is as it was. */
#define EXITS_KEPT   INT32_MIN

/* How code is left; all places are counted from the stack pointer. */
struct unwind_exit {
	uint64_t jump;		    /* to there; 0: it returns */
	int32_t sp;		    /* the stack pointer then */
	int32_t rbx, rbp, r13, r15; /* of the caller's; or EXITS_KEPT */
};

/* Nothing has been done yet, and it goes on at JUMP. */
static inline struct unwind_exit exits_here(uint64_t jump)
{
	return (struct unwind_exit){ jump, 0, EXITS_KEPT, EXITS_KEPT, EXITS_KEPT, EXITS_KEPT };
}

/* Is RA in code? Uses c->range. */
static inline bool exits_is_code(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 ra)
{
	struct wire_rule rule;

	return find_elsewhere(c, memory, ra, 0, &rule) != UNWIND_OUTSIDE;
}

/* And is it behind a call? Uses c->code, too. */
static inline bool exits_lead_to(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 ra)
{
	return leaf_has_called(c, memory, ra) && exits_is_code(c, memory, ra);
}

static inline void exits_take(struct unwind_cursor *c, struct unwind_memory *memory, int32_t place,
			      wire_u64 *ret)
{
	wire_u64 word;

	if (place != EXITS_KEPT &&
	    !cursor_load(c, memory, c->sp + (wire_u64)(wire_s64)place, &word))
		*ret = word;
}

/* One way out of the frame, and where the caller's return address lies. */
struct exits_found {
	struct unwind_exit exit;
	wire_u64 sp, ra_at, ra;
};

struct exits_walk {
	struct unwind_exit pieces[EXITS_PIECES]; /* code that is gone on with */
	wire_u32 count;
	wire_u32 ways; /* that were found */
	struct exits_found found;
};

/* What FIRST did to registers and the stack pointer, and then NEXT. */
static inline struct unwind_exit exits_join(const struct unwind_exit *first,
					    const struct unwind_exit *next)
{
	const wire_s32 *from[] = { &next->rbx, &next->rbp, &next->r13, &next->r15 };
	struct unwind_exit joined = *first;
	wire_s32 *to[] = { &joined.rbx, &joined.rbp, &joined.r13, &joined.r15 };

	for (int i = 0; i < 4; i++)
		if (*from[i] != EXITS_KEPT)
			*to[i] = *from[i] + first->sp;
	joined.sp += next->sp;
	joined.jump = next->jump;
	return joined;
}

/* Does code in a file, with this stack pointer, have its return address where a row of it says? It stands in the frame that it was made for. */
static inline bool exits_reach_row(struct unwind_cursor *c, struct unwind_memory *memory,
				   const struct unwind_exit *exit, wire_u64 *ret_ra_at)
{
	struct wire_rule rule;

	if (find_elsewhere(c, memory, exit->jump, 1, &rule) != UNWIND_FOUND ||
	    rule.kind != WIRE_RULE_CFA || rule.cfa_reg != DWARF_RSP)
		return false;
	*ret_ra_at = c->sp + (wire_u64)((wire_s64)exit->sp + rule.cfa_offset) - 8;
	return true;
}

static inline void exits_try(struct unwind_cursor *c, struct unwind_memory *memory,
			     struct exits_walk *walk, const struct unwind_exit *exit)
{
	wire_u64 sp = c->sp + (wire_u64)(wire_s64)exit->sp, ra_at = sp, ra;

	if (exit->jump && !exits_reach_row(c, memory, exit, &ra_at)) {
		if (walk->count < EXITS_PIECES)
			walk->pieces[walk->count++] = *exit;
		return;
	}
	if (ra_at < c->sp || cursor_load(c, memory, ra_at, &ra) || !exits_lead_to(c, memory, ra))
		return;
	/* Ways that end in the same frame are one. */
	if (walk->ways && walk->found.ra_at == ra_at)
		return;
	walk->found = (struct exits_found){ *exit, sp, ra_at, ra };
	walk->ways++;
}

static inline void exits_look(struct unwind_cursor *c, struct unwind_memory *memory,
			      struct exits_walk *walk)
{
	struct unwind_exit exits[EXITS_MOST];

	for (wire_u32 piece = 0; piece < walk->count; piece++) {
		wire_u32 count = memory->exits(memory->data, walk->pieces[piece].jump, exits);

		for (wire_u32 i = 0; i < count; i++) {
			struct unwind_exit joined = exits_join(&walk->pieces[piece], &exits[i]);

			exits_try(c, memory, walk, &joined);
		}
	}
}

static inline enum unwind_verdict exits_leave(struct unwind_cursor *c, struct unwind_memory *memory,
					      const struct exits_found *found)
{
	wire_u64 fp = c->fp;

	exits_take(c, memory, found->exit.rbx, &c->rbx);
	exits_take(c, memory, found->exit.r13, &c->r13);
	exits_take(c, memory, found->exit.r15, &c->r15);
	exits_take(c, memory, found->exit.rbp, &fp);
	c->read_frames++;
	if (!found->exit.jump)
		return cursor_enter(c, found->ra, found->sp + 8, fp);
	/* In the same frame, in code that a row describes. */
	cursor_move(c, found->exit.jump, found->sp, fp);
	c->exact = 1;
	c->regs_kept = 0;
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict exits_step(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const wire_u8 reason = c->reason;
	struct exits_walk walk = { .pieces = { exits_here(c->pc) }, .count = 1 };

	if (memory->exits)
		exits_look(c, memory, &walk);
	/* None, or they contradict each other. */
	return walk.ways == 1 ? exits_leave(c, memory, &walk.found) : cursor_stop(c, reason);
}

#endif
#endif
