// SPDX-License-Identifier: Apache-2.0
/* The row step and what else a rule may say: every kind of rule on a stack made by hand. */
#include "test.h"

#include "walk_world.h"

static void test_plain_frames(void **state)
{
	(void)state;
	set_page(0, rule_rsp(8));
	set_page(1, rule_rsp(32));
	w.stack[0] = CALLER;
	w.stack[4] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(0, w.request.pc);
	expect_frame(1, CALLER);
	expect_frame(2, OUTERMOST);
	assert_true(w.result.words[0] & WIRE_FRAME_EXACT);
	assert_false(w.result.words[1] & WIRE_FRAME_EXACT);
}

/* The CFA may be counted from any register of the leaf; of a caller from those that are kept. */
static void test_cfa_registers(void **state)
{
	struct wire_rule rule = rule_rsp(16);

	(void)state;
	w.stack[11] = OUTERMOST;
	for (uint8_t reg = 0; reg < 16; reg++) {
		if (reg == DWARF_RSP)
			continue;
		memset(w.request.regs, 0, sizeof(w.request.regs));
		w.request.regs[DWARF_RSP] = STACK_AT;
		w.request.regs[reg] = stack_at(10);
		rule.cfa_reg = reg;
		w.rule_count = RULE_FIRST_FREE;
		set_page(0, rule);
		w.request.caller = false;
		expect_walk(2, UNWIND_DONE);
		w.request.caller = true;
		if (reg == DWARF_RBX || reg == DWARF_RBP || reg == DWARF_R13 || reg == DWARF_R15)
			expect_walk(2, UNWIND_DONE);
		else
			expect_walk(1, UNWIND_BAD_ROW);
	}
}

/* Behind a leaf with a row all are what they were, but for those that it may have saved anywhere. */
static void test_cfa_registers_of_callers(void **state)
{
	struct wire_rule caller = rule_rsp(16);

	(void)state;
	w.stack[0] = CALLER;
	w.stack[11] = OUTERMOST;
	for (uint8_t reg = 0; reg < 16; reg++) {
		if (reg == DWARF_RSP)
			continue;
		w.request.regs[reg] = stack_at(10);
		caller.cfa_reg = reg;
		w.rule_count = RULE_FIRST_FREE;
		set_page(0, rule_rsp(8));
		set_page(1, caller);
		if (reg == DWARF_R12 || reg == DWARF_R14)
			expect_walk(2, UNWIND_BAD_ROW);
		else
			expect_walk(3, UNWIND_DONE);
	}
}

/* What the leaf saved is the caller's: each register has a slot, and the next CFA shows it. */
static void test_saved_registers(void **state)
{
	static const uint8_t registers[] = { DWARF_RBX, DWARF_RBP, DWARF_R13, DWARF_R15 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		struct wire_rule leaf = rule_rsp(80), caller = rule_rsp(-8);

		leaf.rbx_slot = 3;
		leaf.rbp_slot = 4;
		leaf.r13_slot = 5;
		leaf.r15_slot = 6;
		caller.cfa_reg = registers[i];
		w.rule_count = RULE_FIRST_FREE;
		set_page(0, leaf);
		set_page(1, caller);
		memset(w.stack, 0, sizeof(w.stack));
		w.stack[9] = CALLER;
		w.stack[10 - 3] = stack_at(31);
		w.stack[10 - 4] = stack_at(41);
		w.stack[10 - 5] = stack_at(51);
		w.stack[10 - 6] = stack_at(61);
		w.stack[29 + 10 * i] = OUTERMOST;
		expect_walk(3, UNWIND_DONE);
		expect_frame(2, OUTERMOST);
	}
}

static void test_registers_that_stay(void **state)
{
	struct wire_rule caller = rule_rsp(16);

	(void)state;
	caller.cfa_reg = DWARF_RBX;
	set_page(0, rule_rsp(8));
	set_page(1, caller);
	w.stack[0] = CALLER;
	w.request.regs[DWARF_RBX] = stack_at(10);
	w.stack[11] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
}

