// SPDX-License-Identifier: Apache-2.0
/* Words that lie below a compiled frame: registers saved for a call, arguments, alignment. */
#include "test.h"

#include "leaf_world.h"

/* Pops right behind a return address take off what was pushed for the call. */
static void test_pops_behind_call(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(RA_OF(top - 1), "41 5a 58 90");
	expect_caller("two pops", RA_OF(top - 1), world_word(top + 2), RA_OF(top - 2));
}

/* C1's barrier of ZGC (JDK 28): add $0x10,%rsp; mov %rax,%rdx; pop %rax; jmp. No result, no pop. */
static void test_arguments_behind_call(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(RA_OF(top - 1), "48 83 c4 10 48 8b d0 58 e9");
	expect_caller("all", RA_OF(top - 1), world_word(top + 3), RA_OF(top - 2));
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(RA_OF(top - 1), "48 83 c4 10 e9");
	expect_caller("two words", RA_OF(top - 1), world_word(top + 2), RA_OF(top - 2));
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(RA_OF(top - 1), "48 83 c4 10 5d c3");
	expect_caller("an epilogue", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
}

/* A barrier's stub saved registers below the frame before it called native code. */
static void test_saved_below_frame(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "48 8b 44 24 08 48 81 c4 40 01 00 00 e9 11 22 33 44", 8);
	for (unsigned int i = SP_WORD; i < SP_WORD + 40 + 7; i++)
		world_stack[i] = 1;
	world.leaf = 0;
	world.native = 1;
	world_stack[top + 40 - 2] = 0x7777;
	expect_caller("add", RA_OF(top + 40 - 1), world_word(top + 40), 0x7777);
}

/* JDK 8 saves all registers to call SharedRuntime::dsin(): the code before the call, and behind it. */
#define SAVES	 "48 81 ec 00 01 00 00 c5 fa 7f 04 24 48 83 ec 08 dd 1c 24 "
#define CALLS	 "f7 c4 0f 00 00 00 0f 84 12 00 00 00 48 83 ec 08 e8 7a 10 0f 18 "
#define RETURNS	 "48 83 c4 08 e9 05 00 00 00 e8 6c 10 0f 18 c5 fb 11 04 24 dd 04 24 "
#define RESTORES "48 83 c4 08 c5 fa 6f 04 24 48 81 c4 00 01 00 00 4c 8b 3c 24 "
#define ENDS	 "48 8b 44 24 78 48 81 c4 80 00 00 00 dd 1c 24 48 83 ec 10"

/* All words look like return addresses: the frame begins where nothing is left to be taken off. */
static void test_trigonometry(void **state)
{
	static const struct {
		const char *at;
		unsigned int words; /* below the frame */
	} cases[] = {
		{ SAVES CALLS RETURNS RESTORES ENDS, 16 },
		{ CALLS RETURNS RESTORES ENDS, 16 + 32 + 1 },
		{ RESTORES ENDS, 16 + 32 + 1 },
		{ ENDS, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int odd = cases[i].words & 1, top = SP_WORD + odd + cases[i].words + 8;

		leaf_begin(IN_BODY, "90", cases[i].at, 8);
		world.sp += 8ULL * odd;
		expect_caller("leaf", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
	}
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int top = SP_WORD + 16 + 32 + 2 + 8;

		leaf_begin(IN_BODY, "90", RETURNS RESTORES ENDS, 8);
		world.leaf = 0;
		world.native = 1;
		world.jvm.sender_sp_slot = -1;
		/* In %rbp is what an interpreted frame left there. */
		world_stack[SP_WORD + 7] = i;
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD + 19] = world_word(SP_WORD + 24);
		expect_caller("caller", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
	}
}

/* An address in the interpreter is a return address only where its frame pointer is below it. */
static void test_saved_interpreter_address(void **state)
{
	unsigned int top = SP_WORD + 16 + 8;

	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		leaf_begin(IN_BODY, "90", "48 81 c4 80 00 00 00 90 48 83 c4 10 90", 8);
		for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
			world_stack[i] = 1;
		world.jvm.interpreter_start = RA_OF(0);
		world.jvm.interpreter_end = RA_OF(500);
		world_stack[SP_WORD + 7] = world_stack[top - 1] = world_stack[top + 1] = RA_OF(2);
		world_stack[top - 2] = world_word(top + 9);
		world.leaf = !native;
		world.native = native != 0;
		expect_caller("saved", RA_OF(2), world_word(top), world_word(top + 9));
	}
}

/* The blob that RA_OF() of a frame's end lies in. */
#define CALLERS_SEGMENT 1030

