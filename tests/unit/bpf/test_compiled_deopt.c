// SPDX-License-Identifier: Apache-2.0
/*
 * The leaf in the deoptimisation blob, instruction by instruction, as JDK 8 to 28 have it: entered by an exception, without a
 * return address, and where interpreted frames take the place of a compiled one.
 */
#include "test.h"

#include "leaf_world.h"

#define EXCEPTION_PC RA_OF(700)
#define FRAME_WORDS  40
#define CALLERS_FP   0x5555ULL

/* generate_deopt_blob(): the exception's entry, behind the end of another one. */
static const char entry[] =
	"41 be 03 00 00 00 e9 a8 02 00 00 49 89 97 e8 05 00 00 49 89 87 e0 05 00 00 68 00 00 00 00 55 48 8b ec 9c 48 83 ec 08 90 90 90";
#define ENTRY_AT 11

/* The swap, from the end of the registers' save area on. */
static const char swap[] =
	"48 81 c4 18 0b 00 00 8b 0f 48 03 e1 48 8b 6f 30 48 8b 4f 18 48 83 c4 08 48 8b 77 10 8b 57 08 4c 8b c4 8b 5f 04 48 2b e3 48 8b 1e "
	"48 83 eb 10 48 ff 31 55 48 8b ec 48 2b e3 48 c7 45 f0 00 00 00 00 4c 89 45 f8 4c 8b c4 48 83 c6 08 48 83 c1 08 ff ca 75 d4 48 ff 31 "
	"55 48 8b ec 48 81 ec 10 0b 00 00 90 90 90 90";

/* DONE bytes of CODE were run; the blob never says where its frame is complete. */
static void begin(const char *code, uint64_t done, int16_t complete)
{
	leaf_begin(COMPILED_STUB_PROLOGUE, "90", "90", FRAME_WORDS);
	put_hex(CODE_OF(SEGMENT_OF_CODE), "55 48 8b ec");
	put_hex(CODE_OF(SEGMENT_OF_CODE) + 256, code);
	memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &complete, 2);
	world.pc = CODE_OF(SEGMENT_OF_CODE) + 256 + done;
	world.r15 = world.leaf_regs[DWARF_R15] = THREAD_AT;
	world_thread[THREAD_EXCEPTION_PC] = EXCEPTION_PC;
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 0x10 + i;
	world.fp = world.leaf_regs[DWARF_RBP] = CALLERS_FP;
}

static void expect_left(uint64_t pc, unsigned int sp, uint64_t fp)
{
	expect_caller("", pc, world_word(sp), fp);
}

/* The address is in %rdx, then where the thread has it. */
static void an_exceptions_entry(void **state)
{
	(void)state;
	begin(entry, ENTRY_AT, -1);
	world_thread[THREAD_EXCEPTION_PC] = RA_OF(1);
	expect_left(RA_OF(901), SP_WORD, CALLERS_FP);
	begin(entry, ENTRY_AT + 7, -1);
	expect_left(EXCEPTION_PC, SP_WORD, CALLERS_FP);
	begin(entry, ENTRY_AT + 14, -1);
	expect_left(EXCEPTION_PC, SP_WORD, CALLERS_FP);
	begin(entry, ENTRY_AT + 19, -1);
	world_stack[SP_WORD] = 0;
	expect_left(EXCEPTION_PC, SP_WORD + 1, CALLERS_FP);
	begin(entry, ENTRY_AT + 20, -1);
	world_stack[SP_WORD] = CALLERS_FP;
	world_stack[SP_WORD + 1] = 0;
	world.fp = world.leaf_regs[DWARF_RBP] = 0x77;
	expect_left(EXCEPTION_PC, SP_WORD + 2, CALLERS_FP);
}

static void begin_saving(void)
{
	begin(entry, ENTRY_AT + 24, -1);
	world.fp = world.leaf_regs[DWARF_RBP] = world_word(SP_WORD + 6);
	world_stack[SP_WORD + 6] = CALLERS_FP;
	world_stack[SP_WORD + 7] = 0;
}

/* While all registers are saved there is a 0 in its place; then it is as any other. */
static void registers_that_are_saved(void **state)
{
	(void)state;
	begin_saving();
	expect_left(EXCEPTION_PC, SP_WORD + 8, CALLERS_FP);
	begin_saving();
	world_stack[SP_WORD + 7] = RA_OF(3);
	expect_left(RA_OF(3), SP_WORD + 8, CALLERS_FP);
}

static void expect_end(void)
{
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
}