/* A register whose value is gone must not be taken for the one that is in it now. */
static void test_lost_registers(void **state)
{
	static const uint8_t registers[] = { DWARF_RBX, DWARF_RBP, DWARF_R13, DWARF_R15 };

	(void)state;
	w.stack[0] = CALLER;
	w.stack[11] = OUTERMOST;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		struct wire_rule leaf = rule_rsp(8), caller = rule_rsp(16);

		leaf.rbx_slot = leaf.r13_slot = leaf.r15_slot = WIRE_SLOT_LOST;
		leaf.rbp_slot = WIRE_RBP_SLOT_LOST;
		caller.cfa_reg = registers[i];
		w.request.regs[registers[i]] = stack_at(10);
		w.rule_count = RULE_FIRST_FREE;
		set_page(0, leaf);
		set_page(1, caller);
		expect_walk(2, UNWIND_BAD_ROW);
	}
}

/* CFA = *(register + offset) + 8 * add: code that aligns its stack. */
static void test_cfa_in_memory(void **state)
{
	struct wire_rule rule = { .kind = WIRE_RULE_DEREF,
				  .cfa_reg = DWARF_RBP,
				  .cfa_offset = -16,
				  .cfa_add = 2,
				  .ra_slot = 1 };

	(void)state;
	set_page(0, rule);
	w.request.regs[DWARF_RBP] = stack_at(12);
	w.stack[10] = stack_at(20);
	w.stack[21] = OUTERMOST;
	expect_walk(2, UNWIND_DONE);
	expect_frame(1, OUTERMOST);
}

/* The same with 8 times a register added: where the stack pointer lies in an array. */
static void test_cfa_in_an_array(void **state)
{
	struct wire_rule rule = {
		.kind = WIRE_RULE_DEREF, .cfa_reg = DWARF_RBP, .cfa_index = 2, .ra_slot = 1
	};

	(void)state;
	set_page(0, rule);
	w.request.regs[DWARF_RBP] = stack_at(12);
	w.request.regs[DWARF_RCX] = 5;
	w.stack[12] = stack_at(30);
	w.stack[17] = stack_at(20);
	w.stack[19] = OUTERMOST + 1;
	w.stack[29] = OUTERMOST + 2;
	expect_walk(2, UNWIND_DONE);
	expect_frame(1, OUTERMOST + 1);
	w.request.caller = true;
	expect_walk(1, UNWIND_BAD_ROW);
}

/* Code that realigns its stack keeps registers below %rbp and not below the CFA. */
static void test_saved_registers_below_another(void **state)
{
	struct wire_rule leaf = rule_rsp(80), caller = rule_rsp(8);

	(void)state;
	leaf.home_reg = DWARF_RBP;
	leaf.rbx_slot = 3;
	leaf.rbp_slot = 2;
	caller.cfa_reg = DWARF_RBX;
	set_page(0, leaf);
	set_page(1, caller);
	w.request.regs[DWARF_RBP] = stack_at(5);
	w.stack[9] = CALLER;
	w.stack[5 + 2 - 3] = stack_at(30);
	w.stack[5 + 2 - 2] = stack_at(60);
	w.stack[10 - 3] = stack_at(40);
	w.stack[30] = OUTERMOST;
	w.stack[40] = OUTERMOST + 1;
	expect_walk(3, UNWIND_DONE);
	expect_frame(2, OUTERMOST);
}

/*
 * At the end of such code, behind pop %r10; pop %rbp: gcc's rows still count from %rbp, which is the
 * caller's. lea -8(%r10),%rsp; ret (gcc 12, -O2, char odd[] _Alignas(32) and alloca()).
 */
static void test_home_that_was_popped(void **state)
{
	struct wire_rule leaf = rule_rsp(0), caller = rule_rsp(16);

	(void)state;
	leaf.cfa_reg = DWARF_R10;
	leaf.home_reg = DWARF_RBP;
	leaf.rbp_slot = 2;
	caller.cfa_reg = DWARF_RBP;
	set_page(0, leaf);
	set_page(1, caller);
	w.request.regs[DWARF_R10] = stack_at(8);
	w.stack[7] = CALLER;
	/* Still this frame's: it may be where %rsp is. */
	w.request.regs[DWARF_RBP] = STACK_AT;
	w.stack[0] = stack_at(20);
	w.stack[21] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(2, OUTERMOST);
	/* The caller's frame. */
	w.request.regs[DWARF_RBP] = stack_at(20);
	w.stack[20] = stack_at(30);
	w.stack[31] = OUTERMOST + 1;
	expect_walk(3, UNWIND_DONE);
	expect_frame(2, OUTERMOST);
	/* The caller has something else in it. */
	caller.cfa_reg = DWARF_RSP;
	set_page(1, caller);
	w.stack[9] = OUTERMOST;
	w.request.regs[DWARF_RBP] = 7;
	expect_walk(3, UNWIND_DONE);
	w.request.regs[DWARF_RBP] = (uint64_t)-8;
	expect_walk(3, UNWIND_DONE);
}

