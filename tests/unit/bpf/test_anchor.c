// SPDX-License-Identifier: Apache-2.0
/* The JVM's notes of a thread's last Java frames: when they are asked, which one, and what is believed. */
#include "test.h"

#include <stdbool.h>

#include "java_world.h"

#define ANCHOR_SP 90U /* a word of the stack */
#define WRAPPER	  70U /* the same, where a wrapper's anchor lies */

static void put_anchor(uint64_t *words, uint64_t sp, uint64_t pc, uint64_t fp)
{
	words[0] = sp;
	words[1] = pc;
	words[2] = fp;
}

/* Native code whose frame pointer leads nowhere; all registers are the native code's. */
static void begin(void)
{
	world_begin(NATIVE_AT + 100, 40);
	world_blob(100, 8, 6);
	world.reason = UNWIND_FP_BAD;
	world.fp = 8;
	world.rbx = world.r13 = 77;
	world.leaf = world.exact = world.regs_kept = world.guessed = 1;
	put_anchor(world_thread + THREAD_ANCHOR, world_word(ANCHOR_SP), WORLD_CALLER, 0x99);
	put_anchor(world_stack + WRAPPER, world_word(ANCHOR_SP), WORLD_CALLER, 0x77);
}

static void expect_at(uint64_t pc, unsigned int sp, uint64_t fp)
{
	assert_int_equal(anchor_enter(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.pc == pc && world.sp == world_word(sp) && world.fp == fp);
	assert_int_equal(world.anchors, 1);
	/* Nothing of the native code's is the Java frame's. */
	assert_true(world.rbx == 0 && world.r13 == 0);
	assert_true(!world.leaf && !world.exact && !world.regs_kept);
	assert_true(world.linked == 1 && !world.guessed);
	assert_int_equal(world.reason, UNWIND_DEPTH);
}

static void expect_none(void)
{
	struct unwind_cursor before = world;

	assert_int_equal(anchor_enter(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, before.reason);
	assert_true(world.pc == before.pc && world.sp == before.sp && world.fp == before.fp);
	assert_int_equal(world.anchors, 0);
}

/* --- when ------------------------------------------------------------------------------------- */

static void what_ended_the_walk(void **state)
{
	static const bool helps[UNWIND_REASON_COUNT] = {
		[UNWIND_PAGE] = true,	    [UNWIND_FP_END] = true,  [UNWIND_FP_BAD] = true,
		[UNWIND_BAD_RETURN] = true, [UNWIND_BAD_ROW] = true, [UNWIND_NO_START] = true,
	};

	(void)state;
	for (unsigned int i = 0; i < UNWIND_REASON_COUNT; i++) {
		begin();
		world.reason = (uint8_t)i;
		assert_int_equal(!!anchor_may_help(&world), helps[i]);
	}
}

static void whether_there_is_one(void **state)
{
	(void)state;
	begin();
	world.anchor_own = 0;
	assert_false(anchor_may_help(&world));
	world.anchor_at = world_word(WRAPPER);
	assert_true(anchor_may_help(&world));
	world.anchor_own = 1;
	assert_true(anchor_may_help(&world));
	world.anchor_at = 0;
	assert_true(anchor_may_help(&world));
	/* The walk will be gone on with. */
	world.missed = 1;
	assert_false(anchor_may_help(&world));
	world.missed = 0;
	world.jvm.serial = 0;
	assert_false(anchor_may_help(&world));
}

/* --- which ------------------------------------------------------------------------------------ */

static void that_of_the_samples_time(void **state)
{
	(void)state;
	begin();
	world.has_anchor = 1;
	world.thread = THREAD_AT;
	put_anchor(world.anchor, world_word(ANCHOR_SP + 2), WORLD_FARTHER, 0x55);
	expect_at(WORLD_FARTHER, ANCHOR_SP + 2, 0x55);
}

static void the_threads_own(void **state)
{
	(void)state;
	begin();
	world.thread = THREAD_AT;
	expect_at(WORLD_CALLER, ANCHOR_SP, 0x99);
	begin();
	world.thread = 0;
	expect_none();
	begin();
	world.thread = THREAD_AT;
	world.jvm.thread_anchor = WIRE_JVM_ABSENT;
	expect_none();
}

/* A wrapper's is that of a call stub below; the thread's own comes after it. Each is used once. */
static void a_wrappers_goes_first(void **state)
{
	(void)state;
	begin();
	world.thread = THREAD_AT;
	world.anchor_at = world_word(WRAPPER);
	expect_at(WORLD_CALLER, ANCHOR_SP, 0x77);
	assert_true(world.anchor_at == 0);
	assert_int_equal(world.anchor_own, 1);
	world_thread[THREAD_ANCHOR] = world_word(ANCHOR_SP + 8);
	assert_int_equal(anchor_enter(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.sp == world_word(ANCHOR_SP + 8) && world.fp == 0x99);
	assert_int_equal(world.anchors, 2);
	assert_int_equal(world.anchor_own, 0);
	world.reason = UNWIND_FP_BAD;
	assert_false(anchor_may_help(&world));
}

/* A wrapper lies on the stack, which may be a copy by now; a thread does not. */
static int read_stack(const void *data, uint64_t address, void *dst, size_t len)
{
	assert_true(address >= STACK_AT && address < STACK_AT + sizeof(world_stack));
	return world_read(data, address, dst, len);
}

static int read_else(const void *data, uint64_t address, void *dst, size_t len)
{
	assert_int_equal(len, 8);
	assert_false(address >= STACK_AT && address < STACK_AT + sizeof(world_stack));
	return world_read(data, address, dst, len);
}

static void where_each_of_them_is_read(void **state)
{
	struct unwind_memory two = { .read = read_else, .read_stack = read_stack };

	(void)state;
	begin();
	world.anchor_at = world_word(WRAPPER);
	assert_int_equal(anchor_enter(&world, &two), UNWIND_GO_ON);
	assert_true(world.fp == 0x77);
	begin();
	world.thread = THREAD_AT;
	assert_int_equal(anchor_enter(&world, &two), UNWIND_GO_ON);
	assert_true(world.fp == 0x99);
}

/* Any of its three words. */
static void one_that_cannot_be_read(void **state)
{
	static const unsigned int words = ARRAY_SIZE(world_thread);

	(void)state;
	for (unsigned int i = 1; i <= 3; i++) {
		begin();
		world.thread = THREAD_AT + 8ULL * (words - THREAD_ANCHOR - 3 + i);
		for (unsigned int word = words - 3; word < words; word++)
			world_thread[word] =
				word == words - 2 + i ? WORLD_CALLER : world_word(ANCHOR_SP);
		expect_none();
	}
	begin();
	world.anchor_at = 0x1000;
	expect_none();
	assert_true(world.anchor_at == 0);
}

/* Fields in another order. */
static void where_its_words_are(void **state)
{
	(void)state;
	begin();
	world.thread = THREAD_AT;
	world.jvm.anchor_sp = 16;
	world.jvm.anchor_pc = 0;
	world.jvm.anchor_fp = 24;
	world_thread[THREAD_ANCHOR] = WORLD_CALLER;
	world_thread[THREAD_ANCHOR + 1] = 0xbad;
	world_thread[THREAD_ANCHOR + 2] = world_word(ANCHOR_SP);
	world_thread[THREAD_ANCHOR + 3] = 0x88;
	expect_at(WORLD_CALLER, ANCHOR_SP, 0x88);
}

/* --- what is believed ------------------------------------------------------------------------- */

static void expect_refused(uint64_t sp, uint64_t pc)
{
	begin();
	world.has_anchor = 1;
	put_anchor(world.anchor, sp, pc, 0x55);
	expect_none();
}

static void a_frame_that_cannot_be(void **state)
{
	(void)state;
	expect_refused(world_word(40), WORLD_CALLER); /* not above this one */
	expect_refused(world_word(39), WORLD_CALLER);
	expect_refused(0, WORLD_CALLER);
	for (unsigned int i = 1; i < 8; i++)
		expect_refused(world_word(ANCHOR_SP) + i, WORLD_CALLER);
	expect_refused(UNWIND_USER_END, WORLD_CALLER);
	expect_refused(world_word(ANCHOR_SP), HEAP_AT - 1); /* not the JVM's code */
	expect_refused(world_word(ANCHOR_SP), NATIVE_AT);
	begin();
	world.has_anchor = 1;
	put_anchor(world.anchor, world_word(41), WORLD_CALLER, 0x55);
	expect_at(WORLD_CALLER, 41, 0x55);
}

/* What has a pc needs no word of the stack; what has none has it below its stack pointer. */
static void its_pc(void **state)
{
	(void)state;
	begin();
	world.has_anchor = 1;
	put_anchor(world.anchor, world_word(ANCHOR_SP), WORLD_CALLER, 0x55);
	world_stack[ANCHOR_SP - 1] = WORLD_FARTHER;
	expect_at(WORLD_CALLER, ANCHOR_SP, 0x55);
	begin();
	world.has_anchor = 1;
	put_anchor(world.anchor, world_word(ANCHOR_SP), 0, 0x55);
	world_stack[ANCHOR_SP - 1] = WORLD_FARTHER;
	world_stack[ANCHOR_SP - 2] = world_stack[ANCHOR_SP] = WORLD_CALLER;
	expect_at(WORLD_FARTHER, ANCHOR_SP, 0x55);
	/* Above the stack nothing can be read. */
	expect_refused(STACK_AT + sizeof(world_stack) + 4096, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ended_the_walk),
		cmocka_unit_test(whether_there_is_one),
		cmocka_unit_test(that_of_the_samples_time),
		cmocka_unit_test(the_threads_own),
		cmocka_unit_test(a_wrappers_goes_first),
		cmocka_unit_test(where_each_of_them_is_read),
		cmocka_unit_test(one_that_cannot_be_read),
		cmocka_unit_test(where_its_words_are),
		cmocka_unit_test(a_frame_that_cannot_be),
		cmocka_unit_test(its_pc),
	};

	return cmocka_run_group_tests_name("anchor", tests, NULL, NULL);
}
