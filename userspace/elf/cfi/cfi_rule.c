// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_rule.h"

#include <dwarf.h>
#include <string.h>

#include "base/macros.h"

/* Register numbers of the x86-64 psABI, 3.6.2 */
enum {
	RAX = 0,
	RDX = 1,
	RBX = 3,
	RBP = 6,
	RSP = 7,
	R13 = 13,
	R15 = 15,
	RETURN = 16,
	GENERAL_REGISTERS = 16
};

/* Where a register of the caller is. */
enum place_kind {
	PLACE_SAME,
	PLACE_UNDEFINED,
	PLACE_SLOT,	/* below the CFA */
	PLACE_HOME,	/* below a register + 16 */
	PLACE_REGISTER, /* in that register */
	PLACE_OTHER
};

struct place {
	enum place_kind kind;
	unsigned int number; /* the slot, or the register */
	uint8_t home;	     /* of PLACE_HOME */
};

/* `breg N off` or `bregx N off` of a general register. */
static bool is_register_and_offset(const Dwarf_Op *op, uint8_t *ret_reg, int32_t *ret_offset)
{
	Dwarf_Word reg, offset;

	if (op->atom == DW_OP_bregx) {
		reg = op->number;
		offset = op->number2;
	} else {
		/* of any other operation this is no register */
		reg = (Dwarf_Word)op->atom - DW_OP_breg0;
		offset = op->number;
	}
	if (reg >= GENERAL_REGISTERS || (Dwarf_Sword)offset != (int32_t)offset)
		return false;
	*ret_reg = (uint8_t)reg;
	*ret_offset = (int32_t)offset;
	return true;
}

/*
 * What binutils writes for a PLT entry (bfd/elfxx-x86.c): the entry's push moves %rsp by 8 in the
 * middle of its 16 bytes, in the LIMIT-th of them: rsp + 8 + ((rip & 15) >= LIMIT) * 8.
 */
static bool is_plt(const Dwarf_Op *ops, size_t n, int16_t *ret_limit)
{
	/* 0: the limit */
	static const uint8_t form[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	DW_OP_plus };

	if (n != ARRAY_SIZE(form) || ops[0].number != 8 || ops[1].number != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (form[i] == 0) {
			if (ops[i].atom < DW_OP_lit0 || ops[i].atom > DW_OP_lit15)
				return false;
			*ret_limit = (int16_t)(ops[i].atom - DW_OP_lit0);
		} else if (ops[i].atom != form[i]) {
			return false;
		}
	}
	return true;
}

/* `plus_uconst M`; `litM; plus` */
static bool is_sum(const Dwarf_Op *ops, size_t n, uint64_t *ret)
{
	if (n == 1 && ops[0].atom == DW_OP_plus_uconst)
		*ret = ops[0].number;
	else if (n == 2 && ops[0].atom >= DW_OP_lit0 && ops[0].atom <= DW_OP_lit31 &&
		 ops[1].atom == DW_OP_plus)
		*ret = ops[0].atom - DW_OP_lit0;
	else
		return false;
	return true;
}

/* `breg N off; deref [; plus_uconst M]`; SBCL's call_into_lisp has `litM; plus` in place of the last. */
static bool is_plain_deref(const Dwarf_Op *ops, size_t n, struct wire_rule *rule)
{
	uint64_t sum;

	if (n < 2 || ops[1].atom != DW_OP_deref ||
	    !is_register_and_offset(&ops[0], &rule->cfa_reg, &rule->cfa_offset))
		return false;
	if (n == 2)
		return true;
	if (!is_sum(ops + 2, n - 2, &sum) || sum % 8 || sum / 8 > INT16_MAX)
		return false;
	rule->cfa_add = (int16_t)(sum / 8);
	return true;
}

/* `breg I 0; lit8; mul; plus`: OpenSSL's bn_mul_mont keeps its CFA behind an array on the stack. */
static bool is_index(const Dwarf_Op *ops, uint8_t *ret_reg)
{
	int32_t offset;

	return is_register_and_offset(&ops[0], ret_reg, &offset) && *ret_reg && offset == 0 &&
	       ops[1].atom == DW_OP_lit8 && ops[2].atom == DW_OP_mul && ops[3].atom == DW_OP_plus;
}

/* `breg N off [index]; deref [; plus_uconst M]`: code that realigns its stack keeps its CFA so. */
static bool is_deref(const Dwarf_Op *ops, size_t n, struct wire_rule *rule)
{
	const size_t index_ops = 4;

	if (n >= index_ops + 2 && is_index(&ops[1], &rule->cfa_index)) {
		Dwarf_Op plain[3] = { ops[0], ops[5], { 0 } };

		if (n > index_ops + ARRAY_SIZE(plain))
			return false;
		if (n == index_ops + ARRAY_SIZE(plain))
			plain[2] = ops[6];
		return is_plain_deref(plain, n - index_ops, rule);
	}
	return is_plain_deref(ops, n, rule);
}

