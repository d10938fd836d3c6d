// SPDX-License-Identifier: Apache-2.0
/* Which instructions libdw may be given, by their bytes; and what it makes of places that can be said or not. */
#include "test.h"

#include "cfi_frames.h"
#include "elf/cfi/cfi_program.h"

static bool is_sound(const void *program, size_t len, uint32_t *ret_cost)
{
	return cfi_program_is_sound(program, len, ret_cost);
}

/* Each instruction with its operands: one byte less is cut, and behind it comes the next one. */
static void operands_of_every_instruction(void **state)
{
	static const struct {
		uint8_t code, len; /* without its code */
	} rows[] = {
		{ DW_CFA_nop, 0 },
		{ DW_CFA_advance_loc | 0x3f, 0 },
		{ DW_CFA_offset | 0x3f, 1 },
		{ DW_CFA_restore | 0x3f, 0 },
		{ DW_CFA_advance_loc1, 1 },
		{ DW_CFA_advance_loc2, 2 },
		{ DW_CFA_advance_loc4, 4 },
		{ DW_CFA_offset_extended, 2 },
		{ DW_CFA_restore_extended, 1 },
		{ DW_CFA_undefined, 1 },
		{ DW_CFA_same_value, 1 },
		{ DW_CFA_register, 2 },
		{ DW_CFA_remember_state, 0 },
		{ DW_CFA_def_cfa, 2 },
		{ DW_CFA_def_cfa_register, 1 },
		{ DW_CFA_def_cfa_offset, 1 },
		{ DW_CFA_offset_extended_sf, 2 },
		{ DW_CFA_def_cfa_sf, 2 },
		{ DW_CFA_def_cfa_offset_sf, 1 },
		{ DW_CFA_val_offset, 2 },
		{ DW_CFA_val_offset_sf, 2 },
		{ DW_CFA_GNU_args_size, 1 },
	};

	uint32_t cost;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t program[8] = { rows[i].code };

		memset(program + 1, 5, rows[i].len);
		program[1 + rows[i].len] = 0x3f; /* no instruction */
		assert_true(is_sound(program, 1U + rows[i].len, &cost));
		assert_int_equal(cost, 1U + rows[i].len +
					       (rows[i].code == DW_CFA_remember_state ? 16 : 0));
		assert_false(is_sound(program, 2U + rows[i].len, &cost));
		if (rows[i].len)
			assert_false(is_sound(program, rows[i].len, &cost));
	}
	assert_true(is_sound("", 0, &cost));
	assert_int_equal(cost, 0);
}

/* What nobody emits, and what is beyond the table. */
static void instructions_that_are_refused(void **state)
{
	static const uint8_t codes[] = { DW_CFA_set_loc, 0x17, 0x1c, 0x2d, 0x2f, 0x3a, 0x3f };
	uint32_t cost;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		const uint8_t program[] = { codes[i], 1, 1, 1, 1, 1, 1, 1, 1 };

		assert_false(is_sound(program, sizeof(program), &cost));
	}
}

/* Registers up to 127, expressions up to 512 bytes: both operands are looked at. */
static void operands_of_any_size(void **state)
{
	static uint8_t program[600];
	uint32_t cost;

	(void)state;
	assert_true(is_sound("\x07\x7f", 2, &cost));
	assert_false(is_sound("\x07\x80\x01", 3, &cost));
	assert_true(is_sound("\x09\x01\x7f", 3, &cost));
	assert_false(is_sound("\x09\x01\x80\x01", 4, &cost));
	/* a number may be anything */
	assert_true(is_sound("\x0e\xff\xff\x03", 4, &cost));
	program[0] = DW_CFA_def_cfa_expression;
	program[1] = 0x80;
	program[2] = 4;
	assert_true(is_sound(program, 3 + 512, &cost));
	assert_false(is_sound(program, 3 + 511, &cost));
	program[1] = 0x81;
	assert_false(is_sound(program, 3 + 513, &cost));
	for (int i = 0; i < 2; i++) {
		program[0] = i ? DW_CFA_expression : DW_CFA_val_expression;
		program[1] = 3;
		program[2] = 2;
		assert_true(is_sound(program, 5, &cost));
		assert_false(is_sound(program, 4, &cost));
		program[1] = 0x80;
		assert_false(is_sound(program, 5, &cost));
	}
}

