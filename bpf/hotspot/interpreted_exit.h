/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf where the template interpreter has removed an activation (remove_activation() in
 * cpu/x86/interp_masm_x86.cpp): leave; pop %reg; mov %rbx,%rsp; [pop_cont_fastpath()]; jmp *%reg.
 * On-stack replacement goes the same way (TemplateTable::branch()).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_INTERPRETED_EXIT_H
#define HOSTPROF_BPF_HOTSPOT_INTERPRETED_EXIT_H

#include "hotspot/compiled_leaf.h"

enum interpreted_state {
	INTERPRETED_STANDS,  /* the frame's slots hold */
	INTERPRETED_UNBUILT, /* c->interpreted is filled from registers */
	INTERPRETED_GONE,    /* the same, and no method any more */
	INTERPRETED_LOST,    /* c->reason says why */
};

/* Locals are pushed above the return address's place: 65,535 words would fit, few are used. */
#define INTERPRETED_MAX_LOCALS (64U << 10)

/* The `leave` and the jump are this far apart: the pop, the move, a compare, a branch and a store. */
#define INTERPRETED_EXIT_BYTES 40

/* --- instructions ------------------------------------------------------------------------------ */

/* pop %reg at P: its length, 0: it is none. *ret_reg is the register's number in instructions. */
static inline wire_u32 interpreted_pop(const wire_u8 *p, wire_u32 *ret_reg)
{
	wire_u32 rex = p[0] == 0x41;

	*ret_reg = (p[rex] & 7) | rex << 3;
	return (p[rex] & 0xf8) == 0x58 ? 1 + rex : 0;
}

/* mov %reg,%rsp: 48 8b e0+r, 49 8b e0+r. */
static inline bool interpreted_sets_sp(const wire_u8 *p, wire_u32 *ret_reg)
{
	*ret_reg = (p[2] & 7) | (wire_u32)(p[0] & 1) << 3;
	return (p[0] & 0xfe) == 0x48 && p[1] == 0x8b && (p[2] & 0xf8) == 0xe0;
}

/* jmp *%reg; of on-stack replacement, jmp *d(%reg). */
static inline bool interpreted_jumps(const wire_u8 *p)
{
	if (p[0] == 0x41)
		p++;
	return p[0] == 0xff && (p[1] & 0x38) == 0x20;
}

/* add $8,%rsp: 48 83 c4 08 */
#define INTERPRETED_UNALIGN 0x08c48348

/*
 * Where no frame is, sp is aligned by a word for a call, which is taken off again behind it
 * (MacroAssembler::call_VM_leaf_base() in macroAssembler_x86.cpp). P is where the call returns.
 */
static inline wire_u32 interpreted_alignment(const wire_u8 *p)
{
	return leaf_u32(p) == INTERPRETED_UNALIGN ? 8 : 0;
}

/* A register by its number in instructions. */
static inline wire_u64 interpreted_register(const struct unwind_cursor *c, wire_u32 reg)
{
	switch (reg & 15) {
	case 1: return c->leaf_regs[DWARF_RCX];
	case 2: return c->leaf_regs[DWARF_RDX];
	case 4: return c->leaf_regs[DWARF_RSP];
	case 5: return c->leaf_regs[DWARF_RBP];
	case 6: return c->leaf_regs[DWARF_RSI];
	case 7: return c->leaf_regs[DWARF_RDI];
	default: UNWIND_OPAQUE(reg); return c->leaf_regs[reg & 15];
	}
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, interpreted_register, (struct unwind_cursor * c, wire_u32 reg), c, (c, reg),
	     0)

#define interpreted_register(c, reg) interpreted_register_alone(c, reg)

#endif

/*
 * Entries without a frame end with pop %reg; mov %r13,%rsp; jmp *%reg. Behind the pop: the register
 * holds the return address.
 */
static inline bool interpreted_popped(const wire_u8 *p, wire_u32 *ret_reg)
{
	const wire_u8 *pop = p - 1;

	if (leaf_u24(p) != 0xe58b49) {
		if (leaf_u24(p - 3) != 0xe58b49)
			return false;
		pop = p - 4;
	}
	*ret_reg = pop[0] & 7;
	return (pop[0] & 0xf8) == 0x58;
}

/* --- the sequence ------------------------------------------------------------------------------ */

/* What follows the `leave` that removes an activation. */
struct interpreted_exit {
	wire_u32 pop;	 /* offset of the pop */
	wire_u32 set_sp; /* of the instruction behind it, mov %reg,%rsp */
	wire_u32 ra_reg, sp_reg;
};

