// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi_rule.h"

#include <dwarf.h>
#include <string.h>

/* Register numbers of the x86-64 psABI, 3.6.2 */
enum { RBX = 3, RBP = 6, RSP = 7, R13 = 13, R15 = 15, RETURN = 16, GENERAL_REGISTERS = 16 };

/* Where a register of the caller is. */
enum place_kind { PLACE_SAME, PLACE_UNDEFINED, PLACE_SLOT, PLACE_REGISTER, PLACE_OTHER };

struct place {
	enum place_kind kind;
	unsigned int number; /* the slot, or the register */
};

/* `breg N off` or `bregx N off` of a general register. */
static bool is_register_and_offset(const Dwarf_Op *op, uint8_t *ret_reg, int32_t *ret_offset)
{
	Dwarf_Word reg, offset;

	if (op->atom == DW_OP_bregx) {
		reg = op->number;
		offset = op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		reg = op->atom - DW_OP_breg0;
		offset = op->number;
	} else {
		return false;
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
	static const struct {
		uint8_t atom;
		Dwarf_Word number;
	} form[] = {
		{ DW_OP_breg7, 8 }, { DW_OP_breg16, 0 }, { DW_OP_lit15, 0 }, { DW_OP_and, 0 },
		{ 0, 0 },	    { DW_OP_ge, 0 },	 { DW_OP_lit3, 0 },  { DW_OP_shl, 0 },
		{ DW_OP_plus, 0 },
	};

	if (n != sizeof(form) / sizeof(form[0]))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (form[i].atom == 0) {
			if (ops[i].atom < DW_OP_lit0 || ops[i].atom > DW_OP_lit15)
				return false;
			*ret_limit = (int16_t)(ops[i].atom - DW_OP_lit0);
		} else if (ops[i].atom != form[i].atom ||
			   (i < 2 && ops[i].number != form[i].number)) {
			return false;
		}
	}
	return true;
}

/* `breg N off; deref [; plus_uconst M]`: code that realigns its stack keeps its CFA so. */
static bool is_deref(const Dwarf_Op *ops, size_t n, struct wire_rule *rule)
{
	if (n < 2 || n > 3 || ops[1].atom != DW_OP_deref ||
	    !is_register_and_offset(&ops[0], &rule->cfa_reg, &rule->cfa_offset))
		return false;
	if (n == 2)
		return true;
	if (ops[2].atom != DW_OP_plus_uconst || ops[2].number % 8 || ops[2].number / 8 > INT16_MAX)
		return false;
	rule->cfa_add = (int16_t)(ops[2].number / 8);
	return true;
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

static struct place place_by_ops(const Dwarf_Op *ops, size_t n)
{
	Dwarf_Sword offset;

	if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number < GENERAL_REGISTERS)
		return (struct place){ PLACE_REGISTER, (unsigned int)ops[0].number };
	if (n != 2 || ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst)
		return (struct place){ PLACE_OTHER, 0 };
	offset = (Dwarf_Sword)ops[1].number;
	if (offset >= 0 || offset < -8 * (Dwarf_Sword)UINT16_MAX || offset % 8)
		return (struct place){ PLACE_OTHER, 0 };
	return (struct place){ PLACE_SLOT, (unsigned int)(-offset / 8) };
}

static struct place place_of(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n) != 0)
		return (struct place){ PLACE_OTHER, 0 };
	if (n == 0)
		return (struct place){ ops ? PLACE_UNDEFINED : PLACE_SAME, 0 };
	return place_by_ops(ops, n);
}

static unsigned int slot_of(Dwarf_Frame *frame, int reg, unsigned int lost)
{
	struct place place = place_of(frame, reg);

	if (place.kind == PLACE_SAME ||
	    (place.kind == PLACE_REGISTER && place.number == (unsigned int)reg))
		return WIRE_SLOT_SAME;
	return place.kind == PLACE_SLOT && place.number < lost ? place.number : lost;
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
	rule.rbx_slot = (wire_u8)slot_of(frame, RBX, WIRE_SLOT_LOST);
	rule.rbp_slot = (wire_u16)slot_of(frame, RBP, WIRE_RBP_SLOT_LOST);
	rule.r13_slot = (wire_u8)slot_of(frame, R13, WIRE_SLOT_LOST);
	rule.r15_slot = (wire_u8)slot_of(frame, R15, WIRE_SLOT_LOST);
	return rule;
}
