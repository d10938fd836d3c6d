// SPDX-License-Identifier: Apache-2.0
/* Interpreted frames in a made-up JVM: what is remembered of their methods, and frames without one. */
#include "test.h"

#include <stdbool.h>

#include "interpreted_world.h"

/* Where no memory is: only compared. */
#define CONST_METHOD_AT 0x7f0000001000ULL

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

/* --- by itself -------------------------------------------------------------------------------- */

/* Nothing is kept from walk to walk. */
static struct unwind_tables no_cache;
static struct unwind_memory uncached = { .read = world_read, .tables = &no_cache };

static void identify(uint64_t method, uint64_t const_method, unsigned int hot_frames)
{
	interpreted_identify(&world, &uncached, method);
	assert_true(world.seen.method == method);
	assert_true(world.seen.const_method == const_method);
	assert_int_equal(world.java_hot_frames, hot_frames);
}

/* Another method that this walk keeps in the same place, or in another one. */
static uint64_t other_method(int same)
{
	uint64_t method = METHOD + 8;

	while (((cursor_hash(method) ^ cursor_hash(METHOD)) % UNWIND_SEEN_METHODS == 0) != same)
		method += 8;
	return method;
}

/* Each method is read once in a walk, as long as none takes its place. */
static void methods_of_one_walk(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		uint64_t other = other_method(same);

		begin_interpreted(0x123450007);
		world_stack[(other - STACK_AT) / 8 + 1] = 0x77;
		identify(METHOD, CONST_METHOD, 0);
		assert_true(world.seen.symbol == SYMBOL && world.seen.word == 0x123450000);
		world_stack[501] = 0x99;
		identify(METHOD, CONST_METHOD, 1);
		identify(other, 0x77, 1);
		identify(METHOD, same ? 0x99 : CONST_METHOD, same ? 1 : 2);
	}
}

static void words_of_metadata(void **state)
{
	(void)state;
	begin_interpreted(0x123450007);
	assert_true(interpreted_metadata(&uncached, METHOD, 8) == CONST_METHOD);
	assert_true(interpreted_metadata(&uncached, 0, 8) == 0);
	for (unsigned int i = 1; i < 8; i++)
		assert_true(interpreted_metadata(&uncached, METHOD + i, 8 - i) == 0);
	assert_true(interpreted_metadata(&uncached, STACK_AT - 8, 0) == 0);
	assert_true(interpreted_metadata(&uncached, UNWIND_USER_END - 8, 8) == 0);
}

/* A step of the way that leads nowhere is no identity; the ids are a part of it. */
static void the_way_to_an_identity(void **state)
{
	static const unsigned int words[] = { 521, 543, 562, 580 };
	uint64_t whole;

	(void)state;
	begin_interpreted(0x123450007);
	world.seen.const_method = CONST_METHOD;
	interpreted_identity(&world, &uncached);
	whole = world.seen.identity;
	assert_true(whole != 0);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		begin_interpreted(0x123450007);
		world_stack[words[i]] = 0;
		world.seen.const_method = CONST_METHOD;
		interpreted_identity(&world, &uncached);
		assert_true(world.seen.identity == 0);
	}
	begin_interpreted(0x123450007);
	world.seen.const_method = CONST_METHOD;
	world.jvm.const_method_ids = 16;
	world_stack[522] = 0x1234567;
	interpreted_identity(&world, &uncached);
	assert_true(world.seen.identity == WIRE_METHOD_IDENTITY(whole, 0x1234567));
	assert_true(world.seen.identity != whole);
}

