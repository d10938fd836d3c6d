/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual thread's last frame on the stack, in front of the carrier's enterSpecial. */
#include "test.h"

#include "blob_world.h"

#define FRAME 10 /* words of enterSpecial's */

static const struct piece pieces[] = { BLOB_PIECES };

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static const struct unwind_tables tables;
static struct unwind_memory memory = { .read = read_piece, .tables = &tables };

/* The stack pointer is word SP of the stack, the ContinuationEntry its word ENTRY. */
static void begin(uint64_t pc, unsigned int sp, unsigned int entry)
{
	memset(heap, 0, sizeof(heap));
	memset(segmap, 0xff, sizeof(segmap));
	memset(stack, 0, sizeof(stack));
	memset(&cursor, 0, sizeof(cursor));
	put_blob(ENTER_BLOB, 8, FRAME);
	put_blob(STUB_BLOB, 8, 0);
	unwind_begin(&cursor, 100, 0);
	cursor.leaf = 0;
	cursor.pc = pc;
	cursor.sp = STACK_AT + 8ULL * sp;
	put_heap(&cursor.jvm);
	cursor.thread = THREAD_AT;
	thread[CONT_ENTRY / 8] = STACK_AT + 8ULL * entry;
	stack[entry + FRAME - 1] = CALLER;
}

static void expect_enter(unsigned int entry)
{
	assert_true(cursor.pc == ENTER_RETURN);
	assert_true(cursor.sp == STACK_AT + 8ULL * entry);
	assert_int_equal(cursor.frozen, 1);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_true(cursor.pc == CALLER);
	assert_true(cursor.sp == STACK_AT + 8ULL * (entry + FRAME));
}

static void expect_mark(wire_u32 at)
{
	assert_true(out[at] ==
		    (WIRE_MARK_FROZEN | (wire_u64)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT));
}

static void the_entry_lies_right_there(void **state)
{
	(void)state;
	begin(BARRIER, 20, 20);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_int_equal(cursor.frames, 1);
	expect_mark(0);
	expect_enter(20);
}

static void arguments_lie_between(void **state)
{
	(void)state;
	begin(BARRIER, 20, 24);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	expect_enter(24);
}

/* The walk is finished later. */
static void the_thread_has_gone_on(void **state)
{
	static const uint64_t others[] = { 0, STACK_AT, STACK_AT + 8ULL * 40, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		begin(BARRIER, 20, 20);
		thread[CONT_ENTRY / 8] = others[i];
		assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
		expect_enter(20);
	}
	begin(BARRIER, 20, 20);
	cursor.thread = 0;
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	expect_enter(20);
}

/* It makes room for the frames that it brings back; its own return address is gone. */
static void a_stub_that_thaws(void **state)
{
	static const uint64_t pcs[] = { BARRIER - 100, BARRIER + 60, BARRIER + 200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pcs); i++) {
		begin(pcs[i], 20, 60);
		stack[20] = CALLER; /* an old word */
		assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
		assert_int_equal(cursor.frames, 2);
		expect_mark(WIRE_COMPILED_WORDS);
		expect_enter(60);
	}
}

/* The same when the thread has gone on: the frame pointer is enterSpecial's. */
static void a_stub_that_thaws_later(void **state)
{
	(void)state;
	begin(BARRIER + 60, 20, 60);
	stack[20 + FRAME - 1] = CALLER; /* an old word */
	thread[CONT_ENTRY / 8] = 0;
	cursor.fp = STACK_AT + 8ULL * (60 + FRAME - 2);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	expect_enter(60);
}

static void an_unknown_enter_is_a_miss(void **state)
{
	static const uint64_t pcs[] = { BARRIER, BARRIER + 60 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pcs); i++) {
		begin(pcs[i], 20, 20);
		cursor.jvm.enter_return = 0;
		assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_STOP);
		assert_true(cursor.missed);
		assert_int_equal(cursor.reason, UNWIND_NO_THREAD);
		assert_int_equal(cursor.frames, 0);
		assert_int_equal(cursor.words, 0);
		assert_true(cursor.pc == pcs[i]);
	}
}

/* --- the parts -------------------------------------------------------------------------------- */

/* It is aligned, at or above the stack pointer and not far. */
static void where_an_entry_may_be(void **state)
{
	(void)state;
	begin(BARRIER, 20, 20);
	assert_true(continuation_may_be(&cursor, cursor.sp));
	assert_false(continuation_may_be(&cursor, cursor.sp - 8));
	assert_true(continuation_may_be(&cursor, cursor.sp + (64 << 10) - 8));
	assert_false(continuation_may_be(&cursor, cursor.sp + (64 << 10)));
	for (unsigned int i = 1; i < 8; i++)
		assert_false(continuation_may_be(&cursor, cursor.sp + 8 + i));
	assert_false(continuation_may_be(&cursor, 0));
}

