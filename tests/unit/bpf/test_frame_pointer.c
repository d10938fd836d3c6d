// SPDX-License-Identifier: Apache-2.0
/* Code that moves its stack: rules with an index or a home register, and frames on other stacks. */
#include "test.h"

#include "walk_world.h"

/* The saved registers lie below %rbp, the CFA far above it. */
static void registers_below_the_frame_pointer(void **state)
{
	struct wire_rule leaf = { .kind = WIRE_RULE_DEREF,
				  .cfa_reg = DWARF_RBP,
				  .cfa_offset = -16,
				  .ra_slot = 1,
				  .rbp_slot = 2,
				  .rbx_slot = 3,
				  .home_reg = DWARF_RBP };
	static const uint8_t registers[] = { DWARF_RBP, DWARF_RBX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		struct wire_rule caller = rule_rsp(16);

		caller.cfa_reg = registers[i];
		w.rule_count = RULE_FIRST_FREE;
		set_page(0, leaf);
		set_page(1, caller);
		w.request.regs[DWARF_RBP] = stack_at(10);
		w.stack[8] = stack_at(30);
		w.stack[29] = CALLER;
		w.stack[10] = stack_at(40);
		w.stack[9] = stack_at(50);
		memset(&w.stack[31], 0, 40 * sizeof(w.stack[0]));
		w.stack[41 + 10 * i] = OUTERMOST;
		expect_walk(3, UNWIND_DONE);
		expect_frame(2, OUTERMOST);
	}
}

static void a_cfa_behind_an_array(void **state)
{
	struct wire_rule rule = { .kind = WIRE_RULE_DEREF,
				  .cfa_reg = DWARF_RSP,
				  .cfa_offset = 8,
				  .cfa_add = 1,
				  .cfa_index = 9,
				  .ra_slot = 1 };

	(void)state;
	set_page(0, rule);
	w.request.regs[DWARF_R9] = 5;
	w.stack[6] = stack_at(20);
	w.stack[20] = OUTERMOST;
	expect_walk(2, UNWIND_DONE);
	expect_frame(1, OUTERMOST);
	/* only the leaf has that register */
	w.request.caller = true;
	expect_walk(1, UNWIND_BAD_ROW);
}

/* From a stack that lies above to one below, as Go's systemstack does. */
static void a_frame_on_another_stack(void **state)
{
	(void)state;
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_FP });
	set_page(1, rule_rsp(16));
	w.request.regs[DWARF_RSP] = stack_at(500);
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[10] = stack_at(600);
	w.stack[11] = CALLER;
	w.stack[13] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(1, CALLER);
	expect_frame(2, OUTERMOST);
}

static void frame_pointers_in_a_circle_end(void **state)
{
	(void)state;
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_FP });
	w.request.max_frames = 100;
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[10] = stack_at(10);
	w.stack[11] = w.request.pc;
	expect_walk(100, UNWIND_DEPTH);
	w.request.regs[DWARF_RBP] = 12;
	expect_walk(1, UNWIND_FP_BAD);
}

static void no_frame_pointer_is_the_end(void **state)
{
	(void)state;
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_FP });
	w.request.regs[DWARF_RBP] = 0;
	expect_walk(1, UNWIND_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(registers_below_the_frame_pointer, set_up),
		cmocka_unit_test_setup(a_cfa_behind_an_array, set_up),
		cmocka_unit_test_setup(a_frame_on_another_stack, set_up),
		cmocka_unit_test_setup(frame_pointers_in_a_circle_end, set_up),
		cmocka_unit_test_setup(no_frame_pointer_is_the_end, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
