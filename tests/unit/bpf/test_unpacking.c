// SPDX-License-Identifier: Apache-2.0
/* Interpreted frames that take the place of a compiled one, before their slots are written: the thread's array tells of them. */
#include "test.h"

#include <stdbool.h>

#include "unpacking_world.h"

static void expect_method(uint64_t method, uint64_t bcp)
{
	world.words = world.begin;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_INTERPRETED);
	assert_true(world_out[1] == method);
	assert_true(world_out[2] == CONST_METHOD && world_out[4]);
	assert_true(world_out[3] == bcp);
}

static void expect_told(unsigned int index)
{
	expect_method(method_of(index), CONST_METHOD + BYTECODES + 100 + index);
}

static void expect_nameless(void)
{
	world.words = world.begin;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILED);
	assert_true(world_out[1] == 0);
}

/* The youngest first; the caller has slots of its own. */
static void each_frame_has_its_method(void **state)
{
	(void)state;
	begin_frames(1);
	for (unsigned int i = 0; i < FRAMES; i++)
		expect_told(i);
	expect_method(METHOD, 0);
	assert_int_equal(world.unpacks, 0);
}

/* The thread that is known counts more than the register. */
static void whose_array_it_is(void **state)
{
	(void)state;
	begin_frames(1);
	world.thread = THREAD_AT;
	world.r15 = 0x1234;
	expect_told(0);
	begin_frames(1);
	world.r15 = 0x1234;
	expect_nameless();
	begin_frames(1);
	world.r15 = 1ULL << 63 | THREAD_AT;
	expect_nameless();
}

/* In front of any bytecode, of a synchronized method's beginning, it is at none. */
static void no_bytecode(void **state)
{
	(void)state;
	begin_frames(1);
	put_int(element_of(0) + BCI_AT, -1);
	expect_method(METHOD, 0);
	begin_frames(1);
	put_int(element_of(0) + BCI_AT, 0);
	expect_method(METHOD, CONST_METHOD + BYTECODES);
}

/* All frames are written when there is no array any more. */
static void frames_that_are_written(void **state)
{
	(void)state;
	begin_frames(1);
	world_thread[THREAD_ARRAY] = 0;
	world_stack[FP_WORD - 3] = method_of(2);
	world_stack[FP_WORD - 8] = CONST_METHOD + 70;
	expect_method(method_of(2), CONST_METHOD + 70);
}

/* What cannot be known has no name, and is no reason to end. */
static void what_nobody_tells(void **state)
{
	(void)state;
	begin_frames(1);
	world.jvm.unpacking.array = 0;
	expect_nameless();
	/* A walk that is finished later. */
	begin_frames(1);
	world.unpacking_live = 0;
	expect_nameless();
	begin_frames(1);
	world_thread[THREAD_ARRAY] = 0x1000;
	expect_nameless();
	begin_frames(1);
	world_thread[THREAD_ARRAY] = 1ULL << 63 | world_word(ARRAY_WORD);
	expect_nameless();
	begin_frames(1);
	put_int(world_word(ARRAY_WORD) + ARRAY_FRAMES, 0);
	expect_nameless();
	begin_frames(1);
	world_stack[(element_of(0) + METHOD_AT - STACK_AT) / 8] = 0x4711;
	expect_nameless();
	begin_frames(1);
	world.jvm.unpacking.elements = 8 * 500;
	expect_nameless();
	begin_frames(1);
	world.jvm.unpacking.bci = 8 * 500;
	expect_nameless();
}

/* The number of the last that is counted is none of a blob's; more have no names. */
static void more_than_are_counted(void **state)
{
	struct unpacking_frame frame;

	(void)state;
	begin_frames(253);
	put_int(world_word(ARRAY_WORD) + ARRAY_FRAMES, 1000);
	world.jvm.unpacking.element_bytes = 0;
	assert_int_equal(unpacking_look(&world, &world_memory, &frame), UNPACKING_TOLD);
	assert_true(frame.method == method_of(0));
	assert_int_equal(world.unpacks, 254);
	assert_int_equal(unpacking_look(&world, &world_memory, &frame), UNPACKING_EMPTY);
}