/* So many states are remembered as are given back, 32 at once. */
static void remembered_states(void **state)
{
	uint8_t program[66];
	uint32_t cost;

	(void)state;
	memset(program, DW_CFA_remember_state, sizeof(program));
	assert_true(is_sound(program, 32, &cost));
	assert_int_equal(cost, 32 * 17);
	assert_false(is_sound(program, 33, &cost));
	for (size_t i = 1; i < sizeof(program); i += 2)
		program[i] = DW_CFA_restore_state;
	assert_true(is_sound(program, sizeof(program), &cost));
	program[2] = DW_CFA_restore_state;
	assert_false(is_sound(program, 3, &cost));
}

/* --- rules of what libdw found --- */

static int kind_of(const uint8_t *program, size_t len)
{
	return frames_single(program, len, 0x20).kind;
}

/* As __builtin_eh_return() saves its data registers: in its body, and when %rbp is its caller's again. */
static void functions_that_land(void **state)
{
#define SAVED(first, second) DW_CFA_offset | (first), 9, DW_CFA_offset | (second), 8
#define BODY(reg, first, second)                                                      \
	PROGRAM(DW_CFA_def_cfa, reg, 16, DW_CFA_offset | 16, 1, DW_CFA_offset | 6, 2, \
		SAVED(first, second))
#define END(reg) PROGRAM(DW_CFA_def_cfa, reg, 8, DW_CFA_offset | 16, 1, SAVED(DWARF_RAX, DWARF_RDX))
	struct wire_rule rule = frames_single(BODY(DWARF_RBP, DWARF_RAX, DWARF_RDX), 0x20);

	(void)state;
	assert_int_equal(rule.cfa_index, WIRE_LANDS);
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(frames_single(BODY(DWARF_RBP, DWARF_RAX, DWARF_RCX), 0x20).cfa_index, 0);
	assert_int_equal(frames_single(BODY(DWARF_RBP, DWARF_RCX, DWARF_RDX), 0x20).cfa_index, 0);
	assert_int_equal(frames_single(BODY(DWARF_RSP, DWARF_RAX, DWARF_RDX), 0x20).cfa_index, 0);
	assert_int_equal(frames_single(END(DWARF_RCX), 0x20).cfa_index, WIRE_LANDS);
	assert_int_equal(frames_single(END(DWARF_RSP), 0x20).cfa_index, WIRE_LANDS);
	assert_int_equal(frames_single(END(DWARF_RBP), 0x20).cfa_index, 0);
}

/* Any general register and offset, by both operations; nothing else and nothing behind it. */
static void cfas_by_expression(void **state)
{
	struct wire_rule rule;

	(void)state;
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 2, DW_OP_breg15, 0x10), 0x20);
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_true(rule.cfa_reg == DWARF_R15 && rule.cfa_offset == 16);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 0, 0x70), 0x20);
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_true(rule.cfa_reg == DWARF_RAX && rule.cfa_offset == -16);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 15, 0), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.cfa_reg == DWARF_R15);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 2, DW_OP_breg0, 8), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.cfa_reg == DWARF_RAX &&
		    rule.cfa_offset == 8);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 2, DW_OP_breg31, 0)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 1, DW_OP_reg31)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 16, 0)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 2, DW_OP_breg16, 0)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 1, DW_OP_lit0)), WIRE_RULE_BAD);
	assert_int_equal(
		kind_of(PROGRAM(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 8, DW_OP_breg7, 8)),
		WIRE_RULE_BAD);
	/* 2^31 - 1 is the last offset, and -2^31 the first. */
	rule = frames_single(
		PROGRAM(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xff, 0xff, 0xff, 0xff, 7),
		0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.cfa_offset == INT32_MAX);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0x80, 0x80,
					 0x80, 0x80, 8)),
			 WIRE_RULE_BAD);
}