static enum wire_rule_kind cfa_of(Dwarf_Frame *frame, struct wire_rule *rule)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0)
		return WIRE_RULE_BAD;
	if (n == 1 && is_register_and_offset(&ops[0], &rule->cfa_reg, &rule->cfa_offset))
		return WIRE_RULE_CFA;
	if (is_deref(ops, n, rule))
		return WIRE_RULE_DEREF;
	if (is_plt(ops, n, &rule->cfa_add)) {
		rule->cfa_reg = RSP;
		rule->cfa_offset = 8;
		return WIRE_RULE_PLT;
	}
	return WIRE_RULE_BAD;
}

static const struct place other_place = { PLACE_OTHER, 0, 0 };

static struct place slot_below(int64_t offset, enum place_kind kind, uint8_t home)
{
	if (offset >= 0 || offset < -8 * (int64_t)UINT16_MAX || offset % 8)
		return other_place;
	return (struct place){ kind, (unsigned int)(-offset / 8), home };
}

/* libdw puts the CFA in front of an expression, as DWARF 5, 6.4.2 has it on the stack. */
static struct place place_by_ops(const Dwarf_Op *ops, size_t n)
{
	int32_t offset;
	uint8_t reg;

	if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number < GENERAL_REGISTERS)
		return (struct place){ PLACE_REGISTER, (unsigned int)ops[0].number, 0 };
	if (n != 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return other_place;
	if (is_register_and_offset(&ops[1], &reg, &offset) && reg)
		return slot_below((int64_t)offset - 16, PLACE_HOME, reg);
	if (ops[1].atom != DW_OP_plus_uconst)
		return other_place;
	return slot_below((Dwarf_Sword)ops[1].number, PLACE_SLOT, 0);
}

static struct place place_of(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n) != 0)
		return other_place;
	if (n == 0)
		return (struct place){ ops ? PLACE_UNDEFINED : PLACE_SAME, 0, 0 };
	return place_by_ops(ops, n);
}

static unsigned int slot_of(Dwarf_Frame *frame, int reg, const struct wire_rule *rule,
			    unsigned int lost)
{
	const enum place_kind expected = rule->home_reg ? PLACE_HOME : PLACE_SLOT;
	struct place place = place_of(frame, reg);

	if (place.kind == PLACE_SAME ||
	    (place.kind == PLACE_REGISTER && place.number == (unsigned int)reg))
		return WIRE_SLOT_SAME;
	if (place.kind != expected || place.home != rule->home_reg)
		return lost;
	return place.number < lost ? place.number : lost;
}

/* Code that realigns its stack saves all registers below %rbp, which it saves first. */
static void saved_registers(Dwarf_Frame *frame, struct wire_rule *rule)
{
	struct place rbp = place_of(frame, RBP);

	if (rbp.kind == PLACE_HOME)
		rule->home_reg = rbp.home;
	rule->rbx_slot = (wire_u8)slot_of(frame, RBX, rule, WIRE_SLOT_LOST);
	rule->rbp_slot = (wire_u16)slot_of(frame, RBP, rule, WIRE_RBP_SLOT_LOST);
	rule->r13_slot = (wire_u8)slot_of(frame, R13, rule, WIRE_SLOT_LOST);
	rule->r15_slot = (wire_u8)slot_of(frame, R15, rule, WIRE_SLOT_LOST);
}

/*
 * __builtin_eh_return() saves the two registers in which the handler is told what was thrown (EH_RETURN_DATA_REGNO), which no other call
 * keeps. Its last instructions have %rbp back, and count from another register; who returns as ever has it saved until then.
 */
static bool lands(Dwarf_Frame *frame, const struct wire_rule *rule)
{
	return rule->kind == WIRE_RULE_CFA &&
	       (rule->cfa_reg == RBP) != (rule->rbp_slot == WIRE_SLOT_SAME) &&
	       place_of(frame, RAX).kind == PLACE_SLOT && place_of(frame, RDX).kind == PLACE_SLOT;
}

static struct wire_rule plain(enum wire_rule_kind kind)
{
	return (struct wire_rule){ .kind = (wire_u8)kind };
}

struct wire_rule cfi_rule(Dwarf_Frame *frame, bool signal)
{
	struct wire_rule rule = { 0 };
	struct place ra;

	if (signal)
		return plain(WIRE_RULE_SIGNAL);
	ra = place_of(frame, RETURN);
	if (ra.kind == PLACE_UNDEFINED)
		return plain(WIRE_RULE_END);
	if (ra.kind == PLACE_SLOT && ra.number < WIRE_RA_REGISTER)
		rule.ra_slot = (wire_u8)ra.number;
	else if (ra.kind == PLACE_REGISTER)
		rule.ra_slot = (wire_u8)(WIRE_RA_REGISTER | ra.number);
	else
		return plain(WIRE_RULE_BAD);
	rule.kind = (wire_u8)cfa_of(frame, &rule);
	if (rule.kind == WIRE_RULE_BAD)
		return plain(WIRE_RULE_BAD);
	saved_registers(frame, &rule);
	if (lands(frame, &rule))
		rule.cfa_index |= WIRE_LANDS;
	return rule;
}
