// SPDX-License-Identifier: Apache-2.0
/* The chain of frame pointers: which may be one, and where a chain ends. */
#include "test.h"

#include "java_world.h"

#define SP 100U /* words of the stack */
#define FP 120U

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
	assert_int_equal(frame_pointer_step(&world, &world_memory), UNWIND_STOP);
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
	assert_int_equal(frame_pointer_step(&world, &world_memory), UNWIND_GO_ON);
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
	assert_int_equal(frame_pointer_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_FP_BAD);
	begin(world_word(FP));
	world_stack[FP + 1] = 0;
	assert_int_equal(frame_pointer_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_NO_START);
}

static void expect_no_switch(uint64_t fp, enum unwind_reason reason)
{
	begin(fp);
	assert_int_equal(frame_pointer_switch(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, reason);
}

/* From another stack: below is as good as above. */
static void a_frame_on_another_stack(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(world_word(FP));
		world.sp = i ? world_word(FP + 500) : 0x7fffffff0000;
		assert_int_equal(frame_pointer_switch(&world, &world_memory), UNWIND_GO_ON);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_near),
		cmocka_unit_test(a_frame),
		cmocka_unit_test(where_a_chain_ends),
		cmocka_unit_test(a_frame_on_another_stack),
	};

	return cmocka_run_group_tests_name("frame_pointer_step", tests, NULL, NULL);
}