/* Elsewhere a last sp of 0 means nothing. */
static void frames_elsewhere(void **state)
{
	(void)state;
	begin_frames(0);
	world_stack[FP_WORD - 3] = METHOD;
	expect_method(METHOD, 0);
	assert_int_equal(world.unpacks, 0);
}

/* The blob pushes the oldest first: of those that are there the number tells which they are. */
static void while_they_are_pushed(void **state)
{
	(void)state;
	begin_frames(UNPACKING_FROM_LEAF);
	for (unsigned int i = 0; i < FRAMES; i++)
		expect_told(i);
	expect_method(METHOD, 0);
	for (unsigned int pushed = 1; pushed < FRAMES; pushed++) {
		begin_frames(UNPACKING_FROM_LEAF);
		world.fp = world_word(FP_WORD + 20 * (FRAMES - pushed));
		for (unsigned int i = FRAMES - pushed; i < FRAMES; i++)
			expect_told(i);
		expect_method(METHOD, 0);
	}
	/* More than it should have. */
	begin_frames(UNPACKING_FROM_LEAF);
	put_int(world_word(ARRAY_WORD) + ARRAY_FRAMES, 2);
	expect_nameless();
	/* Whom nobody tells of an array may be any leaf. */
	begin_frames(UNPACKING_FROM_LEAF);
	world.jvm.unpacking.array = 0;
	world_stack[FP_WORD - 3] = METHOD;
	expect_method(METHOD, 0);
	/* A chain that goes round. */
	begin_frames(UNPACKING_FROM_LEAF);
	world_stack[FP_WORD] = world_word(FP_WORD);
	assert_int_equal(unpacking_first(&world, &world_memory, 64), 0);
}

/* Which walks come here: below native code of a blob, or in the blob itself. */
static void above_which_frames(void **state)
{
	static const struct {
		uint8_t native, leaf;
		int32_t frame;
		uint8_t unpacks;
	} cases[] = {
		{ 1, 0, 4, 1 },
		{ 0, 0, 4, 0 },
		{ 0, 1, 4, UNPACKING_FROM_LEAF },
		{ 1, 1, 4, UNPACKING_FROM_LEAF },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		world_begin_in_frame(cases[i].frame);
		world.native = cases[i].native;
		world.leaf = cases[i].leaf;
		assert_int_equal(world_step(), UNWIND_GO_ON);
		assert_int_equal(world.unpacks, cases[i].unpacks);
	}
}

/* Those that are on no stack are written first, and the walk stays where it is. */
static void frames_to_come(void **state)
{
	(void)state;
	begin_frames(2);
	world.jvm.interpreter_start = CODE_OF(300);
	world.fp = world_word(FP_WORD + 20);
	world.unpacking_end = 1;
	expect_told(0);
	assert_true((world_out[0] & WIRE_FRAME_ADDRESS_MASK) == CODE_OF(300));
	assert_true(world.pc == CODE_OF(310) && world.fp == world_word(FP_WORD + 20));
	assert_int_equal(world.unpacking_next, 1);
	expect_told(1);
	expect_told(2);
	assert_int_equal(world.java_frames, 3);
	begin_frames(2);
	world.unpacking_end = 1;
	world_thread[THREAD_ARRAY] = 0;
	expect_nameless();
	assert_true((world_out[0] & WIRE_FRAME_ADDRESS_MASK) == CODE_OF(300));
	assert_true(world.pc == CODE_OF(310));
	begin_frames(2);
	world.unpacking_end = 1;
	world.max_frames = 0;
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DEPTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_frame_has_its_method),
		cmocka_unit_test(whose_array_it_is),
		cmocka_unit_test(no_bytecode),
		cmocka_unit_test(frames_that_are_written),
		cmocka_unit_test(what_nobody_tells),
		cmocka_unit_test(more_than_are_counted),
		cmocka_unit_test(frames_elsewhere),
		cmocka_unit_test(while_they_are_pushed),
		cmocka_unit_test(above_which_frames),
		cmocka_unit_test(frames_to_come),
	};

	return cmocka_run_group_tests_name("unpacking", tests, NULL, NULL);
}