/* What the thread has is no Java code's, or cannot be read. */
static void exceptions_from_nowhere(void **state)
{
	(void)state;
	begin_saving();
	world_thread[THREAD_EXCEPTION_PC] = NATIVE_AT;
	expect_end();
	begin_saving();
	world.jvm.thread_exception_pc = WIRE_JVM_ABSENT;
	world.r15 = THREAD_AT + 8 * THREAD_EXCEPTION_PC - WIRE_JVM_ABSENT;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_exception(&world, &world_memory), COMPILED_NO_DEOPT);
	begin_saving();
	world.r15 = 0x1000;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_exception(&world, &world_memory), COMPILED_NO_DEOPT);
	/* A frame of few words, or one that says where it is complete, is none of these. */
	begin_saving();
	world_put_int(BLOB_AT(SEGMENT_OF_CODE), FIELD_FRAME, 31);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_exception(&world, &world_memory), COMPILED_NO_DEOPT);
	world_put_int(BLOB_AT(SEGMENT_OF_CODE), FIELD_FRAME, 32);
	world.compiled_seen.pc = world.blob_at = 0;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_exception(&world, &world_memory), UNWIND_GO_ON);
}

/* --- frames in place of others ---------------------------------------------------------------- */

/* Where the made-up thread has where the frames go on, and the array; the stack pointer of who is youngest. */
#define FRAME_PCS    10
#define THREAD_ARRAY 12
#define SENDER_WORD  (SP_WORD + 6)
#define ARRAY_WORD   900

/* Bytes of `swap` that were run. */
enum {
	POPPED = 7,
	TOOK = 12,
	HAS_FP = 16,
	HAS_PCS = 20,
	DROPPED = 24,
	GROWS = 37,
	GROWN = 40,
	PUSHES = 47,
	SENT = 72,
	JUMPS = 82,
	LAST = 84,
	PUSHED = 87,
	ENTERS = 88,
	ENTERED = 91,
};

static void begin_swap(unsigned int done)
{
	begin(swap, done, -1);
	world_stack[SP_WORD] = RA_OF(5);
	world_stack[SP_WORD - 1] = 0x99;
	world_thread[FRAME_PCS] = RA_OF(8);
	world.leaf_regs[DWARF_RCX] = THREAD_AT + 8 * FRAME_PCS;
	world.leaf_regs[DWARF_R8] = world_word(SENDER_WORD);
}

/* So many frames will be there, by the thread's array. */
static void will_be(int32_t frames)
{
	world.jvm.unpacking =
		(struct wire_unpacking){ .array = 8 * THREAD_ARRAY, .frames = 4, .elements = 8 };
	world.unpacking_live = 1;
	world_thread[THREAD_ARRAY] = world_word(ARRAY_WORD);
	world_stack[ARRAY_WORD] = (uint64_t)(uint32_t)frames << 32;
}

/* The frame that goes is off the stack: its saved frame pointer and return address are still there. */
static void while_the_frame_goes(void **state)
{
	static const unsigned int places[] = { POPPED, POPPED + 2 };
	static const unsigned int behind[] = { HAS_FP, HAS_PCS };
	static const unsigned int dropped[] = { DROPPED, DROPPED + 4, GROWS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		begin_swap(places[i]);
		expect_left(RA_OF(5), SP_WORD + 1, 0x99);
	}
	begin_swap(TOOK);
	expect_left(RA_OF(5), SP_WORD + 1, 0x99);
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		begin_swap(behind[i]);
		expect_left(RA_OF(5), SP_WORD + 1, CALLERS_FP);
	}
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++) {
		begin_swap(dropped[i]);
		world_stack[SP_WORD] = 0x88;
		world_stack[SP_WORD - 1] = RA_OF(6);
		expect_left(RA_OF(6), SP_WORD, CALLERS_FP);
	}
}

/* Its return address is where %rcx points, until it is pushed; the caller's stack pointer is %r8. */
static void while_others_come(void **state)
{
	static const unsigned int places[] = { GROWN, GROWN + 3, PUSHES, LAST };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		begin_swap(places[i]);
		expect_left(RA_OF(8), SENDER_WORD, CALLERS_FP);
		/* No code's, or not to be read. */
		begin_swap(places[i]);
		world_thread[FRAME_PCS] = NATIVE_AT;
		expect_end();
		begin_swap(places[i]);
		world.leaf_regs[DWARF_RCX] = 0x1000;
		expect_end();
	}
}