/* A PLT entry pushes one word more from its add-th byte on. */
static void test_plt(void **state)
{
	struct wire_rule rule = { .kind = WIRE_RULE_PLT,
				  .cfa_reg = DWARF_RSP,
				  .cfa_offset = 8,
				  .cfa_add = 11,
				  .ra_slot = 1 };

	(void)state;
	set_page(0, rule);
	w.stack[0] = OUTERMOST;
	w.stack[1] = OUTERMOST + 16;
	for (uint64_t byte = 0; byte < 16; byte++) {
		w.request.pc = TEXT_AT + 0x100 + byte;
		expect_walk(2, UNWIND_DONE);
		expect_frame(1, byte < 11 ? OUTERMOST : OUTERMOST + 16);
	}
}

static void test_return_address_slot(void **state)
{
	struct wire_rule rule = rule_rsp(48);

	(void)state;
	rule.ra_slot = 3;
	set_page(0, rule);
	w.stack[3] = OUTERMOST;
	w.stack[5] = CALLER;
	expect_walk(2, UNWIND_DONE);
	expect_frame(1, OUTERMOST);
}

/* vfork keeps it in %rdi while the stack is the child's: no frame at all. */
static void test_return_address_in_register(void **state)
{
	struct wire_rule rule = rule_rsp(0);

	(void)state;
	rule.ra_slot = WIRE_RA_REGISTER | 5;
	set_page(0, rule);
	w.request.regs[DWARF_RDI] = OUTERMOST;
	expect_walk(2, UNWIND_DONE);
	w.request.caller = true;
	expect_walk(1, UNWIND_BAD_ROW);
}

static void test_frames_must_rise(void **state)
{
	(void)state;
	set_page(0, rule_rsp(32));
	set_page(1, rule_rsp(0));
	w.stack[3] = CALLER;
	w.stack[2] = OUTERMOST;
	expect_walk(2, UNWIND_BAD_ROW);
	w.rules[w.rule_count - 1].cfa_offset = -8;
	expect_walk(2, UNWIND_BAD_ROW);
	w.rules[w.rule_count - 1].cfa_offset = 12; /* no word's address */
	expect_walk(2, UNWIND_BAD_ROW);
}

static void test_no_return(void **state)
{
	(void)state;
	set_page(0, rule_rsp(8));
	expect_walk(1, UNWIND_DONE);
	w.stack[0] = 0xffffffff81000000ULL;
	expect_walk(1, UNWIND_BAD_RETURN);
}

/* --- kinds of rules --------------------------------------------------------------------------- */

static void expect_kind(enum wire_rule_kind kind, uint32_t frames, enum unwind_reason reason)
{
	w.rule_count = RULE_FIRST_FREE;
	set_page(0, (struct wire_rule){ .kind = (uint8_t)kind });
	expect_walk(frames, reason);
}

static void test_rules_without_a_row(void **state)
{
	(void)state;
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[11] = OUTERMOST;
	expect_kind(WIRE_RULE_END, 1, UNWIND_DONE);
	expect_kind(WIRE_RULE_BAD, 1, UNWIND_BAD_ROW);
	expect_kind(WIRE_RULE_CHAINED + 1, 1, UNWIND_BAD_ROW);
	expect_kind(WIRE_RULE_NONE, 2, UNWIND_DONE);
	expect_kind(WIRE_RULE_FP, 2, UNWIND_DONE);
}

/* struct ucontext's registers begin 40 bytes above %rsp: r8..r15, rdi, rsi, rbp, rbx, … */
static void put_context(uint32_t word, uint64_t pc, uint64_t sp)
{
	w.stack[word + 5 + SIGNAL_RIP] = pc;
	w.stack[word + 5 + SIGNAL_RSP] = sp;
}

