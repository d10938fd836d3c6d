// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "cfi_frames.h"

enum { RBX = 3, RBP = 6, RSP = 7 };

static void assert_cfa(struct wire_rule rule, int reg, int offset)
{
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_reg, reg);
	assert_int_equal(rule.cfa_offset, offset);
}

/* push %rbp at 0; mov %rsp,%rbp at 1; …; leave at 0x20; ret at 0x21 */
#define USUAL_FUNCTION                                                                         \
	PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,       \
		DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 0x1d, \
		DW_CFA_def_cfa, 7, 8)

static void rows_of_a_usual_function(void **state)
{
	static const struct {
		uint64_t offset;
		int reg, cfa, rbp_slot;
	} expected[] = {
		{ 0, RSP, 8, 0 },     { 1, RSP, 16, 2 },   { 3, RSP, 16, 2 },	{ 4, RBP, 16, 2 },
		{ 0x20, RBP, 16, 2 }, { 0x21, RSP, 8, 2 }, { 0xff, RSP, 8, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct wire_rule rule = frames_single(USUAL_FUNCTION, expected[i].offset);

		assert_cfa(rule, expected[i].reg, expected[i].cfa);
		assert_int_equal(rule.rbp_slot, expected[i].rbp_slot);
		assert_int_equal(rule.ra_slot, 1);
		assert_int_equal(rule.rbx_slot, WIRE_SLOT_SAME);
	}
}

/* Its rows are where the code is, to the byte, also where it goes on in the next page. */
static void rows_begin_and_end_exactly(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x1ff0, 0x20, PROGRAM(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24));
	frames_open(&f, &parts, true);
	assert_int_equal(frames_at(&f, 0x1fef).kind, WIRE_RULE_NONE);
	assert_cfa(frames_at(&f, 0x1ff0), RSP, 8);
	assert_cfa(frames_at(&f, 0x1ff7), RSP, 8);
	assert_cfa(frames_at(&f, 0x1ff8), RSP, 24);
	assert_int_equal(f.rows.v.len, 3);
	assert_cfa(frames_at(&f, 0x2000), RSP, 24);
	assert_cfa(frames_at(&f, 0x200f), RSP, 24);
	assert_int_equal(frames_at(&f, 0x2010).kind, WIRE_RULE_NONE);
	assert_int_equal(f.rows.v.len, 2);
}

static void a_gap_between_functions_is_unknown_code(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x1010, 0x10, PROGRAM(DW_CFA_nop));
	frames_fde(&f, 0x1030, 0x10, PROGRAM(DW_CFA_nop));
	frames_fde(&f, 0x1040, 0x10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_int_equal(frames_at(&f, 0x1000).kind, WIRE_RULE_NONE);
	assert_cfa(frames_at(&f, 0x101f), RSP, 8);
	assert_int_equal(frames_at(&f, 0x1020).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, 0x102f).kind, WIRE_RULE_NONE);
	assert_cfa(frames_at(&f, 0x1030), RSP, 8);
	assert_int_equal(frames_at(&f, 0x1050).kind, WIRE_RULE_NONE);
	/* equal neighbours are one row */
	assert_int_equal(f.rows.v.len, 5);
	/* a page without any */
	assert_int_equal(frames_at(&f, 0x3000).kind, WIRE_RULE_NONE);
	assert_int_equal(f.rows.v.len, 1);
}

/* glibc's FDE of __restore_rt begins a byte before it: the handler returns to its first byte. */
static void signal_frames(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	(void)state;
	frames_cie(&f, "S", DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		   PROGRAM(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1, DW_OP_deref,
			   DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 1));
	frames_fde(&f, 0x10ff, 10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_int_equal(frames_at(&f, 0x10fe).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, 0x10ff).kind, WIRE_RULE_SIGNAL);
	assert_int_equal(frames_at(&f, 0x1108).kind, WIRE_RULE_SIGNAL);
	/* in the system call that is its last instruction */
	assert_int_equal(frames_at(&f, 0x1109).kind, WIRE_RULE_SIGNAL);
	assert_int_equal(frames_at(&f, 0x110a).kind, WIRE_RULE_NONE);
}

