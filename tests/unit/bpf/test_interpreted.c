// SPDX-License-Identifier: Apache-2.0
/* Interpreted frames in a made-up JVM: what is remembered of their methods, and frames without one. */
#include "test.h"

#include <stdbool.h>

#include "java_world.h"

#define METHOD	     world_word(500)
#define CONST_METHOD world_word(520)
#define SYMBOL	     world_word(580)
/* Where no memory is: only compared. */
#define CONST_METHOD_AT 0x7f0000001000ULL

/* Method 500 -> ConstMethod 520 -> pool 540 -> class 560 -> its name 580; the frame's fp is word 60. */
static void begin_interpreted(uint64_t name_word)
{
	uint32_t tick = world.tick;

	world_begin_in_frame(4);
	world.tick = tick;
	world.jvm.interpreter_start = CODE_OF(300);
	world.jvm.interpreter_end = CODE_OF(320);
	world.jvm.method_slot = -3;
	world.jvm.bcp_slot = -8;
	world.jvm.sender_sp_slot = -1;
	world.jvm.method_const_method = 8;
	world.jvm.const_method_constants = 8;
	world.jvm.pool_holder = 24;
	world.jvm.klass_name = 16;
	world.jvm.symbol_mask = 0xffffffffffff0000;
	world_stack[501] = CONST_METHOD;
	world_stack[521] = world_word(540);
	world_stack[543] = world_word(560);
	world_stack[562] = SYMBOL;
	world_stack[580] = name_word;
	world.pc = CODE_OF(310);
	world.fp = world_word(60);
	world_stack[57] = METHOD;
	world_stack[59] = world_word(62);
	world_stack[60] = world_word(80);
	world_stack[61] = WORLD_CALLER;
}

/* The identity in the interpreted frame that is written. */
static uint64_t interpreted_once(void)
{
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(62));
	assert_true(world_out[1] == METHOD && world_out[2] == CONST_METHOD);
	return world_out[4];
}

static void step_again(uint64_t name_word, uint32_t tick)
{
	static struct wire_hot_method kept[WIRE_HOT_METHODS];

	memcpy(kept, world_hot_methods, sizeof(kept));
	begin_interpreted(name_word);
	memcpy(world_hot_methods, kept, sizeof(kept));
	world.tick = tick;
}

static void a_method_is_read_once_in_a_tick(void **state)
{
	uint64_t first;

	(void)state;
	begin_interpreted(0x123450007);
	first = interpreted_once();
	assert_true(first ==
		    WIRE_METHOD_IDENTITY(
			    WIRE_CLASS_IDENTITY(SYMBOL, 0x123450007, 0xffffffffffff0000), 0));
	assert_int_equal(world.java_hot_frames, 0);
	/* Another reference count; the way to the name is not gone again. */
	step_again(0x123450009, world.tick);
	world_stack[562] = 0;
	assert_true(interpreted_once() == first);
	assert_int_equal(world.java_hot_frames, 1);
	step_again(0x123450009, world.tick + 1);
	world_stack[562] = 0;
	assert_true(interpreted_once() != first);
}

static void a_method_of_another_class_is_read_anew(void **state)
{
	uint64_t first;

	(void)state;
	begin_interpreted(0x123450007);
	first = interpreted_once();
	step_again(0x543210007, world.tick);
	assert_true(interpreted_once() != first);
	assert_int_equal(world.java_hot_frames, 0);
	begin_interpreted(0x123450007);
	first = interpreted_once();
	step_again(0x123450007, world.tick);
	world.jvm.serial = 2; /* another JVM's method, at the same address */
	assert_true(interpreted_once() == first);
	assert_int_equal(world.java_hot_frames, 0);
}

/* The same below a blob that calls native code, or does not: what its frame is shown as. */
static void expect_below_blob(int native, uint64_t last_sp, enum wire_frame_kind kind)
{
	begin_interpreted(0x123450007);
	world.pc = CODE_OF(10) + 64;
	world.native = (uint8_t)native;
	world_stack[22] = world_word(60);
	world_stack[23] = CODE_OF(310);
	world_stack[58] = last_sp;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == CODE_OF(310));
	world.words = world.begin;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, kind);
	assert_true(world_out[1] == (kind == WIRE_FRAME_INTERPRETED ? METHOD : 0));
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(62));
}

static void a_frame_that_is_put_in_place_has_no_method(void **state)
{
	(void)state;
	expect_below_blob(1, 0, WIRE_FRAME_COMPILED);
	expect_below_blob(1, world_word(40), WIRE_FRAME_INTERPRETED);
	expect_below_blob(0, 0, WIRE_FRAME_INTERPRETED);
}

/* Shenandoah's barrier, JDK 28: push %rbp; mov %rsp,%rbp; sub $0x150,%rsp, below an expression stack. */
static void a_barriers_frame_within_the_frame(void **state)
{
	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		begin_interpreted(0x123450007);
		world.leaf = !native;
		world.native = native != 0;
		world_stack[40] = world_word(60);
		world_stack[41] = 0xfa81f4d0;
		world.fp = world_word(40);
		interpreted_once();
	}
}

/* Of a leaf %r13 says where in the bytecodes it is, if it points into them; else its slot. */
static void the_bytecode_of_a_leaf(void **state)
{
	static const struct {
		uint64_t r13;
		bool live;
	} cases[] = {
		{ 0, false },
		{ CONST_METHOD_AT - 1, false },
		{ CONST_METHOD_AT, false },
		{ CONST_METHOD_AT + 1, true },
		{ CONST_METHOD_AT + INTERPRETED_MAX_BYTECODES - 1, true },
		{ CONST_METHOD_AT + INTERPRETED_MAX_BYTECODES, false },
		{ UINT64_MAX, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world.seen.const_method = CONST_METHOD_AT;
		world.r13 = cases[i].r13;
		assert_int_equal(interpreted_live_bcp(&world, 77),
				 cases[i].live ? cases[i].r13 : 77);
		/* Without a method nothing is known of its bytecodes. */
		world.seen.const_method = 0;
		assert_int_equal(interpreted_live_bcp(&world, 77), 77);
	}
}

/* jmp *slot(%rip) in the forms of a PLT, and nothing else. */
static void the_slot_of_a_plt_entry(void **state)
{
	static const struct {
		uint8_t code[12];
		uint64_t slot;
	} cases[] = {
		{ { 0xff, 0x25, 0x10, 0, 0, 0 }, 0x1016 },
		{ { 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff }, 0x0ff6 },
		{ { 0xff, 0x15, 0x25, 0, 0, 0 }, 0 },
		{ { 0xfe, 0x25, 0x10, 0, 0, 0 }, 0 },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0, 0, 0 }, 0x101a },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x24, 0x25, 0, 0, 0 }, 0 },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xfe, 0x25, 0x10, 0, 0, 0 }, 0 },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x10, 0, 0, 0 }, 0x101b },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xf3, 0xff, 0x25, 0x10, 0, 0, 0 }, 0 },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x24, 0x25, 0, 0, 0 }, 0 },
		{ { 0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0x25, 0x10, 0, 0, 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(leaf_call_plt_slot(cases[i].code, 0x1000), cases[i].slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_is_read_once_in_a_tick),
		cmocka_unit_test(a_method_of_another_class_is_read_anew),
		cmocka_unit_test(a_frame_that_is_put_in_place_has_no_method),
		cmocka_unit_test(a_barriers_frame_within_the_frame),
		cmocka_unit_test(the_bytecode_of_a_leaf),
		cmocka_unit_test(the_slot_of_a_plt_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