/* movb $0,flag(%r15): leave_jfr_critical_section() of JDK 25 and later. Its length, or 0. */
static inline wire_u32 interpreted_flag(const wire_u8 *p)
{
	if (leaf_u24(p) == 0x87c641)
		return 8;
	return leaf_u24(p) == 0x47c641 ? 5 : 0;
}

/* Is a `leave` right before P, and what follows it removes an activation? */
static inline bool interpreted_leaves(const wire_u8 *p, struct interpreted_exit *ret_exit)
{
	wire_u32 len;

	if (p[-1] != COMPILED_LEAVE)
		return false;
	ret_exit->pop = interpreted_flag(p);
	len = interpreted_pop(p + ret_exit->pop, &ret_exit->ra_reg);
	ret_exit->set_sp = ret_exit->pop + len;
	return len && interpreted_sets_sp(p + ret_exit->set_sp, &ret_exit->sp_reg);
}

/* PASSED bytes behind the `leave`. */
static inline enum interpreted_state interpreted_take_exit(struct unwind_cursor *c,
							   struct unwind_memory *memory,
							   const struct interpreted_exit *exit,
							   wire_u32 passed)
{
	struct interpreted_frame *frame = &c->interpreted;

	frame->fp = c->fp;
	frame->sender_sp = interpreted_register(c, exit->sp_reg);
	/* Method handle adapters have taken words off it. */
	if (frame->sender_sp < c->sp)
		frame->sender_sp = c->sp;
	if (passed < exit->set_sp)
		return cursor_load(c, memory, c->sp, &frame->ra) ? INTERPRETED_LOST
								 : INTERPRETED_GONE;
	frame->ra = interpreted_register(c, exit->ra_reg);
	return INTERPRETED_GONE;
}

enum interpreted_mark { INTERPRETED_NO_MARK, INTERPRETED_LEAVE, INTERPRETED_JUMP };

/* What is at c->text + AT: right behind a `leave` that removes an activation, or a jump. */
static inline enum interpreted_mark interpreted_mark(const struct unwind_cursor *c, wire_u32 at)
{
	struct interpreted_exit exit = {};

	if (interpreted_leaves(c->text + at, &exit))
		return INTERPRETED_LEAVE;
	return interpreted_jumps(c->text + at) ? INTERPRETED_JUMP : INTERPRETED_NO_MARK;
}

#ifdef __bpf__

UNWIND_ALONE_AT(enum interpreted_mark, interpreted_mark, 1, UNWIND_TEXT_BEHIND + 1,
		INTERPRETED_NO_MARK)

#define interpreted_mark(c, at) interpreted_mark_alone(c, at)

#endif

#define INTERPRETED_NO_EXIT 0xff

struct interpreted_exit_search {
	struct unwind_cursor *c;
	wire_u32 passed; /* bytes behind it */
};

static long interpreted_exit_turn(wire_u32 turn, struct interpreted_exit_search *search)
{
	int mark = interpreted_mark(search->c, UNWIND_TEXT_BEHIND - turn);

	if (mark == INTERPRETED_LEAVE)
		search->passed = turn;
	return mark == INTERPRETED_LEAVE || (mark == INTERPRETED_JUMP && turn >= 2);
}

/* How many bytes behind such a `leave` pc is, with no jump between: that would end the sequence. */
static inline wire_u32 interpreted_find_exit(struct unwind_cursor *c)
{
	struct interpreted_exit_search search = { .c = c, .passed = INTERPRETED_NO_EXIT };

	unwind_loop(INTERPRETED_EXIT_BYTES, interpreted_exit_turn, &search);
	return search.passed;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, interpreted_find_exit, (struct unwind_cursor * c), c, (c),
	     INTERPRETED_NO_EXIT)

#define interpreted_find_exit(c) interpreted_find_exit_alone(c)

#endif

static inline enum interpreted_state interpreted_removed(struct unwind_cursor *c,
							 struct unwind_memory *memory)
{
	wire_u32 passed = interpreted_find_exit(c), at = UNWIND_TEXT_BEHIND - passed;
	struct interpreted_exit exit = {};

	UNWIND_OPAQUE(at);
	if (at == 0 || at > UNWIND_TEXT_BEHIND)
		return INTERPRETED_STANDS;
	interpreted_leaves(c->text + at, &exit);
	return interpreted_take_exit(c, memory, &exit, passed);
}

#endif