#define PLT_PROGRAM(limit)                                                                   \
	PROGRAM(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, \
		DW_OP_and, limit, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus)

static void plt_entries_of_all_forms(void **state)
{
	static const uint8_t limits[] = { DW_OP_lit11, DW_OP_lit10, DW_OP_lit9, DW_OP_lit5 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct wire_rule rule = frames_single(PLT_PROGRAM(limits[i]), 0x20);

		assert_int_equal(rule.kind, WIRE_RULE_PLT);
		assert_int_equal(rule.cfa_reg, RSP);
		assert_int_equal(rule.cfa_offset, 8);
		assert_int_equal(rule.cfa_add, limits[i] - DW_OP_lit0);
		assert_int_equal(rule.ra_slot, 1);
	}
	/* nearly one */
	assert_int_equal(frames_single(PLT_PROGRAM(DW_OP_lit16), 0x20).kind, WIRE_RULE_BAD);
}

static void an_undefined_return_address_ends_the_stack(void **state)
{
	struct wire_rule rule = frames_single(PROGRAM(DW_CFA_undefined, 16), 0x20);

	(void)state;
	assert_int_equal(rule.kind, WIRE_RULE_END);
}

/* vfork: pop %rdi; …; push %rdi */
static void a_return_address_in_a_register(void **state)
{
	struct wire_rule rule = frames_single(
		PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5),
		0x20);

	(void)state;
	assert_cfa(rule, RSP, 0);
	assert_int_equal(rule.ra_slot, WIRE_RA_REGISTER | 5);
}

static void a_cfa_that_is_kept_on_the_stack(void **state)
{
	struct wire_rule rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 6, DW_OP_breg7,
						      0x90, 1, DW_OP_deref, DW_OP_plus_uconst, 16),
					      0x20);

	(void)state;
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_reg, RSP);
	assert_int_equal(rule.cfa_offset, 0x90);
	assert_int_equal(rule.cfa_add, 2);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_reg, RBP);
	assert_int_equal(rule.cfa_offset, -8);
	assert_int_equal(rule.cfa_add, 0);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0x78, DW_OP_deref,
				     DW_OP_plus_uconst, 12),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_BAD);
	/* SBCL */
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0, DW_OP_deref,
				     DW_OP_lit16, DW_OP_plus),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_reg, RBP);
	assert_int_equal(rule.cfa_add, 2);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0, DW_OP_deref,
				     DW_OP_lit16, DW_OP_minus),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_BAD);
	rule = frames_single(PROGRAM(DW_CFA_def_cfa_expression, 5, DW_OP_breg6, 0, DW_OP_deref,
				     DW_OP_lit12, DW_OP_plus),
			     0x20);
	assert_int_equal(rule.kind, WIRE_RULE_BAD);
}

/* OpenSSL's bn_mul_mont: the CFA lies behind an array of r9 words at %rsp. */
static void a_cfa_behind_an_array(void **state)
{
	struct wire_rule rule = frames_single(
		PROGRAM(DW_CFA_def_cfa_expression, 10, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8,
			DW_OP_mul, DW_OP_plus, DW_OP_deref, DW_OP_plus_uconst, 8),
		0x20);

	(void)state;
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_reg, RSP);
	assert_int_equal(rule.cfa_offset, 8);
	assert_int_equal(rule.cfa_index, 9);
	assert_int_equal(rule.cfa_add, 1);
}

