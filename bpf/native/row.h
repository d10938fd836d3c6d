/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The row step: the caller as the file's call frame information describes it. */
#ifndef HOSTPROF_BPF_NATIVE_ROW_H
#define HOSTPROF_BPF_NATIVE_ROW_H

#include "native/landing.h"

/*
 * A register's value in this frame. By the ABI callees keep only some. Assembly with conventions of
 * its own keeps others where it needs them (OpenSSL's bn_power5, x86_64-mont5.pl, has its CFA in
 * %rax while it calls): they are what they were in the leaf. Not so %r12 and %r14, which any callee
 * may have saved and used; rules don't say where.
 */
static inline enum unwind_verdict row_register(struct unwind_cursor *c, wire_u8 reg,
					       wire_u64 *ret_value)
{
	switch (reg) {
	case DWARF_RSP: *ret_value = c->sp; return UNWIND_GO_ON;
	case DWARF_RBP: *ret_value = c->fp; return UNWIND_GO_ON;
	case DWARF_RBX: *ret_value = c->rbx; return UNWIND_GO_ON;
	case DWARF_R13: *ret_value = c->r13; return UNWIND_GO_ON;
	case DWARF_R15: *ret_value = c->r15; return UNWIND_GO_ON;
	default: break;
	}
	if (!c->regs_kept || (!c->leaf && (reg == DWARF_R12 || reg == DWARF_R14)))
		return cursor_stop(c, UNWIND_BAD_ROW);
	*ret_value = c->leaf_regs[reg & 15];
	return UNWIND_GO_ON;
}

/* The address of the word that holds the CFA of a WIRE_RULE_DEREF. */
static inline enum unwind_verdict row_index(struct unwind_cursor *c, const struct wire_rule *rule,
					    wire_u64 *base)
{
	wire_u8 reg = rule->cfa_index & WIRE_INDEX_REGISTER;
	wire_u64 index;

	if (!reg)
		return UNWIND_GO_ON;
	if (row_register(c, reg, &index))
		return UNWIND_STOP;
	*base += 8 * index;
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict row_cfa(struct unwind_cursor *c, struct unwind_memory *memory,
					  const struct wire_rule *rule, wire_u64 *ret_cfa)
{
	wire_u64 base;

	if (row_register(c, rule->cfa_reg, &base))
		return UNWIND_STOP;
	base += (wire_u64)(wire_s64)rule->cfa_offset;
	if (rule->kind == WIRE_RULE_DEREF) {
		if (row_index(c, rule, &base) || cursor_load(c, memory, base, &base))
			return UNWIND_STOP;
		base += (wire_u64)((wire_s64)rule->cfa_add * 8);
	} else if (rule->kind == WIRE_RULE_PLT && (wire_s64)(c->pc & 15) >= rule->cfa_add) {
		base += 8;
	}
	if ((base & 7) || !cursor_is_user(base))
		return cursor_stop(c, UNWIND_BAD_ROW);
	*ret_cfa = base;
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict row_return_address(struct unwind_cursor *c,
						     struct unwind_memory *memory,
						     const struct wire_rule *rule, wire_u64 cfa,
						     wire_u64 *ret_pc)
{
	if (rule->ra_slot & WIRE_RA_REGISTER)
		return row_register(c, rule->ra_slot & 15, ret_pc);
	return cursor_load(c, memory, cfa - 8ULL * rule->ra_slot, ret_pc);
}

/* What the slots of the saved registers count from. */
static inline enum unwind_verdict row_home(struct unwind_cursor *c, const struct wire_rule *rule,
					   wire_u64 cfa, wire_u64 *ret_home)
{
	*ret_home = cfa;
	if (!rule->home_reg)
		return UNWIND_GO_ON;
	if (row_register(c, rule->home_reg, ret_home))
		return UNWIND_STOP;
	*ret_home += 16;
	return UNWIND_GO_ON;
}

/*
 * gcc says nothing of the end of code that realigned its stack: behind pop %r10; pop %rbp registers
 * would still be counted from %rbp, which is the caller's already and lies in no place of this frame.
 */
static inline bool row_has_popped(const struct unwind_cursor *c, const struct wire_rule *rule,
				  wire_u64 cfa, wire_u64 home)
{
	return rule->home_reg && rule->kind == WIRE_RULE_CFA && home - 16 - c->sp >= cfa - c->sp;
}

static inline enum unwind_verdict row_restore(struct unwind_cursor *c, struct unwind_memory *memory,
					      wire_u64 cfa, wire_u32 slot, wire_u64 *value)
{
	if (slot == WIRE_SLOT_SAME)
		return UNWIND_GO_ON;
	return cursor_load(c, memory, cfa - 8ULL * slot, value);
}

static inline enum unwind_verdict row_restore_byte(struct unwind_cursor *c,
						   struct unwind_memory *memory, wire_u64 cfa,
						   wire_u8 slot, wire_u64 *value)
{
	if (slot != WIRE_SLOT_LOST)
		return row_restore(c, memory, cfa, slot, value);
	*value = 0;
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict row_restore_all(struct unwind_cursor *c,
						  struct unwind_memory *memory,
						  const struct wire_rule *rule, wire_u64 home)
{
	if (rule->rbp_slot == WIRE_RBP_SLOT_LOST)
		c->fp = 1; /* no frame pointer */
	else if (row_restore(c, memory, home, rule->rbp_slot, &c->fp))
		return UNWIND_STOP;
	if (row_restore_byte(c, memory, home, rule->rbx_slot, &c->rbx) ||
	    row_restore_byte(c, memory, home, rule->r13_slot, &c->r13) ||
	    row_restore_byte(c, memory, home, rule->r15_slot, &c->r15))
		return UNWIND_STOP;
	return UNWIND_GO_ON;
}

/*
 * Who was not called has 0 for a return address; so may the words of a stack be where the walk has lost its way, or those that the
 * thread itself has no use for: Haskell's code, of which rows are inferred, never returns.
 */
static inline bool row_is_first(const struct unwind_cursor *c, const struct wire_rule *rule)
{
	return !c->guessed && !(c->leaf && (rule->cfa_index & WIRE_INFERRED));
}

static inline enum unwind_verdict row_step(struct unwind_cursor *c, struct unwind_memory *memory,
					   const struct wire_rule *rule)
{
	wire_u64 cfa, home, pc, sp = c->sp;
	int leaf = c->leaf;

	if (row_cfa(c, memory, rule, &cfa) || row_home(c, rule, cfa, &home) ||
	    row_return_address(c, memory, rule, cfa, &pc))
		return UNWIND_STOP;
	if (pc == 0)
		return cursor_stop(c, row_is_first(c, rule) ? UNWIND_DONE : UNWIND_NO_START);
	if (!cursor_is_user(pc))
		return cursor_stop(c, UNWIND_BAD_RETURN);
	/* Stacks grow down; only a leaf can have its return address in a register and no frame. */
	if (cfa < sp || (cfa == sp && !leaf))
		return cursor_stop(c, UNWIND_BAD_ROW);
	if (landing_may_be(rule) && landing_is_set(c, memory, pc) &&
	    landing_find(c, memory, pc, &cfa))
		return UNWIND_STOP;
	if (!row_has_popped(c, rule, cfa, home) && row_restore_all(c, memory, rule, home))
		return UNWIND_STOP;
	cursor_move(c, pc, cfa, c->fp);
	c->exact = landing_is_at_end(rule);
	c->linked = 1;
	c->row_frames++;
	c->inferred_frames += rule->cfa_index / WIRE_INFERRED;
	return UNWIND_GO_ON;
}

#endif