/* What was kept holds in this tick, of this JVM and method, while the class's name is the same. */
static void what_is_kept_of_a_method(void **state)
{
	struct wire_hot_method good = { .method = METHOD,
					.const_method = 0x55,
					.symbol = SYMBOL,
					.word = 0x123450000,
					.identity = 0x66,
					.serial = 1,
					.tick = 0 },
			       hot;

	(void)state;
	begin_interpreted(0x123450007);
	good.tick = world.tick;
	assert_true(interpreted_take_hot(&world, &uncached, &good, METHOD));
	assert_true(world.seen.const_method == 0x55 && world.seen.symbol == SYMBOL);
	assert_true(world.seen.word == 0x123450000 && world.seen.identity == 0x66);
	assert_false(interpreted_take_hot(&world, &uncached, NULL, METHOD));
	assert_false(interpreted_take_hot(&world, &uncached, &good, METHOD + 8));
	hot = good;
	hot.serial++;
	assert_false(interpreted_take_hot(&world, &uncached, &hot, METHOD));
	hot = good;
	hot.tick++;
	assert_false(interpreted_take_hot(&world, &uncached, &hot, METHOD));
	hot = good;
	hot.word += 0x10000;
	assert_false(interpreted_take_hot(&world, &uncached, &hot, METHOD));
	hot = good;
	hot.symbol = 0;
	hot.word = 0;
	assert_false(interpreted_take_hot(&world, &uncached, &hot, METHOD));
	/* One without an identity is not kept. */
	memset(&hot, 0, sizeof(hot));
	assert_true(interpreted_take_hot(&world, &uncached, &good, METHOD));
	world.seen.method = METHOD;
	interpreted_keep_hot(&world, &hot);
	assert_memory_equal(&hot, &good, sizeof(hot));
	world.seen.identity = 0;
	world.seen.method = 9;
	interpreted_keep_hot(&world, &hot);
	assert_memory_equal(&hot, &good, sizeof(hot));
}

/* %r13 when it is in the method's bytecodes, which lie behind its ConstMethod. */
static void the_live_bytecode(void **state)
{
	(void)state;
	begin_interpreted(1);
	world.seen.const_method = 0x10000;
	world.r13 = 0x10000;
	assert_true(interpreted_live_bcp(&world, 7) == 7);
	world.r13 = 0x10001;
	assert_true(interpreted_live_bcp(&world, 7) == 0x10001);
	world.r13 = 0x10000 + (66 << 10) - 1;
	assert_true(interpreted_live_bcp(&world, 7) == world.r13);
	world.r13++;
	assert_true(interpreted_live_bcp(&world, 7) == 7);
	world.r13 = 0x100;
	assert_true(interpreted_live_bcp(&world, 7) == 7);
	world.seen.const_method = 0;
	assert_true(interpreted_live_bcp(&world, 7) == 7);
}

/* Adapters move sp: the sender's is above the frame's two words, and not far. */
static void the_senders_stack_pointer(void **state)
{
	static const struct {
		uint64_t from_fp, result;
	} cases[] = {
		{ 8, 16 },    { 16, 16 }, { 24, 24 }, { 1 << 20, 1 << 20 }, { (1 << 20) + 8, 16 },
		{ -8ULL, 16 }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_interpreted(0x123450007);
		world_stack[59] = world.fp + cases[i].from_fp;
		world_stack[52] = 0x88;
		assert_int_equal(interpreted_read(&world, &uncached), UNWIND_GO_ON);
		assert_true(world.interpreted.sender_sp == world.fp + cases[i].result);
		assert_true(world.interpreted.method == METHOD && world.interpreted.bcp == 0x88);
		assert_true(world.interpreted.fp == world_word(80));
		assert_true(world.interpreted.ra == WORLD_CALLER);
		assert_int_equal(world.linked, 1);
	}
}

static void a_frame_that_cannot_be_read(void **state)
{
	(void)state;
	begin_interpreted(0x123450007);
	world.fp = 0;
	assert_int_equal(interpreted_read(&world, &uncached), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_FP_BAD);
	/* Its slots begin in front of the stack; its return address is behind it. */
	for (unsigned int i = 0; i < 2; i++) {
		begin_interpreted(0x123450007);
		world.sp = STACK_AT;
		world.fp = i ? STACK_AT + sizeof(world_stack) - 8 : STACK_AT + 16;
		assert_int_equal(interpreted_read(&world, &uncached), UNWIND_STOP);
		assert_int_equal(world.reason, UNWIND_PAGE);
	}
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
		cmocka_unit_test(methods_of_one_walk),
		cmocka_unit_test(words_of_metadata),
		cmocka_unit_test(the_way_to_an_identity),
		cmocka_unit_test(what_is_kept_of_a_method),
		cmocka_unit_test(the_live_bytecode),
		cmocka_unit_test(the_senders_stack_pointer),
		cmocka_unit_test(a_frame_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