/* gcc's realigned functions: CFA at *(rbp - 40), registers saved below the new %rbp. */
static void a_stack_that_is_realigned(void **state)
{
	struct wire_rule rule =
		frames_single(PROGRAM(DW_CFA_expression, 6, 2, DW_OP_breg6, 0, DW_CFA_expression,
				      15, 2, DW_OP_breg6, 0x78, DW_CFA_expression, 13, 2,
				      DW_OP_breg6, 0x68, DW_CFA_expression, 3, 2, DW_OP_breg7, 0,
				      DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x58, DW_OP_deref),
			      0x20);

	(void)state;
	assert_int_equal(rule.kind, WIRE_RULE_DEREF);
	assert_int_equal(rule.cfa_reg, RBP);
	assert_int_equal(rule.cfa_offset, -40);
	assert_int_equal(rule.home_reg, RBP);
	assert_int_equal(rule.rbp_slot, 2);
	assert_int_equal(rule.r15_slot, 3);
	assert_int_equal(rule.r13_slot, 5);
	/* relative to another register */
	assert_int_equal(rule.rbx_slot, WIRE_SLOT_LOST);
}

static void callee_saved_registers(void **state)
{
	struct wire_rule rule = frames_single(PROGRAM(DW_CFA_def_cfa_offset, 0x40,
						      DW_CFA_offset | 3, 2, DW_CFA_offset | 6, 3,
						      DW_CFA_offset | 13, 4, DW_CFA_offset | 15, 5),
					      0);

	(void)state;
	assert_int_equal(rule.rbx_slot, 2);
	assert_int_equal(rule.rbp_slot, 3);
	assert_int_equal(rule.r13_slot, 4);
	assert_int_equal(rule.r15_slot, 5);
	/* what is undefined, in another register, a value, or beyond the slots is lost */
	rule = frames_single(PROGRAM(DW_CFA_undefined, 3, DW_CFA_register, 6, 0, DW_CFA_val_offset,
				     13, 2, DW_CFA_offset | 15, 0xff, 1),
			     0);
	assert_cfa(rule, RSP, 8);
	assert_int_equal(rule.rbx_slot, WIRE_SLOT_LOST);
	assert_int_equal(rule.rbp_slot, WIRE_RBP_SLOT_LOST);
	assert_int_equal(rule.r13_slot, WIRE_SLOT_LOST);
	assert_int_equal(rule.r15_slot, WIRE_SLOT_LOST);
	/* the same register is no other one */
	rule = frames_single(PROGRAM(DW_CFA_register, 3, 3, DW_CFA_offset | 6, 0xac, 2), 0);
	assert_int_equal(rule.rbx_slot, WIRE_SLOT_SAME);
	assert_int_equal(rule.rbp_slot, 300);
}

static void what_the_steps_cannot_do_is_bad(void **state)
{
	(void)state;
	/* CFA by a vector register; a return address that is a value; one too far away */
	assert_int_equal(frames_single(PROGRAM(DW_CFA_def_cfa_register, 17), 0).kind,
			 WIRE_RULE_BAD);
	assert_int_equal(frames_single(PROGRAM(DW_CFA_val_offset, 16, 1), 0).kind, WIRE_RULE_BAD);
	assert_int_equal(frames_single(PROGRAM(DW_CFA_offset_extended, 16, 0x80, 1), 0).kind,
			 WIRE_RULE_BAD);
	/* instructions that nobody knows, and ones that are cut */
	assert_int_equal(frames_single(PROGRAM(0x3a), 0).kind, WIRE_RULE_BAD);
	assert_int_equal(frames_single(PROGRAM(DW_CFA_nop, DW_CFA_def_cfa_expression, 60), 0).kind,
			 WIRE_RULE_BAD);
	assert_int_equal(frames_single(PROGRAM(DW_CFA_restore_state), 0).kind, WIRE_RULE_BAD);
	/* a register number that would take 2 GB */
	assert_int_equal(frames_single(PROGRAM(DW_CFA_undefined, 0xff, 0xff, 0xff, 0x3f), 0).kind,
			 WIRE_RULE_BAD);
}