/* A CFA that is loaded: with what is added to it in whole words, and an index. */
static void cfas_that_are_loaded(void **state)
{
	struct wire_rule rule;

	(void)state;
	/* 32767 words are added at most: 262136 bytes */
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 7, DW_OP_breg7, 8, DW_OP_deref,
				     DW_OP_plus_uconst, 0xf8, 0xff, 0x0f),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_add, 32767);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 7, DW_OP_breg7, 8, DW_OP_deref,
					 DW_OP_plus_uconst, 0x80, 0x80, 0x10)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 8, DW_OP_deref,
					 DW_OP_const1u, 8)),
			 WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_neg)),
			 WIRE_RULE_BAD);
	assert_int_equal(
		kind_of(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg16, 8, DW_OP_deref)),
		WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 8, DW_OP_deref,
					 DW_OP_plus_uconst, 8, DW_OP_nop)),
			 WIRE_RULE_BAD);
	/* with an index and nothing added */
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 8, DW_OP_breg7, 0x28, DW_OP_breg9,
				     0, DW_OP_lit8, DW_OP_mul, DW_OP_plus, DW_OP_deref),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_true(rule.cfa_reg == DWARF_RSP && rule.cfa_offset == 0x28 && rule.cfa_index == 9 &&
		    rule.cfa_add == 0);
}

/* One operation of the index is another one, or one comes behind it. */
static void indices_that_are_none(void **state)
{
	static const uint8_t index[] = { DW_CFA_def_cfa_expression,
					 10,
					 DW_OP_breg7,
					 8,
					 DW_OP_breg9,
					 0,
					 DW_OP_lit8,
					 DW_OP_mul,
					 DW_OP_plus,
					 DW_OP_deref,
					 DW_OP_plus_uconst,
					 8 };

	static const struct {
		uint8_t at, by;
	} changes[] = {
		{ 2, DW_OP_breg16 },   { 4, DW_OP_breg0 }, { 4, DW_OP_breg16 }, { 5, 1 },
		{ 6, DW_OP_lit7 },     { 7, DW_OP_minus }, { 8, DW_OP_minus },	{ 9, DW_OP_neg },
		{ 10, DW_OP_const1u }, { 11, 12 },
	};

	uint8_t program[sizeof(index) + 1];

	(void)state;
	assert_int_equal(kind_of(index, sizeof(index)), WIRE_RULE_DEREF);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		memcpy(program, index, sizeof(index));
		program[changes[i].at] = changes[i].by;
		assert_int_equal(kind_of(program, sizeof(index)), WIRE_RULE_BAD);
	}
	memcpy(program, index, sizeof(index));
	program[1] = 11;
	program[sizeof(index)] = DW_OP_nop;
	assert_int_equal(kind_of(program, sizeof(program)), WIRE_RULE_BAD);
}

/* The PLT's expression: every operation of it counts. */
static void plt_expressions_that_are_none(void **state)
{
	static const uint8_t plt[] = { DW_CFA_def_cfa_expression,
				       11,
				       DW_OP_breg7,
				       8,
				       DW_OP_breg16,
				       0,
				       DW_OP_lit15,
				       DW_OP_and,
				       DW_OP_lit0,
				       DW_OP_ge,
				       DW_OP_lit3,
				       DW_OP_shl,
				       DW_OP_plus };

	static const struct {
		uint8_t at, by;
	} changes[] = {
		{ 2, DW_OP_breg6 }, { 3, 9 },		{ 4, DW_OP_breg15 }, { 5, 1 },
		{ 6, DW_OP_lit14 }, { 7, DW_OP_or },	{ 8, DW_OP_neg },    { 8, DW_OP_lit16 },
		{ 9, DW_OP_gt },    { 10, DW_OP_lit2 }, { 11, DW_OP_shr },   { 12, DW_OP_minus },
	};

	uint8_t program[sizeof(plt)];

	(void)state;
	assert_int_equal(frames_single(plt, sizeof(plt), 0x20).cfa_add, 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		memcpy(program, plt, sizeof(plt));
		program[changes[i].at] = changes[i].by;
		assert_int_equal(kind_of(program, sizeof(program)), WIRE_RULE_BAD);
	}
	memcpy(program, plt, sizeof(plt));
	program[8] = DW_OP_lit15;
	assert_int_equal(frames_single(program, sizeof(program), 0x20).cfa_add, 15);
}

