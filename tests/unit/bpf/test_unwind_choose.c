// SPDX-License-Identifier: Apache-2.0
/* What a walk begins with, which step takes which frame, and what is counted and noted on the way. */
#include "test.h"

#include <stdbool.h>

#include "java_world.h"

#define JUNK 0xa5

static bool is_zero(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((const uint8_t *)bytes)[i])
			return false;
	return true;
}

/* Of the walk before on this cpu nothing is left that this one would look at. */
static void what_a_walk_begins_with(void **state)
{
	struct unwind_cursor *c = &world;

	(void)state;
	memset(c, JUNK, sizeof(*c));
	unwind_begin(c, 77, 5);
	assert_int_equal(c->max_frames, 77);
	assert_int_equal(c->begin, 5);
	assert_int_equal(c->words, 5);
	assert_true(c->frames == 0 && c->row_frames == 0 && c->hot_frames == 0);
	assert_true(c->inferred_frames == 0 && c->read_frames == 0);
	assert_true(c->fp_frames == 0 && c->jit_frames == 0 && c->java_frames == 0);
	assert_true(c->java_hot_frames == 0 && c->anchors == 0 && c->frozen == 0);
	assert_true(c->frozen_frames == 0 && !c->frozen_at.inside && !c->frozen_at.live);
	assert_int_equal(c->frozen_at.yields, 0);
	assert_true(c->frozen_at.young[0] && c->frozen_at.young[1]);
	assert_int_equal(c->leaf, 1);
	assert_int_equal(c->regs_kept, 1);
	assert_int_equal(c->anchor_own, 1);
	assert_true(!c->linked && !c->guessed && c->stack_top == 0 && !c->missed && !c->native &&
		    !c->unpacks && !c->unpacking_live && !c->unpacking_next && !c->unpacking_end &&
		    !c->has_anchor);
	assert_true(c->no_trampoline == 0 && c->window_at == 0 && c->blob_at == 0);
	assert_true(c->range.start == 0 && c->range.end == 0);
	assert_true(c->thread == 0 && c->anchor_at == 0 && c->far_pc == 0);
	assert_true(c->compiled_seen.pc == 0);
	assert_true(is_zero(&c->seen, sizeof(c->seen)));
	assert_true(is_zero(c->methods, sizeof(c->methods)));
	assert_int_equal(*(uint8_t *)&c->interpreted, JUNK);
	assert_int_equal(c->reason, UNWIND_DEPTH);
}

/* --- by what the tables say ------------------------------------------------------------------- */

static void begin_native(void)
{
	world_begin(NATIVE_AT + 64, 20);
	world.fp = world_word(30);
}

static enum unwind_step by_rule(enum wire_rule_kind kind)
{
	struct wire_rule rule = { .kind = (uint8_t)kind };

	return unwind_choose_by_rule(&world, &world_memory, &rule);
}

static void the_step_of_a_rule(void **state)
{
	static const enum unwind_step steps[] = {
		[WIRE_RULE_CFA] = UNWIND_STEP_ROW, [WIRE_RULE_DEREF] = UNWIND_STEP_ROW,
		[WIRE_RULE_PLT] = UNWIND_STEP_ROW, [WIRE_RULE_SIGNAL] = UNWIND_STEP_SIGNAL,
		[WIRE_RULE_END] = UNWIND_STEP_END, [WIRE_RULE_BAD] = UNWIND_STEP_BAD_ROW,
	};

	(void)state;
	for (unsigned int kind = WIRE_RULE_CFA; kind < ARRAY_SIZE(steps); kind++) {
		begin_native();
		assert_int_equal(by_rule(kind), steps[kind]);
		assert_int_equal(world.fp_frames, 0);
	}
	begin_native();
	assert_int_equal(by_rule(WIRE_RULE_CHAINED), UNWIND_STEP_CHAINED);
	assert_int_equal(by_rule(WIRE_RULE_CHAINED + 1), UNWIND_STEP_BAD_ROW);
}

