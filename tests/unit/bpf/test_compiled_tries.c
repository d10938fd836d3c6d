// SPDX-License-Identifier: Apache-2.0
/* A leaf in the body of compiled code: each of the tries that say where its frame ends, by itself. */
#include "test.h"

#include "leaf_world.h"

#define FITS_SEGMENT 1100 /* other code; its frame has six words */
#define FITS_PC	     (CODE_OF(FITS_SEGMENT) + 64)
#define BODY_TOP     (SP_WORD + 8)

/* A body with no return address anywhere on the stack. */
static void begin_body(const char *behind, const char *at, int32_t words)
{
	leaf_begin(IN_BODY, behind, at, words);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 0x10 + i;
	world_blob(FITS_SEGMENT, 8, 6);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	world.window_at = 0;
}

static void put_call_here(void)
{
	int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - FITS_PC);

	put_hex(FITS_PC - 5, "e8");
	memcpy(world_heap + (FITS_PC - 4 - HEAP_AT), &displacement, 4);
}

/* How much speaks for a frame with PUSHED words below: a call of this code, a caller that was called. */
static int try_pushed(uint32_t pushed, int calls, int checks_out)
{
	unsigned int top = BODY_TOP + pushed;

	begin_body("90", "90", 8);
	world_stack[top - 1] = FITS_PC;
	if (calls)
		put_call_here();
	if (checks_out)
		world_stack[top + 5] = RA_OF(1);
	return compiled_try(&world, &world_memory, pushed);
}

static void test_tries(void **state)
{
	(void)state;
	for (uint32_t pushed = 0; pushed < 4; pushed += 3) {
		assert_int_equal(try_pushed(pushed, 0, 0), COMPILED_FITS);
		assert_int_equal(try_pushed(pushed, 1, 0), COMPILED_CALLED);
		assert_int_equal(try_pushed(pushed, 0, 1), COMPILED_CHECKS_OUT);
		assert_int_equal(try_pushed(pushed, 1, 1), COMPILED_CERTAIN);
		assert_int_equal(compiled_try(&world, &world_memory, pushed + 1), COMPILED_UNFIT);
	}
	/* What the caller takes off behind the call lies between. */
	try_pushed(0, 0, 1);
	put_hex(FITS_PC, "58 90");
	assert_int_equal(compiled_try(&world, &world_memory, 0), COMPILED_FITS);
	world_stack[BODY_TOP + 6] = RA_OF(1);
	world.window_at = 0;
	assert_int_equal(compiled_try(&world, &world_memory, 0), COMPILED_CHECKS_OUT);
	world.sp = STACK_AT - 4096;
	assert_int_equal(compiled_try(&world, &world_memory, 0), COMPILED_UNFIT);
}

/* The best of the even or the odd numbers, as the stack pointer is; of equals the first. */
static void test_all_tries(void **state)
{
	(void)state;
	begin_body("90", "90", 8);
	assert_int_equal(compiled_try_all(&world, &world_memory), COMPILED_NO_TRY);
	for (unsigned int odd = 0; odd < 2; odd++)
		for (unsigned int pushed = odd; pushed <= 6 + odd; pushed += 2) {
			begin_body("90", "90", 8);
			world.sp += 8 * odd;
			world_stack[BODY_TOP + odd + pushed - 1] = FITS_PC;
			world_stack[BODY_TOP + odd + pushed] = FITS_PC;
			assert_int_equal(compiled_try_all(&world, &world_memory), pushed);
			world_stack[BODY_TOP + odd + 6] = FITS_PC;
			world.window_at = 0;
			assert_int_equal(compiled_try_all(&world, &world_memory), pushed);
		}
	/* Eight words are too many. */
	begin_body("90", "90", 8);
	world_stack[BODY_TOP + 8 - 1] = FITS_PC;
	assert_int_equal(compiled_try_all(&world, &world_memory), COMPILED_NO_TRY);
	/* A better one further up. */
	begin_body("90", "90", 8);
	world_stack[BODY_TOP - 1] = RA_OF(1);
	world_stack[BODY_TOP + 4 - 1] = FITS_PC;
	world_stack[BODY_TOP + 4 + 5] = RA_OF(1);
	assert_int_equal(compiled_try_all(&world, &world_memory), 4);
}

static void test_stands(void **state)
{
	(void)state;
	try_pushed(0, 0, 1);
	assert_true(compiled_stands(&world, &world_memory));
	try_pushed(0, 1, 0);
	assert_false(compiled_stands(&world, &world_memory));
	try_pushed(0, 1, 1);
	assert_true(compiled_stands(&world, &world_memory));
	/* Any word can be an address in the interpreter: then it must be a call of this code. */
	world.jvm.interpreter_start = FITS_PC;
	world.jvm.interpreter_end = FITS_PC + 1;
	assert_true(compiled_stands(&world, &world_memory));
	try_pushed(0, 0, 1);
	world.jvm.interpreter_start = FITS_PC;
	world.jvm.interpreter_end = FITS_PC + 1;
	assert_false(compiled_stands(&world, &world_memory));
}

