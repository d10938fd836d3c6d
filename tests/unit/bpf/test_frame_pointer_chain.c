// SPDX-License-Identifier: Apache-2.0
/* The chain of frame pointers: which may be one, and where a chain ends. */
#include "test.h"

#include "java_world.h"

#define SP 100U /* words of the stack */
#define FP 120U

static const struct wire_rule by_frame = { .kind = WIRE_RULE_FP };

static void begin(uint64_t fp)
{
	world_begin(NATIVE_AT + 64, SP);
	world.fp = fp;
	world_stack[FP] = world_word(FP + 20);
	world_stack[FP + 1] = NATIVE_AT + 128;
}

static void expect_end(uint64_t fp, int linked, enum unwind_reason reason)
{
	begin(fp);
	world.linked = (uint8_t)linked;
	assert_int_equal(frame_pointer_step(&world, &world_memory, false), UNWIND_STOP);
	assert_int_equal(world.reason, reason);
	assert_true(world.pc == NATIVE_AT + 64 && world.sp == world_word(SP) && world.fp == fp);
}

static void what_is_near(void **state)
{
	(void)state;
	begin(world_word(SP));
	assert_true(frame_pointer_is_near(&world));
	world.fp = world_word(SP - 1);
	assert_false(frame_pointer_is_near(&world));
	world.fp = world.sp + UNWIND_MAX_FRAME_BYTES;
	assert_true(frame_pointer_is_near(&world));
	world.fp += 8;
	assert_false(frame_pointer_is_near(&world));
	for (unsigned int i = 1; i < 8; i++) {
		world.fp = world_word(FP) + i;
		assert_false(frame_pointer_is_near(&world));
	}
}

static void a_frame(void **state)
{
	(void)state;
	begin(world_word(FP));
	world.leaf = world.exact = world.regs_kept = 1;
	assert_int_equal(frame_pointer_step(&world, &world_memory, false), UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT + 128 && world.sp == world_word(FP + 2));
	assert_true(world.fp == world_word(FP + 20));
	assert_true(world.linked && !world.leaf && !world.exact && !world.regs_kept);
	assert_true(world.guessed);
}

/* 0 is no proof that the thread began here, whether a frame handed it down or not. */
static void where_a_chain_ends(void **state)
{
	(void)state;
	expect_end(0, 1, UNWIND_NO_START);
	expect_end(0, 0, UNWIND_FP_END);
	expect_end(world_word(SP - 1), 1, UNWIND_FP_BAD);
	expect_end(world_word(FP) + 4, 1, UNWIND_FP_BAD);
	expect_end(STACK_AT + sizeof(world_stack), 1, UNWIND_PAGE);
	begin(0x1000 - 8);
	world.sp = 0x100;
	assert_int_equal(frame_pointer_step(&world, &world_memory, false), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_FP_BAD);
	begin(world_word(FP));
	world_stack[FP + 1] = 0;
	assert_int_equal(frame_pointer_step(&world, &world_memory, false), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_NO_START);
}

static void expect_no_switch(uint64_t fp, enum unwind_reason reason)
{
	begin(fp);
	assert_int_equal(frame_pointer_switch(&world, &world_memory, &by_frame), UNWIND_STOP);
	assert_int_equal(world.reason, reason);
}

/* From another stack: below is as good as above. */
static void a_frame_on_another_stack(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(world_word(FP));
		world.sp = i ? world_word(FP + 500) : 0x7fffffff0000;
		assert_int_equal(frame_pointer_switch(&world, &world_memory, &by_frame),
				 UNWIND_GO_ON);
		assert_true(world.pc == NATIVE_AT + 128 && world.sp == world_word(FP + 2));
		assert_true(world.fp == world_word(FP + 20));
		assert_int_equal(world.linked, 1);
	}
	expect_no_switch(0, UNWIND_DONE);
	for (unsigned int i = 1; i < 8; i++)
		expect_no_switch(world_word(FP) + i, UNWIND_FP_BAD);
	expect_no_switch(UNWIND_USER_END, UNWIND_FP_BAD);
	expect_no_switch(STACK_AT - 8, UNWIND_PAGE);
	expect_no_switch(STACK_AT + sizeof(world_stack) - 8, UNWIND_PAGE);
}

/* --- from another stack, by a return address below the caller's frame pointer ------------------- */

#define SWITCHES (HEAP_AT + 0x1000) /* a function that goes to another stack */
#define FRAME	 200U
#define BACK	 (HEAP_AT + 0x505)

static struct wire_block blocks[2] = { { 0 },
				       { .generation = 1, .count = 1, .rows = { { 0, 1 } } } };
static struct wire_rule rules[2] = { { 0 }, { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP } };
static bool has_rule;

static const struct wire_page *find_page(const struct wire_page_key *key, const void *data)
{
	static const struct wire_page page = { 1, 1 };

	(void)key;
	(void)data;
	return has_rule ? &page : NULL;
}