/* Where the return address and %rbp may be: below the CFA, in whole words, so far. */
static void places_that_can_be_said(void **state)
{
	struct wire_rule rule;

	(void)state;
	/* 127 words for the return address, as data_align is -8 */
	rule = frames_single(PROGRAM(DW_CFA_offset | 16, 0x7f), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.ra_slot == 0x7f);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_offset | 16, 0x80, 1)), WIRE_RULE_BAD);
	/* at the CFA or above it */
	assert_int_equal(kind_of(PROGRAM(DW_CFA_offset | 16, 0)), WIRE_RULE_BAD);
	assert_int_equal(kind_of(PROGRAM(DW_CFA_offset_extended_sf, 16, 0x7f)), WIRE_RULE_BAD);
	/* in a register that is no general one */
	assert_int_equal(kind_of(PROGRAM(DW_CFA_register, 16, 17)), WIRE_RULE_BAD);
	rule = frames_single(PROGRAM(DW_CFA_register, 16, 15), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.ra_slot == (WIRE_RA_REGISTER | 15));
	/* by an expression in the middle of a word, or of another form */
	rule = frames_single(PROGRAM(DW_CFA_expression, 6, 2, DW_OP_breg6, 0x7c), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.rbp_slot == WIRE_RBP_SLOT_LOST);
	rule = frames_single(PROGRAM(DW_CFA_expression, 6, 2, DW_OP_plus_uconst, 8), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.rbp_slot == WIRE_RBP_SLOT_LOST);
	rule = frames_single(PROGRAM(DW_CFA_expression, 6, 2, DW_OP_breg0, 0x78), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.rbp_slot == WIRE_RBP_SLOT_LOST);
	rule = frames_single(PROGRAM(DW_CFA_expression, 6, 3, DW_OP_breg6, 0x78, DW_OP_nop), 0x20);
	assert_true(rule.kind == WIRE_RULE_CFA && rule.rbp_slot == WIRE_RBP_SLOT_LOST);
}

/* Slots have the room of their field, to the last that is not "lost". */
static void the_last_slots(void **state)
{
	struct wire_rule rule;

	(void)state;
	rule = frames_single(PROGRAM(DW_CFA_offset | 3, 0xfe, 1, DW_CFA_offset | 13, 0xff, 1,
				     DW_CFA_offset | 6, 0xfe, 0xff, 1),
			     0);
	assert_int_equal(rule.rbx_slot, WIRE_SLOT_LOST - 1);
	assert_int_equal(rule.r13_slot, WIRE_SLOT_LOST);
	assert_int_equal(rule.rbp_slot, WIRE_RBP_SLOT_LOST - 1);
	rule = frames_single(PROGRAM(DW_CFA_offset | 6, 0xff, 0xff, 1, DW_CFA_offset | 15, 1), 0);
	assert_int_equal(rule.rbp_slot, WIRE_RBP_SLOT_LOST);
	assert_int_equal(rule.r15_slot, 1);
	rule = frames_single(PROGRAM(DW_CFA_offset | 6, 0x80, 0x80, 4), 0);
	assert_int_equal(rule.rbp_slot, WIRE_RBP_SLOT_LOST);
	rule = frames_single(PROGRAM(DW_CFA_register, 13, 15, DW_CFA_register, 15, 15), 0);
	assert_int_equal(rule.r13_slot, WIRE_SLOT_LOST);
	assert_int_equal(rule.r15_slot, WIRE_SLOT_SAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_of_every_instruction),
		cmocka_unit_test(instructions_that_are_refused),
		cmocka_unit_test(operands_of_any_size),
		cmocka_unit_test(remembered_states),
		cmocka_unit_test(functions_that_land),
		cmocka_unit_test(cfas_by_expression),
		cmocka_unit_test(cfas_that_are_loaded),
		cmocka_unit_test(indices_that_are_none),
		cmocka_unit_test(plt_expressions_that_are_none),
		cmocka_unit_test(places_that_can_be_said),
		cmocka_unit_test(the_last_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