/* Of another frame's end ahead: add $imm8,%rsp; pop %rbp within 64 bytes. */
static void test_epilogue_ahead(void **state)
{
	(void)state;
	begin_body("90", "48 83 c4 30 5d", 8);
	assert_int_equal(compiled_find_epilogue(&world), 0x40);
	begin_body("90", "48 83 c4 30 5c", 8);
	assert_int_equal(compiled_find_epilogue(&world), 0);
	begin_body("90", "48 83 ec 30 5d", 8);
	assert_int_equal(compiled_find_epilogue(&world), 0);
	for (unsigned int at = 63; at < 65; at++) {
		begin_body("90", "90", 8);
		put_hex(world.pc + at, "48 83 c4 30 5d");
		compiled_read_text(&world, &world_memory);
		assert_int_equal(compiled_find_epilogue(&world), at < 64 ? 0x40 : 0);
	}
}

/* mov d32(%r15),%rsp behind pc: its seven bytes are over, and 47 at most. */
static void test_switch_behind(void **state)
{
	static const struct {
		unsigned int behind;
		int switched;
	} cases[] = { { 6, 0 }, { 7, 1 }, { 47, 1 }, { 48, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct unwind_rule rule = { 0 };

		begin_body("90", "90 48 83 c4 30 5d", 2);
		put_hex(world.pc - cases[i].behind, "49 8b a7");
		compiled_read_text(&world, &world_memory);
		assert_int_equal(compiled_has_switched(&world), cases[i].switched);
		assert_int_equal(!!compiled_rule_switched(&world, &rule), cases[i].switched);
		if (!cases[i].switched)
			continue;
		assert_true(rule.cfa == world_word(SP_WORD + 8));
		assert_true(rule.ra_at == rule.cfa - 8 && rule.fp_at == rule.cfa - 16);
		world.compiled_seen.frame_size = 3;
		assert_false(compiled_rule_switched(&world, &rule));
		world.compiled_seen.frame_size = 2;
		put_hex(world.pc + 5, "90");
		compiled_read_text(&world, &world_memory);
		assert_false(compiled_rule_switched(&world, &rule));
	}
}

/* Nothing fits but what %rbp says, and that only of a frame within this one. */
static void test_last_rule(void **state)
{
	struct unwind_rule rule;

	(void)state;
	for (unsigned int at = 0; at < 10; at++) {
		begin_body("90", "90", 8);
		world.fp = world_word(SP_WORD + at);
		world_stack[SP_WORD + at + 1] = RA_OF(1);
		compiled_rule_last(&world, &world_memory, &rule);
		assert_true(rule.cfa == world_word(at < 8 ? SP_WORD + at + 2 : BODY_TOP));
		world_stack[SP_WORD + at + 1] = NATIVE_AT;
		world.window_at = 0;
		compiled_rule_last(&world, &world_memory, &rule);
		assert_true(rule.cfa == world_word(BODY_TOP));
	}
}

/* %rdx, else %r8, else %rax. */
static void test_popped_registers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin_body("90", "90", 8);
		world.leaf_regs[DWARF_RAX] = RA_OF(900);
		if (i > 0)
			world.leaf_regs[DWARF_RDX] = 0x33;
		if (i > 1)
			world.leaf_regs[DWARF_R8] = 0x33;
		assert_int_equal(compiled_leave_popped(&world), UNWIND_GO_ON);
		assert_true(world.pc == RA_OF(i == 0 ? 901 : i == 1 ? 908 : 900));
		assert_true(world.sp == world_word(SP_WORD) && world.fp == 0x1234);
	}
}

/* A frame with all registers, which another stub made, ends where %rbp says. */
static int takes_over(int32_t words, int16_t complete, unsigned int fp, uint64_t ra)
{
	begin_body("90", "90", words);
	memcpy(world.blob + FIELD_COMPLETE, &complete, 2);
	world.fp = world_word(fp);
	world_stack[fp + 1] = ra;
	world_stack[fp + 2 + 5] = RA_OF(1);
	return compiled_takes_over(&world, &world_memory);
}

static void test_taking_over(void **state)
{
	(void)state;
	assert_true(takes_over(32, -1, SP_WORD + 10, FITS_PC));
	assert_false(takes_over(31, -1, SP_WORD + 10, FITS_PC));
	assert_false(takes_over(32, 0, SP_WORD + 10, FITS_PC));
	assert_true(takes_over(32, -1, SP_WORD + 30, FITS_PC));
	assert_false(takes_over(32, -1, SP_WORD + 31, FITS_PC));
	assert_false(takes_over(32, -1, SP_WORD - 1, FITS_PC));
	assert_false(takes_over(32, -1, SP_WORD + 10, NATIVE_AT));
	takes_over(32, -1, SP_WORD + 10, FITS_PC);
	world_stack[SP_WORD + 10 + 7] = NATIVE_AT;
	world.window_at = 0;
	assert_false(compiled_takes_over(&world, &world_memory));
	world.sp = world.fp = STACK_AT - 64;
	assert_false(compiled_takes_over(&world, &world_memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_all_tries),
		cmocka_unit_test(test_stands),
		cmocka_unit_test(test_epilogue_ahead),
		cmocka_unit_test(test_switch_behind),
		cmocka_unit_test(test_last_rule),
		cmocka_unit_test(test_popped_registers),
		cmocka_unit_test(test_taking_over),
	};

	return cmocka_run_group_tests_name("code_tries", tests, NULL, NULL);
}