/* Without the linker's table (static programs), and with addresses in all their forms. */
static void other_forms_of_the_section(void **state)
{
	static const uint8_t encodings[] = { DW_EH_PE_absptr,
					     DW_EH_PE_udata4,
					     DW_EH_PE_sdata4,
					     DW_EH_PE_sdata8,
					     DW_EH_PE_pcrel | DW_EH_PE_sdata4,
					     DW_EH_PE_pcrel | DW_EH_PE_sdata8 };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(encodings); i++) {
		_cleanup_frames_ struct frames f = { 0 };
		struct cfi_parts parts = { 0 };

		frames_cie(&f, "", encodings[i / 2],
			   PROGRAM(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
		frames_fde(&f, 0x1100, 0x30, PROGRAM(DW_CFA_def_cfa_offset, 32));
		frames_usual_cie(&f);
		frames_fde(&f, 0x1200, 0x30, PROGRAM(DW_CFA_def_cfa_offset, 48));
		frames_open(&f, &parts, i % 2);
		assert_int_equal(frames_at(&f, 0x10ff).kind, WIRE_RULE_NONE);
		assert_cfa(frames_at(&f, 0x1100), RSP, 32);
		assert_cfa(frames_at(&f, 0x112f), RSP, 32);
		assert_int_equal(frames_at(&f, 0x1130).kind, WIRE_RULE_NONE);
		assert_cfa(frames_at(&f, 0x1200), RSP, 48);
	}
}

static void debug_frame_where_that_is_all(void **state)
{
	_cleanup_frames_ struct frames f = { .debug = true };
	struct cfi_parts parts = { 0 };
	struct wire_rule rule;

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x1100, 0x30, PROGRAM(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32));
	frames_open(&f, &parts, false);
	assert_int_equal(frames_at(&f, 0x10ff).kind, WIRE_RULE_NONE);
	assert_cfa(frames_at(&f, 0x1103), RSP, 8);
	rule = frames_at(&f, 0x1104);
	assert_cfa(rule, RSP, 32);
	assert_int_equal(rule.rbp_slot, WIRE_SLOT_SAME);
	assert_int_equal(frames_at(&f, 0x1130).kind, WIRE_RULE_NONE);
}

/* FDEs that lie over one another: the one that begins later has the word. */
static void overlapping_and_damaged_records(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x1100, 0x1000, PROGRAM(DW_CFA_def_cfa_offset, 32));
	frames_fde(&f, 0x1200, 0x10, PROGRAM(DW_CFA_def_cfa_offset, 48));
	frames_fde(&f, 0x1300, 0, PROGRAM(DW_CFA_nop));
	frames_fde(&f, 0x1400, 0x10, PROGRAM(DW_CFA_def_cfa_offset, 64));
	frames_open(&f, &parts, true);
	assert_cfa(frames_at(&f, 0x11ff), RSP, 32);
	assert_cfa(frames_at(&f, 0x1200), RSP, 48);
	assert_int_equal(frames_at(&f, 0x1210).kind, WIRE_RULE_NONE);
	assert_cfa(frames_at(&f, 0x1400), RSP, 64);
}

