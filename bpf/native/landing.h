/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Who throws goes on in a frame farther up: libgcc's _Unwind_RaiseException(), _Unwind_Resume() and their like. Before they do, they
 * copy what the callees of that frame have saved of its registers over what they have saved themselves, the address at which it was
 * left included (uw_install_context_1() in libgcc/unwind-dw2.c), and only their last instructions move the stack pointer
 * (__builtin_eh_return()). In between the call frame information leads to the right caller, but to a wrong place of its frame. The
 * right one begins behind the word that was copied. Looking for that is left to userspace.
 */
#ifndef HOSTPROF_BPF_NATIVE_LANDING_H
#define HOSTPROF_BPF_NATIVE_LANDING_H

#include "native/leaf_call.h"

/* These functions lie next to one another, and one may jump to another. */
#define LANDING_REACH 16384
/* Of the stack that is thrown away. */
#define LANDING_MOST_WORDS 65536

/* In the function's body it may be as above; its last instructions know the frame, and what they go to is no return address. */
static inline bool landing_is_at_end(const struct wire_rule *rule)
{
	return (rule->cfa_index & WIRE_LANDS) && rule->cfa_reg != DWARF_RBP;
}

static inline bool landing_may_be(const struct wire_rule *rule)
{
	return (rule->cfa_index & WIRE_LANDS) && rule->cfa_reg == DWARF_RBP;
}

/* The call in front of RA, by which pc's function would have been entered, leads elsewhere. Uses c->code. */
static inline bool landing_is_set(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 ra)
{
	wire_u64 target = leaf_call_leads(c, memory, ra);

	return target && c->pc - target + LANDING_REACH > 2 * LANDING_REACH;
}

#ifdef __bpf__

UNWIND_ALONE(int, landing_is_set, (struct unwind_cursor * c, wire_u64 ra), c, (c, NULL, ra), 0)

#define landing_is_set(c, memory, ra) (landing_is_set_alone(c, ra) & 1)

static inline enum unwind_verdict landing_find(struct unwind_cursor *c,
					       struct unwind_memory *memory, wire_u64 ra,
					       wire_u64 *cfa)
{
	(void)memory, (void)ra, (void)cfa;
	c->missed = 1;
	return cursor_stop(c, UNWIND_NO_ROWS);
}

#else

/*
 * The last instructions put the handler's address in the word's place: how far up that is they have in %rcx, or where it is
 * (EH_RETURN_STACKADJ_RTX in gcc/config/i386/i386.h). 0: it is neither.
 */
static inline wire_u64 landing_by_register(const struct unwind_cursor *c, wire_u64 cfa)
{
	wire_u64 rcx = c->leaf_regs[DWARF_RCX], most = 8ULL * LANDING_MOST_WORDS;

	if (!c->leaf || !c->regs_kept || (rcx & 7))
		return 0;
	if (rcx < most)
		return cfa + rcx;
	return rcx + 8 - cfa < most ? rcx + 8 : 0;
}

/* *CFA: where the caller's frame would begin, and does then. It stays where nothing says otherwise: no frame is thrown away. */
static inline enum unwind_verdict landing_find(struct unwind_cursor *c,
					       struct unwind_memory *memory, wire_u64 ra,
					       wire_u64 *cfa)
{
	wire_u64 at = *cfa, end = at + 8ULL * LANDING_MOST_WORDS, word = 0;

	while (at < end && !memory_read_stack(memory, &word, 8, at) && word != ra)
		at += 8;
	if (word == ra)
		at += 8;
	else
		at = landing_by_register(c, *cfa);
	if (at)
		*cfa = at;
	return UNWIND_GO_ON;
}

#endif
#endif