/* What a call of this code from a frame that was called, or the frame pointer, says needs no look ahead. */
static void test_certain_frame(void **state)
{
	unsigned int top = SP_WORD + 8;
	uint64_t ra = RA_OF(top - 1);
	int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - ra);

	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		leaf_begin(IN_BODY, "90", ENDS, 8);
		world_blob(CALLERS_SEGMENT, 16, 6);
		put_hex(ra - 5, "e8");
		memcpy(world_heap + (ra - 4 - HEAP_AT), &displacement, 4);
		world.leaf = !native;
		world.native = native != 0;
		expect_caller("call", ra, world_word(top), RA_OF(top - 2));
	}
	leaf_begin(IN_BODY, "90", ENDS, 8);
	world.fp = world_word(top - 2);
	world.leaf = 0;
	world.native = 1;
	expect_caller("frame pointer", ra, world_word(top), RA_OF(top - 2));
}

/* C1's forward_exception takes over another stub's frame while it restores all registers. */
static void test_other_stubs_frame(void **state)
{
	unsigned int fp = SP_WORD + 16;

	(void)state;
	leaf_begin(IN_BODY, "48 81 c4 f0 03 00 00", "4c 8b 3c 24 4c 8b 74 24 08", 144);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 1;
	world.fp = world_word(fp);
	world_stack[fp] = 0x7777;
	world_stack[fp + 1] = RA_OF(fp + 1);
	expect_caller("leaf", RA_OF(fp + 1), world_word(fp + 2), 0x7777);
}

/* A word of alignment is below the frame, whose place %rbp says. */
static void test_aligned_for_call(void **state)
{
	unsigned int top = SP_WORD + 8;
	int16_t never = -1;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	world.sp -= 8;
	world_stack[top - 2] = 0x7777;
	world.fp = world_word(top - 2);
	world.leaf = 0;
	world.native = 1;
	expect_caller("and $-16", RA_OF(top - 1), world_word(top), 0x7777);
	/* The deoptimisation blob's frame when it unpacks: above are interpreted frames of any size. */
	for (unsigned int odd = 0; odd < 2; odd++) {
		leaf_begin(IN_BODY, "48 83 e4 f0 ff d0", "90", 8);
		memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never,
		       2);
		world.sp -= 8 + 8 * odd;
		world_stack[top - 2 - odd] = RA_OF(7);
		world_stack[top - 3 - odd] = world_word(top + 10); /* an old word */
		world.fp = world_word(top - 2 - odd);
		world.leaf = 0;
		world.native = 1;
		expect_caller("deopt", RA_OF(top - 1 - odd), world_word(top - odd), RA_OF(7));
	}
}

/* --- the instructions ahead ------------------------------------------------------------------- */

static unsigned int move_at_pc(const char *hex)
{
	leaf_begin(IN_BODY, "90", hex, 8);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	return compiled_move(&world, UNWIND_TEXT_BEHIND);
}

