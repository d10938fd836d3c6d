// SPDX-License-Identifier: Apache-2.0
/* Go: its linker describes the functions that switch stacks as if they were ordinary ones. */
#include "test.h"

#include "cfi_frames.h"

static const struct cfi_symbol symbols[] = {
	{ "runtime.systemstack.abi0", 0x1000, 0x100 },
	{ "runtime.goexit.abi0", 0x1100, 0x10 },
	{ "runtime.morestack.abi0", 0x1200, 0x40 },
	{ "runtime.sigreturn__sigaction.abi0", 0x1300, 0x10 },
	{ "runtime.goexitsomewhere", 0x1400, 0x10 },
	{ "main.main", 0x1500, 0x20 },
	{ "runtime.mstart.abi0", 0x1ff8, 0x10 },
};

/* push %rbp; mov %rsp,%rbp at the beginning; pop %rbp; ret at the end. */
static void open_program(struct frames *f, const char *section)
{
	struct cfi_parts parts = { .section = section,
				   .symbols = symbols,
				   .symbol_count = ARRAY_SIZE(symbols) };

	f->debug = true;
	frames_usual_cie(f);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		frames_fde(f, symbols[i].address, symbols[i].size,
			   PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
				   DW_CFA_advance_loc | 14, DW_CFA_def_cfa_offset, 8));
	frames_open(f, &parts, false);
}

static void first_frames_of_threads(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, ".go.buildinfo");
	assert_int_equal(frames_at(&f, 0x1100).kind, WIRE_RULE_END);
	assert_int_equal(frames_at(&f, 0x110f).kind, WIRE_RULE_END);
	assert_int_equal(frames_at(&f, 0x1110).kind, WIRE_RULE_NONE);
	/* over the end of a page */
	assert_int_equal(frames_at(&f, 0x1ff7).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, 0x1fff).kind, WIRE_RULE_END);
	assert_int_equal(frames_at(&f, 0x2007).kind, WIRE_RULE_END);
	assert_int_equal(frames_at(&f, 0x2008).kind, WIRE_RULE_NONE);
	/* a name that only begins like one */
	assert_int_equal(frames_at(&f, 0x1400).kind, WIRE_RULE_CFA);
}

/* Before and after its frame is set up, the row is right; in between only the frame pointer is. */
static void code_that_switches_stacks(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, ".note.go.buildid");
	assert_int_equal(frames_at(&f, 0x1000).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, 0x1003).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, 0x1003).cfa_offset, 16);
	assert_int_equal(frames_at(&f, 0x1004).kind, WIRE_RULE_FP);
	assert_int_equal(frames_at(&f, 0x100e).kind, WIRE_RULE_FP);
	assert_int_equal(frames_at(&f, 0x100f).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, 0x100f).cfa_offset, 8);
	/* it has no frame of its own */
	assert_int_equal(frames_at(&f, 0x1220).kind, WIRE_RULE_FP);
}

static void the_return_from_a_signal(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, ".gopclntab");
	assert_int_equal(frames_at(&f, 0x12fe).kind, WIRE_RULE_NONE);
	assert_int_equal(frames_at(&f, 0x12ff).kind, WIRE_RULE_SIGNAL);
	assert_int_equal(frames_at(&f, 0x130f).kind, WIRE_RULE_SIGNAL);
	assert_int_equal(frames_at(&f, 0x1311).kind, WIRE_RULE_NONE);
}

/* A frame holds %rbp, although nothing says so. */
static void frames_keep_the_frame_pointer(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, ".go.buildinfo");
	assert_int_equal(frames_at(&f, 0x1500).rbp_slot, WIRE_SLOT_SAME);
	assert_int_equal(frames_at(&f, 0x1501).rbp_slot, 2);
	assert_int_equal(frames_at(&f, 0x150f).rbp_slot, WIRE_SLOT_SAME);
}

static void other_programs_have_no_such_functions(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };

	(void)state;
	open_program(&f, ".rodata");
	assert_int_equal(frames_at(&f, 0x1004).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, 0x1100).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_at(&f, 0x1501).rbp_slot, WIRE_SLOT_SAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_frames_of_threads),
		cmocka_unit_test(code_that_switches_stacks),
		cmocka_unit_test(the_return_from_a_signal),
		cmocka_unit_test(frames_keep_the_frame_pointer),
		cmocka_unit_test(other_programs_have_no_such_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