/* The code's rows are tables of one rule. */
static void begin_tables(void)
{
	static const struct wire_range range = { HEAP_AT, HEAP_AT + 0x10000, 0, 7, 1 };

	world_tables = (struct unwind_tables){ .ranges = &range,
					       .range_count = 1,
					       .blocks = blocks,
					       .block_count = 2,
					       .rules = rules,
					       .rule_count = 2,
					       .page = find_page };
}

/* It is called by the instruction before BACK; that address lies BELOW words under %rbp. */
static enum unwind_verdict switch_back(uint32_t below, uint64_t target)
{
	const struct wire_rule rule = { .kind = WIRE_RULE_FP, .cfa_add = 1 };
	int32_t displacement = (int32_t)(target - BACK);

	world_begin(SWITCHES + 0x40, FRAME + 300);
	world.jvm.serial = 0;
	has_rule = false;
	begin_tables();
	world.fp = world_word(FRAME);
	world_stack[FRAME + 1] = NATIVE_AT;
	world_heap[BACK - 5 - HEAP_AT] = 0xe8;
	memcpy(world_heap + (BACK - 4 - HEAP_AT), &displacement, sizeof(displacement));
	world_stack[FRAME - below] = BACK;
	return frame_pointer_switch(&world, &world_memory, &rule);
}

static void a_return_address_below_the_frame(void **state)
{
	(void)state;
	for (uint32_t below = 1; below <= 64; below++) {
		assert_int_equal(switch_back(below, SWITCHES), UNWIND_GO_ON);
		assert_true(world.pc == BACK && world.sp == world_word(FRAME - below + 1));
		assert_true(world.fp == world_word(FRAME) && world.linked && world.elsewhere);
	}
	assert_int_equal(switch_back(65, SWITCHES), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_FP_BAD);
}

/* The caller's row says how far above its return address its frame ends: at %rbp, 16 bytes more. */
static void whose_frame_ends_there(void **state)
{
	const struct wire_rule rule = { .kind = WIRE_RULE_FP, .cfa_add = 1 };

	(void)state;
	switch_back(4, SWITCHES);
	world.pc = SWITCHES + 0x40;
	world.fp = world_word(FRAME);
	world.sp = world_word(FRAME + 300);
	world_stack[FRAME - 2] = BACK; /* of a call that is over */
	world.window_at = 0;
	has_rule = true;
	rules[1].cfa_offset = 8 * (4 - 1) + 16;
	assert_int_equal(frame_pointer_switch(&world, &world_memory, &rule), UNWIND_GO_ON);
	assert_true(world.sp == world_word(FRAME - 3) && world.pc == BACK);
	switch_back(4, SWITCHES);
	for (int32_t off = -16; off <= 16; off += 8) {
		world.pc = SWITCHES + 0x40;
		world.sp = world_word(FRAME + 300);
		has_rule = true;
		rules[1].cfa_offset = 8 * (4 - 1) + 16 + off;
		assert_int_equal(frame_pointer_switch(&world, &world_memory, &rule) == UNWIND_GO_ON,
				 off == 0);
	}
	rules[1].cfa_offset = 8 * (4 - 1) + 16;
	rules[1].cfa_reg = DWARF_RBP;
	world.pc = SWITCHES + 0x40;
	assert_int_equal(frame_pointer_switch(&world, &world_memory, &rule), UNWIND_STOP);
	rules[1].cfa_reg = DWARF_RSP;
}

/* It leads to the function that pc is in: to a little before pc. */
static void whose_return_address_it_is(void **state)
{
	(void)state;
	assert_int_equal(switch_back(2, SWITCHES + 0x40), UNWIND_GO_ON);
	assert_int_equal(switch_back(2, SWITCHES + 0x41), UNWIND_STOP);
	assert_int_equal(switch_back(2, SWITCHES + 0x40 - 255), UNWIND_GO_ON);
	assert_int_equal(switch_back(2, SWITCHES + 0x40 - 256), UNWIND_STOP);
	/* What is no call, and what cannot be read. */
	assert_int_equal(switch_back(2, SWITCHES), UNWIND_GO_ON);
	world.pc = SWITCHES + 0x40;
	world_heap[BACK - 5 - HEAP_AT] = 0xe9;
	assert_false(frame_pointer_called(&world, &world_memory, BACK));
	assert_false(frame_pointer_called(&world, &world_memory, HEAP_AT - 64));
	/* No frame pointer. */
	switch_back(2, SWITCHES);
	world.fp = 0;
	assert_int_equal(
		frame_pointer_switch(&world, &world_memory,
				     &(struct wire_rule){ .kind = WIRE_RULE_FP, .cfa_add = 1 }),
		UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_address_below_the_frame),
		cmocka_unit_test(whose_return_address_it_is),
		cmocka_unit_test(whose_frame_ends_there),
		cmocka_unit_test(what_is_near),
		cmocka_unit_test(a_frame),
		cmocka_unit_test(where_a_chain_ends),
		cmocka_unit_test(a_frame_on_another_stack),
	};

	return cmocka_run_group_tests_name("frame_pointer_step", tests, NULL, NULL);
}