/* Above a signal frame lies what was interrupted: at its very instruction, with all registers. */
static void test_signal_frame(void **state)
{
	struct wire_rule interrupted = rule_rsp(16);

	(void)state;
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_SIGNAL });
	interrupted.cfa_reg = DWARF_RAX; /* %rax: known of a leaf only */
	add_row(0, 0x200, rule_rsp(8));
	add_row(0, 0x300, interrupted);
	w.request.pc = TEXT_AT + 0x200;
	w.stack[0] = CALLER;
	put_context(1, TEXT_AT + 0x300, stack_at(40));
	w.stack[1 + 5 + SIGNAL_RAX] = stack_at(50);
	w.stack[51] = OUTERMOST;
	expect_walk(4, UNWIND_DONE);
	expect_frame(2, TEXT_AT + 0x300);
	expect_frame(3, OUTERMOST);
	assert_false(w.result.words[1] & WIRE_FRAME_EXACT);
	assert_true(w.result.words[2] & WIRE_FRAME_EXACT);
	assert_false(w.result.words[3] & WIRE_FRAME_EXACT);
}

/* What was interrupted may have no frame, as only a leaf can: vfork in the middle. */
static void test_signal_in_code_without_a_frame(void **state)
{
	struct wire_rule interrupted = rule_rsp(0);

	(void)state;
	interrupted.ra_slot = WIRE_RA_REGISTER | 5;
	set_page(0, rule_rsp(8));
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_SIGNAL });
	set_page(3, interrupted);
	w.stack[0] = CALLER;
	put_context(1, TEXT_AT + 0x3100, stack_at(40));
	w.stack[1 + 5 + SIGNAL_RDI] = OUTERMOST;
	expect_walk(4, UNWIND_DONE);
	expect_frame(3, OUTERMOST);
}

/*
 * Who has no return address was not called: a coroutine's first function. But behind a frame pointer
 * that was followed in code of which nothing is known, a word of 0 proves nothing.
 */
static void test_no_return_address(void **state)
{
	(void)state;
	set_page(0, rule_rsp(8));
	set_page(1, rule_rsp(16));
	w.stack[0] = CALLER;
	expect_walk(2, UNWIND_DONE);
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_NONE });
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[11] = CALLER;
	expect_walk(2, UNWIND_NO_START);
	/* Behind a signal all registers are known again. */
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_NONE });
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_SIGNAL });
	put_context(12, TEXT_AT + 0x2100, stack_at(60));
	set_page(2, rule_rsp(16));
	expect_walk(3, UNWIND_DONE);
}

/* Code whose rows are inferred may be any other than a function's; of callers it is known that they called. */
static void test_no_return_address_of_inferred_rows(void **state)
{
	struct wire_rule inferred = rule_rsp(16);

	(void)state;
	inferred.cfa_index = WIRE_INFERRED;
	set_page(0, inferred);
	expect_walk(1, UNWIND_NO_START);
	set_page(0, rule_rsp(16));
	expect_walk(1, UNWIND_DONE);
	set_page(0, rule_rsp(8));
	set_page(1, inferred);
	w.stack[0] = CALLER;
	expect_walk(2, UNWIND_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_plain_frames, set_up),
		cmocka_unit_test_setup(test_cfa_registers, set_up),
		cmocka_unit_test_setup(test_cfa_registers_of_callers, set_up),
		cmocka_unit_test_setup(test_saved_registers, set_up),
		cmocka_unit_test_setup(test_registers_that_stay, set_up),
		cmocka_unit_test_setup(test_lost_registers, set_up),
		cmocka_unit_test_setup(test_cfa_in_memory, set_up),
		cmocka_unit_test_setup(test_cfa_in_an_array, set_up),
		cmocka_unit_test_setup(test_saved_registers_below_another, set_up),
		cmocka_unit_test_setup(test_home_that_was_popped, set_up),
		cmocka_unit_test_setup(test_plt, set_up),
		cmocka_unit_test_setup(test_return_address_slot, set_up),
		cmocka_unit_test_setup(test_return_address_in_register, set_up),
		cmocka_unit_test_setup(test_frames_must_rise, set_up),
		cmocka_unit_test_setup(test_no_return, set_up),
		cmocka_unit_test_setup(test_rules_without_a_row, set_up),
		cmocka_unit_test_setup(test_signal_frame, set_up),
		cmocka_unit_test_setup(test_signal_in_code_without_a_frame, set_up),
		cmocka_unit_test_setup(test_no_return_address, set_up),
		cmocka_unit_test_setup(test_no_return_address_of_inferred_rows, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