/* The thread is known, or in %r15; its field may not be. */
static void the_entry_of_a_thread(void **state)
{
	(void)state;
	begin(BARRIER, 20, 60);
	assert_true(continuation_of_thread(&cursor, &memory) == STACK_AT + 8ULL * 60);
	cursor.r15 = STACK_AT; /* some number */
	assert_true(continuation_of_thread(&cursor, &memory) == STACK_AT + 8ULL * 60);
	cursor.thread = 0;
	cursor.r15 = THREAD_AT;
	assert_true(continuation_of_thread(&cursor, &memory) == STACK_AT + 8ULL * 60);
	cursor.jvm.thread_cont_entry = WIRE_JVM_ABSENT;
	assert_true(continuation_of_thread(&cursor, &memory) == 0);
	cursor.jvm.thread_cont_entry = sizeof(thread) - 7;
	assert_true(continuation_of_thread(&cursor, &memory) == 0);
	cursor.jvm.thread_cont_entry = CONT_ENTRY;
	cursor.r15 = 0;
	assert_true(continuation_of_thread(&cursor, &memory) == 0);
}

/* Asked about another pc: what is at this one stays. */
static void the_frame_of_enter_special(void **state)
{
	(void)state;
	begin(BARRIER, 20, 20);
	assert_int_equal(continuation_frame(&cursor, &memory), FRAME);
	assert_true(cursor.pc == BARRIER);
	cursor.jvm.enter_return = HEAP_AT + 30 * SEGMENT; /* no blob is there */
	cursor.missed = 1;
	assert_int_equal(continuation_frame(&cursor, &memory), 0);
	assert_int_equal(cursor.missed, 0);
	assert_true(cursor.pc == BARRIER);
}

/* Of several places the first that has a return address where enterSpecial has it. */
static void the_place_of_an_entry(void **state)
{
	(void)state;
	/* At sp, when that is the barrier itself; not so in a stub. */
	begin(BARRIER, 20, 20);
	stack[60 + FRAME - 1] = CALLER;
	thread[CONT_ENTRY / 8] = STACK_AT + 8ULL * 60;
	assert_true(continuation_entry(&cursor, &memory) == STACK_AT + 8ULL * 20);
	cursor.pc++;
	assert_true(continuation_entry(&cursor, &memory) == STACK_AT + 8ULL * 60);
	/* Then the thread's, then what %rbp says. */
	cursor.fp = STACK_AT + 8ULL * (80 + FRAME - 2);
	stack[80 + FRAME - 1] = CALLER;
	cursor.window_at = 0;
	assert_true(continuation_entry(&cursor, &memory) == STACK_AT + 8ULL * 60);
	stack[60 + FRAME - 1] = 0;
	cursor.window_at = 0;
	assert_true(continuation_entry(&cursor, &memory) == STACK_AT + 8ULL * 80);
	stack[80 + FRAME - 1] = 0;
	cursor.window_at = 0;
	assert_true(continuation_entry(&cursor, &memory) == cursor.sp);
}

/* The stubs lie around the barrier and have no frame size; without a barrier there are none. */
static void which_stubs_thaw(void **state)
{
	static const struct {
		int from_barrier;
		bool thaws;
	} cases[] = { { -161, false }, { -160, true }, { 0, true }, { 511, true }, { 512, false } };

	(void)state;
	begin(BARRIER, 20, 20);
	cursor.compiled_seen.frame_size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cursor.pc = BARRIER + (uint64_t)cases[i].from_barrier;
		assert_int_equal(continuation_thaws(&cursor), cases[i].thaws);
	}
	cursor.pc = BARRIER;
	cursor.compiled_seen.frame_size = 1;
	assert_false(continuation_thaws(&cursor));
	cursor.compiled_seen.frame_size = 0;
	cursor.jvm.return_barrier = 0;
	cursor.pc = 100;
	assert_false(continuation_thaws(&cursor));
}

/* Where the carrier goes on; in the barrier no frames are on their way, in a stub that has made room they are. */
static void what_is_found(void **state)
{
	(void)state;
	begin(BARRIER, 20, 20);
	cursor.fp = 0x7777;
	assert_false(continuation_find(&cursor, &memory));
	assert_true(cursor.frozen_at.entry == STACK_AT + 8ULL * 20);
	assert_true(cursor.frozen_at.fp == 0x7777);
	for (unsigned int room = 0; room < 10; room++) {
		begin(BARRIER + 60, 60 - room, 60);
		assert_int_equal(continuation_find(&cursor, &memory), room > 4);
		assert_true(cursor.frozen_at.entry == STACK_AT + 8ULL * 60);
	}
	begin(BARRIER, 20, 60); /* arguments */
	assert_false(continuation_find(&cursor, &memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_entry_lies_right_there),
		cmocka_unit_test(arguments_lie_between),
		cmocka_unit_test(the_thread_has_gone_on),
		cmocka_unit_test(a_stub_that_thaws),
		cmocka_unit_test(a_stub_that_thaws_later),
		cmocka_unit_test(an_unknown_enter_is_a_miss),
		cmocka_unit_test(where_an_entry_may_be),
		cmocka_unit_test(the_entry_of_a_thread),
		cmocka_unit_test(the_frame_of_enter_special),
		cmocka_unit_test(the_place_of_an_entry),
		cmocka_unit_test(which_stubs_thaw),
		cmocka_unit_test(what_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