/* Not what ends the frame itself, and nothing that is larger than all registers. */
static void test_moves(void **state)
{
	static const struct {
		const char *hex;
		unsigned int move;
	} cases[] = {
		{ "48 83 c4 18 90", 0x18 },
		{ "48 83 c4 18 5d", COMPILED_NO_MOVE },
		{ "48 83 ec 18 90", 0x18 | COMPILED_MOVE_SUB },
		{ "48 83 ec 18 5d", 0x18 | COMPILED_MOVE_SUB },
		{ "48 81 c4 10 02 00 00 90", 0x210 },
		{ "48 81 c4 10 02 00 00 5d", COMPILED_NO_MOVE },
		{ "48 81 ec 10 02 00 00 90", 0x210 | COMPILED_MOVE_SUB },
		{ "48 81 c4 00 20 00 00 90", 8192 },
		{ "48 81 c4 01 20 00 00 90", COMPILED_NO_MOVE },
		{ "48 81 ec 00 20 00 00 90", 8192 | COMPILED_MOVE_SUB },
		{ "48 81 c4 00 00 00 01 90", COMPILED_NO_MOVE },
		{ "48 82 c4 18 90", COMPILED_NO_MOVE },
		{ "49 83 c4 18 90", COMPILED_NO_MOVE },
		{ "48 81 e4 10 02 00 00 90", COMPILED_NO_MOVE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (move_at_pc(cases[i].hex) != cases[i].move)
			fail_msg("%s: %#x, not %#x", cases[i].hex, move_at_pc(cases[i].hex),
				 cases[i].move);
}

/* A frame of eight words that begins LOWERED bytes above sp, with RA as its return address. */
static int is_lowered(uint32_t lowered, uint64_t ra, uint64_t fp)
{
	uint64_t end = world_word(SP_WORD) + lowered + 64;

	leaf_begin(IN_BODY, "90", "90", 8);
	world.compiled_seen.frame_size = 8;
	world.jvm.interpreter_start = HEAP_AT;
	world.jvm.interpreter_end = HEAP_AT + 4096;
	if (end < STACK_AT + sizeof(world_stack)) {
		world_stack[(end - 8 - STACK_AT) / 8] = ra;
		world_stack[(end - 16 - STACK_AT) / 8] = fp;
	}
	return compiled_is_lowered(&world, &world_memory, lowered);
}

static void test_lowered(void **state)
{
	uint64_t end = world_word(SP_WORD) + 64;

	(void)state;
	assert_true(is_lowered(0, RA_OF(7), 0));
	assert_true(is_lowered(16, RA_OF(7), 0));
	assert_false(is_lowered(8, RA_OF(7), 0));
	assert_false(is_lowered(0, NATIVE_AT, 0));
	/* Into the interpreter only with a frame pointer above. */
	assert_true(is_lowered(0, HEAP_AT + 64, end));
	assert_false(is_lowered(0, HEAP_AT + 64, end - 8));
	assert_false(is_lowered(0, HEAP_AT + 64, 0));
	assert_true(is_lowered(0, HEAP_AT + 64, end + UNWIND_MAX_FRAME_BYTES - 8));
	assert_false(is_lowered(0, HEAP_AT + 64, end + UNWIND_MAX_FRAME_BYTES));
	/* Nothing is so far away, or can be read there. */
	assert_true(is_lowered(4096, RA_OF(7), 0));
	assert_false(is_lowered(COMPILED_MAX_SAVED, RA_OF(7), 0));
	is_lowered(0, RA_OF(7), 0);
	world.sp -= COMPILED_MAX_SAVED;
	assert_false(compiled_is_lowered(&world, &world_memory, COMPILED_MAX_SAVED + 16));
}

/* The text is at pc, and PASSED bytes of it were looked at; where sp is then. */
static void expect_pass(uint64_t passed, uint32_t saved, uint64_t next, uint32_t then)
{
	uint64_t state = compiled_pass_move(&world, &world_memory, passed << 32 | saved);

	assert_true(state >> 32 == next);
	assert_true((uint32_t)state == then);
}

static void test_passing_moves(void **state)
{
	(void)state;
	leaf_begin(IN_BODY, "90", "90 48 83 c4 18 90 48 81 ec 00 01 00 00 90", 8);
	/* One byte behind where the instruction begins the next one is looked for. */
	expect_pass(0, 0, 2, 0x18);
	expect_pass(0, 0x100, 2, 0x118);
	expect_pass(2, 0x18, 7, 0x18 - 0x100);
	expect_pass(1, 0, 2, 0x18);
	expect_pass(7, 0, 0, 0);
	/* Near is what is read at a time, but for the longest instruction's bytes. */
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(world.pc + UNWIND_TEXT_BYTES - 9, "48 83 c4 18 90");
	expect_pass(0, 0, UNWIND_TEXT_BYTES - 8, 0x18);
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(world.pc + UNWIND_TEXT_BYTES - 8, "48 83 c4 18 90");
	expect_pass(0, 0, 0, 0);
	world.pc = HEAP_AT + sizeof(world_heap) - UNWIND_TEXT_BYTES;
	put_hex(world.pc + 1, "48 83 c4 18 90");
	expect_pass(0, 0, 2, 0x18);
	expect_pass(1, 0, 0, 0);
}

/* The last place that fits, before sp is lowered anew. */
static void test_saved_bytes(void **state)
{
	static const char *const texts[] = {
		"90",
		"48 83 c4 10 90",
		"48 83 c4 10 48 83 c4 10 90",
		"48 83 c4 08 48 83 c4 10 90",		  /* neither is aligned */
		"48 83 c4 08 48 83 c4 08 90",		  /* both together are */
		"48 83 c4 10 48 83 ec 10 48 83 c4 30 90", /* lowered anew */
		"48 83 ec 10 48 83 c4 30 90",		  /* the same first */
		"48 83 ec 10 48 83 c4 10 90",		  /* and nothing but that */
	};
	static const unsigned int bytes[] = { 0, 16, 32, 0, 16, 16, 32, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		leaf_begin(IN_BODY, "90", texts[i], 8);
		world.compiled_seen.frame_size = 8;
		if (compiled_saved_bytes(&world, &world_memory) != bytes[i])
			fail_msg("%s: not %u bytes", texts[i], bytes[i]);
	}
	/* Ten of them are looked at. */
	for (unsigned int count = 10; count < 12; count++) {
		leaf_begin(IN_BODY, "90", "90", 8);
		world.compiled_seen.frame_size = 8;
		for (unsigned int i = 0; i < count; i++)
			put_hex(world.pc + 5ULL * i, "48 83 c4 10 90");
		assert_int_equal(compiled_saved_bytes(&world, &world_memory), 160);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pops_behind_call),
		cmocka_unit_test(test_arguments_behind_call),
		cmocka_unit_test(test_saved_below_frame),
		cmocka_unit_test(test_trigonometry),
		cmocka_unit_test(test_saved_interpreter_address),
		cmocka_unit_test(test_certain_frame),
		cmocka_unit_test(test_other_stubs_frame),
		cmocka_unit_test(test_aligned_for_call),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_lowered),
		cmocka_unit_test(test_passing_moves),
		cmocka_unit_test(test_saved_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
