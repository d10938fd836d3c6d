// SPDX-License-Identifier: Apache-2.0
/* The blob to which a safepoint poll leads: push %rbx; push %rbp; mov %rsp,%rbp, instruction by instruction. */
#include "test.h"

#include "leaf_world.h"

#define THREADS_PC RA_OF(700)
#define RBX	   0x5555ULL
#define NEVER	   (-1)

/* DONE bytes of its code were run. */
static void begin(uint64_t done)
{
	int16_t never = NEVER;

	leaf_begin(0, "90", "90", 8);
	put_hex(CODE_OF(SEGMENT_OF_CODE), "53 55 48 8b ec 90 90 90");
	memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never, 2);
	world.pc = CODE_OF(SEGMENT_OF_CODE) + done;
	world.r15 = THREAD_AT;
	world_thread[THREAD_SAVED_PC] = THREADS_PC;
	world.leaf_regs[DWARF_RBX] = RBX;
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 0x10 + i;
	world.fp = world_word(SP_WORD + 2);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
}

static int leave(void)
{
	world.window_at = 0;
	return compiled_leave_poll(&world, &world_memory);
}

/* Where the frame is after each of the instructions; FP is the caller's. */
static void expect_left(uint64_t done, unsigned int sp, uint64_t fp)
{
	begin(done);
	assert_int_equal(leave(), UNWIND_GO_ON);
	assert_true(world.pc == THREADS_PC);
	assert_int_equal(world.sp, world_word(sp));
	assert_int_equal(world.fp, fp);
}

static void each_instruction(void **state)
{
	(void)state;
	expect_left(0, SP_WORD, world_word(SP_WORD + 2));
	expect_left(1, SP_WORD + 1, world_word(SP_WORD + 2));
	expect_left(2, SP_WORD + 2, 0x10 + SP_WORD);
	expect_left(5, SP_WORD + 4, 0x10 + SP_WORD + 2);
	expect_left(7, SP_WORD + 4, 0x10 + SP_WORD + 2);
}

/* With a return address in its place it is as any other frame; %rbx may look like one. */
static void a_return_address_that_is_there(void **state)
{
	static const struct {
		uint64_t done;
		unsigned int word;
	} cases[] = { { 1, SP_WORD }, { 2, SP_WORD + 1 }, { 5, SP_WORD + 3 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(cases[i].done);
		world_stack[cases[i].word] = RA_OF(1);
		assert_int_equal(leave(), COMPILED_NO_POLL);
		begin(cases[i].done);
		world_stack[cases[i].word] = world.leaf_regs[DWARF_RBX] = RA_OF(1);
		assert_int_equal(leave(), UNWIND_GO_ON);
		assert_true(world.pc == THREADS_PC);
	}
	/* And where it would be nothing can be read. */
	begin(1);
	world.sp = STACK_AT - 64;
	assert_int_equal(leave(), COMPILED_NO_POLL);
}

static void what_is_no_such_blob(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		begin(1);
		world_heap[CODE_OF(SEGMENT_OF_CODE) - HEAP_AT + i] ^= 0xff;
		assert_int_equal(leave(), COMPILED_NO_POLL);
	}
	begin(1);
	world.jvm.thread_saved_pc = WIRE_JVM_ABSENT;
	assert_int_equal(leave(), COMPILED_NO_POLL);
	/* At its ret %rbp is the caller's. */
	begin(1);
	world.text[UNWIND_TEXT_BEHIND] = LEAF_RET;
	assert_int_equal(leave(), COMPILED_NO_POLL);
	/* It never says where its frame is complete. */
	begin(1);
	memset(world.blob + FIELD_COMPLETE, 0, 2);
	assert_int_equal(leave(), COMPILED_NO_POLL);
	begin(1);
	world.jvm.code_begin_kind = WIRE_CODE_BEGIN_POINTER;
	assert_int_equal(leave(), COMPILED_NO_POLL);
	/* The thread says nothing, or no Java code. */
	begin(1);
	world.r15 = 0x1000;
	assert_int_equal(leave(), COMPILED_NO_POLL);
	begin(1);
	world_thread[THREAD_SAVED_PC] = NATIVE_AT;
	assert_int_equal(leave(), COMPILED_NO_POLL);
	/* The frame pointer is no place of this frame; in front of its move it may be any value. */
	begin(5);
	world.fp = world_word(SP_WORD - 1);
	assert_int_equal(leave(), COMPILED_NO_POLL);
	begin(2);
	world.fp = 7;
	assert_int_equal(leave(), UNWIND_GO_ON);
	begin(1);
	world.fp = 7;
	assert_int_equal(leave(), UNWIND_GO_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction),
		cmocka_unit_test(a_return_address_that_is_there),
		cmocka_unit_test(what_is_no_such_blob),
	};

	return cmocka_run_group_tests_name("compiled_safepoint", tests, NULL, NULL);
}