/* The frame pointer is followed where nothing is known, and where the rule says so; both count. */
static void frames_by_the_frame_pointer(void **state)
{
	(void)state;
	begin_native();
	assert_int_equal(by_rule(WIRE_RULE_NONE), UNWIND_STEP_FP);
	assert_int_equal(world.fp_frames, 1);
	world.leaf = 1;
	assert_int_equal(by_rule(WIRE_RULE_NONE), UNWIND_STEP_LEAF);
	assert_int_equal(world.fp_frames, 2);
	assert_int_equal(by_rule(WIRE_RULE_FP), UNWIND_STEP_SWITCH);
	assert_int_equal(world.fp_frames, 3);
}

/* --- by where the pc is ----------------------------------------------------------------------- */

static enum unwind_step choose(struct unwind_memory *memory)
{
	struct wire_rule rule = { 0 };

	return unwind_choose(&world, memory, &rule);
}

static void code_without_a_file(void **state)
{
	(void)state;
	begin_native();
	assert_int_equal(choose(&world_memory), UNWIND_STEP_FP);
	assert_true(world.jit_frames == 1 && world.fp_frames == 0);
	world.leaf = 1;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_LEAF);
	assert_int_equal(world.jit_frames, 2);
	/* It may be a JVM's, of which nothing is known yet. */
	world.jvm.serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_MISS);
	assert_int_equal(world.jit_frames, 2);
	world.jvm_serial = WIRE_JVM_PENDING;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_MISS);
	world.jvm_serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_LEAF);
	/* Without a list nobody knows. */
	world.serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_MISS);
}

static void an_address_that_is_no_code(void **state)
{
	(void)state;
	begin_native();
	world.pc = NATIVE_AT - 64;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_NOWHERE);
	world.listed = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_MISS);
	world.listed = 1;
	world.jvm.serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_MISS);
	world.jvm_serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_NOWHERE);
}

/* Java code is the JVM's whatever the tables hold, but for those that know only frame pointers. */
static void java_code(void **state)
{
	struct unwind_memory plain = { .read = world_read };

	(void)state;
	world_begin_in_frame(4);
	world.serial = 0;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_COMPILED);
	world.jvm.return_barrier = world.pc;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_BARRIER);
	assert_int_equal(choose(&plain), UNWIND_STEP_FP);
	world.jvm.interpreter_start = world.pc;
	world.jvm.interpreter_end = world.pc + 1;
	assert_int_equal(choose(&world_memory), UNWIND_STEP_INTERPRETED);
	assert_int_equal(choose(&plain), UNWIND_STEP_INTERPRETED);
}

/* --- what is written -------------------------------------------------------------------------- */

static void begin_frames(uint32_t frames, uint32_t words)
{
	world_begin_in_frame(4);
	unwind_begin(&world, 10, 100);
	world.frames = frames;
	world.words = 100 + words;
}

/* A frame is written whole or not at all. */
static void the_room_for_words(void **state)
{
	(void)state;
	begin_frames(9, WIRE_MAX_USER_WORDS - 2);
	assert_int_equal(cursor_put_frame(&world, world_out, WIRE_FRAME_COMPILED, 2), UNWIND_GO_ON);
	assert_true(world.frames == 10 && world.words == 100 + WIRE_MAX_USER_WORDS - 1);
	begin_frames(9, WIRE_MAX_USER_WORDS - 1);
	assert_int_equal(cursor_put_frame(&world, world_out, WIRE_FRAME_COMPILED, 2), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DEPTH);
	assert_true(world.frames == 9 && world.words == 100 + WIRE_MAX_USER_WORDS - 1);
	begin_frames(10, 0);
	assert_int_equal(cursor_put_frame(&world, world_out, WIRE_FRAME_CODE, 1), UNWIND_STOP);
	begin_frames(9, WIRE_MAX_USER_WORDS - 1);
	assert_int_equal(unwind_put_mark(&world, world_out, WIRE_MARK_ANCHOR), UNWIND_GO_ON);
	assert_true(world.frames == 10 && world.words == 100 + WIRE_MAX_USER_WORDS);
	begin_frames(9, WIRE_MAX_USER_WORDS);
	assert_int_equal(unwind_put_mark(&world, world_out, WIRE_MARK_ANCHOR), UNWIND_STOP);
	begin_frames(10, 0);
	world.reason = UNWIND_PAGE;
	assert_int_equal(unwind_put_mark(&world, world_out, WIRE_MARK_ANCHOR), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DEPTH);
	world.words = UNWIND_OUT_WORDS - 1;
	assert_int_equal(cursor_put(&world, world_out, 0x1234), UNWIND_GO_ON);
	assert_int_equal(world_out[UNWIND_OUT_WORDS - 1], 0x1234);
	assert_int_equal(world.words, UNWIND_OUT_WORDS);
	assert_int_equal(cursor_put(&world, world_out, 0x1234), UNWIND_STOP);
}