/* An augmentation that we do not know could mean anything. */
static void an_unknown_cie_describes_nothing(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	(void)state;
	frames_cie(&f, "?", DW_EH_PE_absptr, PROGRAM(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
	frames_fde(&f, 0x1100, 0x10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_int_equal(frames_at(&f, 0x1100).kind, WIRE_RULE_NONE);
}

/* _start without an FDE: up to its symbol's end, or the next FDE, or so far. */
static void the_entry_point_is_a_first_frame(void **state)
{
	static const struct cfi_symbol symbol = { "_start", 0x2000, 0x14 };

	(void)state;
	for (int with_symbol = 0; with_symbol < 2; with_symbol++) {
		_cleanup_frames_ struct frames f = { 0 };
		struct cfi_parts parts = { .entry = 0x2000,
					   .symbols = &symbol,
					   .symbol_count = (size_t)with_symbol };

		frames_usual_cie(&f);
		frames_fde(&f, 0x1100, 0x10, PROGRAM(DW_CFA_nop));
		frames_fde(&f, 0x2030, 0x10, PROGRAM(DW_CFA_nop));
		frames_open(&f, &parts, true);
		assert_int_equal(frames_at(&f, 0x2000).kind, WIRE_RULE_END);
		assert_int_equal(frames_at(&f, 0x2013).kind, WIRE_RULE_END);
		assert_int_equal(frames_at(&f, 0x2014).kind,
				 with_symbol ? WIRE_RULE_NONE : WIRE_RULE_END);
		assert_cfa(frames_at(&f, 0x2030), RSP, 8);
	}
}

/* Without a size its symbol ends where the next one begins; farther than 64 bytes away none says anything. */
static void how_long_the_entry_point_is(void **state)
{
	static const struct {
		uint64_t size, next;
		uint64_t end; /* 0: it is no root */
	} cases[] = {
		{ 0, 0, 0 },	   { 0, 0x14, 0x14 }, { 0, 0x40, 0x40 },    { 0, 0x41, 0 },
		{ 0x40, 0, 0x40 }, { 0x41, 0, 0 },    { 0x30, 0x20, 0x20 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_frames_ struct frames f = { 0 };
		struct cfi_symbol symbols[] = { { "_start", 0x2000, cases[i].size },
						{ "next", 0x2000 + cases[i].next, 8 } };
		struct cfi_parts parts = { .entry = 0x2000,
					   .symbols = symbols,
					   .symbol_count = cases[i].next ? 2 : 1,
					   .symbols_untyped = i % 2 };

		frames_usual_cie(&f);
		frames_fde(&f, 0x1100, 0x10, PROGRAM(DW_CFA_nop));
		frames_open(&f, &parts, true);
		for (uint64_t at = 0; at < 0x50; at++)
			assert_int_equal(frames_at(&f, 0x2000 + at).kind,
					 at < cases[i].end ? WIRE_RULE_END : WIRE_RULE_NONE);
	}
}

static void an_entry_point_with_an_fde_is_what_that_says(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { .entry = 0x2000 };

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x2000, 0x10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_cfa(frames_at(&f, 0x2000), RSP, 8);
}

/* Also of its last byte, when the next function begins behind it. */
static void an_entry_point_at_the_end_of_an_fde(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { .entry = 0x200f };

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x2000, 0x10, PROGRAM(DW_CFA_nop));
	frames_fde(&f, 0x2010, 0x10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_cfa(frames_at(&f, 0x200f), RSP, 8);
	assert_cfa(frames_at(&f, 0x2010), RSP, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_usual_function),
		cmocka_unit_test(rows_begin_and_end_exactly),
		cmocka_unit_test(a_gap_between_functions_is_unknown_code),
		cmocka_unit_test(signal_frames),
		cmocka_unit_test(plt_entries_of_all_forms),
		cmocka_unit_test(an_undefined_return_address_ends_the_stack),
		cmocka_unit_test(a_return_address_in_a_register),
		cmocka_unit_test(a_cfa_that_is_kept_on_the_stack),
		cmocka_unit_test(a_cfa_behind_an_array),
		cmocka_unit_test(a_stack_that_is_realigned),
		cmocka_unit_test(callee_saved_registers),
		cmocka_unit_test(what_the_steps_cannot_do_is_bad),
		cmocka_unit_test(other_forms_of_the_section),
		cmocka_unit_test(debug_frame_where_that_is_all),
		cmocka_unit_test(overlapping_and_damaged_records),
		cmocka_unit_test(an_unknown_cie_describes_nothing),
		cmocka_unit_test(the_entry_point_is_a_first_frame),
		cmocka_unit_test(how_long_the_entry_point_is),
		cmocka_unit_test(an_entry_point_with_an_fde_is_what_that_says),
		cmocka_unit_test(an_entry_point_at_the_end_of_an_fde),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
