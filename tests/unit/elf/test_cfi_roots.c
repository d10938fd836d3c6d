// SPDX-License-Identifier: Apache-2.0
/* Go: its linker describes the functions that switch stacks as if they were ordinary ones. */
#include "test.h"

#include "cfi_frames.h"
#include "elf/cfi/cfi_layer.h"
#include "elf/cfi/cfi_roots.h"

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

/* By its whole name, or with the assembler's suffix; its first bytes where it has a frame. */
static void functions_by_name(void **state)
{
	static const struct {
		const char *name;
		int kind; /* 0: none of them */
		uint64_t start;
		bool framed;
	} cases[] = {
		{ "runtime.goexit", WIRE_RULE_END, 0x1000, false },
		{ "runtime.goexit.abi0", WIRE_RULE_END, 0x1000, false },
		{ "runtime.goexit.abi", 0, 0, false },
		{ "runtime.goexit.abi00", 0, 0, false },
		{ "runtime.goexi", 0, 0, false },
		{ "_rt0_amd64", WIRE_RULE_END, 0x1000, false },
		{ "_rt0_amd64_linux", WIRE_RULE_END, 0x1000, false },
		{ "runtime.systemstack.abi0", WIRE_RULE_FP, 0x1004, true },
		{ "runtime.mcall", WIRE_RULE_FP, 0x1004, true },
		{ "runtime.asmcgocall", WIRE_RULE_FP, 0x1004, true },
		{ "runtime.asmcgocall_landingpad", WIRE_RULE_FP, 0x1004, true },
		{ "runtime.morestack", WIRE_RULE_FP, 0x1004, false },
		{ "runtime.sigreturn__sigaction", WIRE_RULE_SIGNAL, 0xfff, false },
		{ "runtime.sigreturn", WIRE_RULE_SIGNAL, 0xfff, false },
		{ "", 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cfi_roots roots = { VEC_INIT };

		cfi_roots_add_go_function(&roots, cases[i].name, 0x1000, 0x20);
		assert_int_equal(roots.v.len, cases[i].kind != 0);
		if (cases[i].kind) {
			assert_int_equal(roots.v.items[0].rule.kind, cases[i].kind);
			assert_int_equal(roots.v.items[0].start, cases[i].start);
			assert_int_equal(roots.v.items[0].end, 0x1020);
			assert_int_equal(roots.v.items[0].framed, cases[i].framed);
		}
		vec_release(&roots.v);
	}
}

/* Sizes are foreign, and so is how many there are. */
static void no_more_than_go_has(void **state)
{
	struct cfi_roots roots = { VEC_INIT };

	(void)state;
	cfi_roots_add_go_function(&roots, "runtime.goexit", 0x1000, 0);
	cfi_roots_add_go_function(&roots, "runtime.goexit", 0x1000, 4097);
	cfi_roots_add_go_function(&roots, "runtime.goexit", UINT64_MAX - 3, 8);
	cfi_roots_add_go_function(&roots, "runtime.mcall", 0x1000, 4);
	assert_int_equal(roots.v.len, 0);
	cfi_roots_add_go_function(&roots, "runtime.goexit", 0x1000, 4096);
	cfi_roots_add_go_function(&roots, "runtime.mcall", 0x1000, 5);
	assert_int_equal(roots.v.len, 2);
	for (unsigned int i = 0; i < 1000; i++)
		cfi_roots_add_go_function(&roots, "runtime.goexit", 0x1000, 1);
	assert_int_equal(roots.v.len, 64);
	vec_release(&roots.v);
}

/* Rows below a root: where the frame is not set up they stay, and behind it they go on. */
static void roots_over_rows(void **state)
{
	const struct wire_rule eight = { .kind = WIRE_RULE_CFA,
					 .cfa_reg = DWARF_RSP,
					 .cfa_offset = 8 },
			       more = { .kind = WIRE_RULE_CFA,
					.cfa_reg = DWARF_RSP,
					.cfa_offset = 16 };
	const struct cfi_root root = { 0x1ff0, 0x2020, { .kind = WIRE_RULE_FP }, true };
	struct cfi_roots roots = { VEC_INIT };
	struct cfi_rows rows = { VEC_INIT };

	(void)state;
	vec_push(&roots.v, root);
	cfi_rows_put(&rows, 0, &eight);
	cfi_rows_put(&rows, 0x10, &more);
	cfi_rows_put(&rows, 0x18, &eight);
	cfi_rows_put(&rows, 0x30, &more);
	cfi_roots_apply(&roots, 0x3000, &rows);
	cfi_roots_apply(&roots, 0x0000, &rows);
	assert_int_equal(rows.v.len, 4);
	cfi_roots_apply(&roots, 0x2000, &rows);
	assert_int_equal(frames_rule(&rows, 0xf).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_rule(&rows, 0x10).kind, WIRE_RULE_FP);
	assert_int_equal(frames_rule(&rows, 0x17).kind, WIRE_RULE_FP);
	assert_int_equal(frames_rule(&rows, 0x18).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_rule(&rows, 0x18).cfa_offset, 8);
	assert_int_equal(frames_rule(&rows, 0x30).cfa_offset, 16);
	rows.v.len = 0;
	cfi_rows_put(&rows, 0, &more);
	cfi_roots_apply(&roots, 0x2000, &rows);
	assert_int_equal(rows.v.len, 2);
	assert_int_equal(frames_rule(&rows, 0x1f).kind, WIRE_RULE_FP);
	assert_int_equal(frames_rule(&rows, 0x20).kind, WIRE_RULE_CFA);
	rows.v.len = 0;
	cfi_rows_put(&rows, 0, &more);
	cfi_roots_apply(&roots, 0x1000, &rows);
	assert_int_equal(rows.v.len, 2);
	assert_int_equal(frames_rule(&rows, 0xfef).kind, WIRE_RULE_CFA);
	assert_int_equal(frames_rule(&rows, 0xff0).kind, WIRE_RULE_FP);
	vec_release(&roots.v);
	vec_release(&rows.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_frames_of_threads),
		cmocka_unit_test(code_that_switches_stacks),
		cmocka_unit_test(the_return_from_a_signal),
		cmocka_unit_test(frames_keep_the_frame_pointer),
		cmocka_unit_test(other_programs_have_no_such_functions),
		cmocka_unit_test(functions_by_name),
		cmocka_unit_test(no_more_than_go_has),
		cmocka_unit_test(roots_over_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