static void while_one_is_made(void **state)
{
	static const unsigned int made[] = { PUSHES + 7, PUSHES + 10, SENT - 3 };
	static const unsigned int next[] = { SENT, SENT + 4, JUMPS };

	(void)state;
	begin_swap(PUSHES + 3);
	expect_left(RA_OF(5), SENDER_WORD, CALLERS_FP);
	begin_swap(PUSHES + 4);
	world_stack[SP_WORD + 1] = RA_OF(9);
	expect_left(RA_OF(9), SENDER_WORD, RA_OF(5));
	for (size_t i = 0; i < ARRAY_SIZE(made) + ARRAY_SIZE(next); i++) {
		bool is_next = i >= ARRAY_SIZE(made);

		begin_swap(is_next ? next[i - ARRAY_SIZE(made)] : made[i]);
		world.fp = world.leaf_regs[DWARF_RBP] = world_word(SP_WORD + 4);
		world_stack[SP_WORD + 3] = is_next ? world_word(SENDER_WORD) : 0;
		world_stack[SP_WORD + 4] = CALLERS_FP;
		world_stack[SP_WORD + 5] = RA_OF(9);
		if (is_next)
			world.leaf_regs[DWARF_R8] = world_word(SP_WORD);
		expect_left(RA_OF(9), SENDER_WORD, CALLERS_FP);
	}
}

/* Frames that are on no stack yet are written from the array: those that are there, from fp on, need not be. */
static void frames_that_will_come(void **state)
{
	(void)state;
	begin_swap(GROWN);
	will_be(3);
	expect_left(RA_OF(8), SENDER_WORD, CALLERS_FP);
	assert_int_equal(world.unpacking_next, 0);
	assert_int_equal(world.unpacking_end, 3);
	assert_int_equal(world.unpacks, 4);
	/* Of whom the youngest is interpreted, and empty; and whoever called it is not. */
	begin_swap(GROWN);
	will_be(3);
	world.jvm.interpreter_start = RA_OF(8);
	world.jvm.interpreter_end = RA_OF(8) + 1;
	world.fp = world.leaf_regs[DWARF_RBP] = world_word(SENDER_WORD + 4);
	world_stack[SENDER_WORD + 2] = 0;
	world_stack[SENDER_WORD + 4] = world_word(SENDER_WORD + 20);
	expect_left(RA_OF(8), SENDER_WORD, world_word(SENDER_WORD + 4));
	assert_int_equal(world.unpacking_end, 2);
	assert_int_equal(world.unpacks, 3);
	/* More than are counted. */
	begin_swap(GROWN);
	will_be(UNPACKING_MAX_FRAMES);
	expect_left(RA_OF(8), SENDER_WORD, CALLERS_FP);
	assert_int_equal(world.unpacking_end, 0);
}

/* While the compiled frame is there, it is walked; and the other way is any other frame's. */
static void frames_that_need_not_come(void **state)
{
	static const struct {
		unsigned int done;
		int count;
	} cases[] = {
		{ POPPED, 0 }, { POPPED + 2, 0 }, { TOOK, 2 }, { HAS_FP, 2 }, { DROPPED, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_swap(cases[i].done);
		will_be(2);
		world_stack[SP_WORD - 1] = RA_OF(6);
		assert_int_equal(world_step(), UNWIND_GO_ON);
		assert_int_equal(world.unpacking_end, cases[i].count);
	}
}

static void when_all_are_there(void **state)
{
	(void)state;
	begin_swap(PUSHED);
	expect_left(RA_OF(5), SENDER_WORD, CALLERS_FP);
	begin_swap(ENTERS);
	world_stack[SP_WORD] = 0x98;
	world_stack[SP_WORD + 1] = RA_OF(7);
	expect_left(RA_OF(7), SENDER_WORD, 0x98);
	begin_swap(ENTERED);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_deopt(&world, &world_memory), COMPILED_NO_DEOPT);
}

/* The same instructions without the loop, or in code that says where its frame is complete. */
static void what_is_no_such_blob(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		begin_swap(HAS_FP);
		world_heap[CODE_OF(SEGMENT_OF_CODE) + 256 + 43 + i - HEAP_AT] ^= 0xff;
		assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
		assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
		assert_int_equal(compiled_leave_deopt(&world, &world_memory), COMPILED_NO_DEOPT);
	}
	begin(swap, HAS_FP, 16);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_leave_deopt(&world, &world_memory), COMPILED_NO_DEOPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exceptions_entry),
		cmocka_unit_test(registers_that_are_saved),
		cmocka_unit_test(exceptions_from_nowhere),
		cmocka_unit_test(while_the_frame_goes),
		cmocka_unit_test(while_others_come),
		cmocka_unit_test(while_one_is_made),
		cmocka_unit_test(frames_that_will_come),
		cmocka_unit_test(frames_that_need_not_come),
		cmocka_unit_test(when_all_are_there),
		cmocka_unit_test(what_is_no_such_blob),
	};

	return cmocka_run_group_tests_name("compiled_deopt", tests, NULL, NULL);
}