/* A native frame takes one word, compiled code two: so many must be left. */
static void the_last_frame_that_fits(void **state)
{
	(void)state;
	for (uint32_t left = 0; left < 3; left++) {
		begin_native();
		world_stack[30] = world_word(40);
		world_stack[31] = NATIVE_AT + 128;
		world.words = WIRE_MAX_USER_WORDS - left;
		assert_int_equal(world_step(), left < 1 ? UNWIND_STOP : UNWIND_GO_ON);
		assert_int_equal(world.frames, left < 1 ? 0 : 1);
		world_begin_in_frame(4);
		world.words = WIRE_MAX_USER_WORDS - left;
		assert_int_equal(world_step(), left < 2 ? UNWIND_STOP : UNWIND_GO_ON);
		assert_int_equal(world.frames, left < 2 ? 0 : 1);
	}
	assert_int_equal(world.words, WIRE_MAX_USER_WORDS);
}

static void the_words_of_a_frame(void **state)
{
	(void)state;
	begin_frames(0, 0);
	world.pc = 0xff00000000000000 | NATIVE_AT;
	world.exact = 0;
	cursor_put_frame(&world, world_out, WIRE_FRAME_MARK, 1);
	assert_true(world_out[100] == (NATIVE_AT | 3ULL << 60));
	world.exact = 1;
	cursor_put_frame(&world, world_out, WIRE_FRAME_CODE, 1);
	assert_true(world_out[101] == (NATIVE_AT | 1ULL << 59));
}

/* --- what is noted ---------------------------------------------------------------------------- */

/* Which frames are native counts for the next one's step. */
static void native_and_java_frames(void **state)
{
	(void)state;
	begin_native();
	world_stack[30] = world_word(40);
	world_stack[31] = NATIVE_AT + 128;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world.native, 1);
	assert_int_equal(world.java_frames, 0);
	world_begin_in_frame(4);
	world.native = 1;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world.native, 0);
	assert_int_equal(world.java_frames, 1);
	assert_int_equal(world.unpacks, 1);
	world_begin_in_frame(4);
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world.unpacks, 0);
}

/* The frame of which userspace must say first what it is will be written when the walk goes on. */
static void a_miss_writes_nothing(void **state)
{
	(void)state;
	begin_native();
	world.serial = 0;
	world.frames = 3;
	world.words = 7;
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.missed, 1);
	assert_int_equal(world.reason, UNWIND_NO_ROWS);
	assert_true(world.frames == 3 && world.words == 7);
}

/* Of the call stub nothing need be known. */
static void the_call_stub_is_not_looked_up(void **state)
{
	(void)state;
	world_begin(CODE_OF(10), 20);
	world.jvm.call_stub_return = world.pc;
	world.fp = world_word(40);
	world_stack[40] = world_word(50);
	world_stack[41] = NATIVE_AT + 64;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.compiled_seen.pc == CODE_OF(10));
	assert_int_equal(world.compiled_seen.frame_size, 0);
	assert_int_equal(world_out[1], 0);
	assert_true(world.pc == NATIVE_AT + 64 && world.fp == world_word(50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_walk_begins_with),
		cmocka_unit_test(the_step_of_a_rule),
		cmocka_unit_test(frames_by_the_frame_pointer),
		cmocka_unit_test(code_without_a_file),
		cmocka_unit_test(an_address_that_is_no_code),
		cmocka_unit_test(java_code),
		cmocka_unit_test(the_room_for_words),
		cmocka_unit_test(the_last_frame_that_fits),
		cmocka_unit_test(the_words_of_a_frame),
		cmocka_unit_test(native_and_java_frames),
		cmocka_unit_test(a_miss_writes_nothing),
		cmocka_unit_test(the_call_stub_is_not_looked_up),
	};

	return cmocka_run_group_tests_name("unwind_choose", tests, NULL, NULL);
}
