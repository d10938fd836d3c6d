// SPDX-License-Identifier: Apache-2.0
/* Whether a return address may be one by the frame it leads to, and where a frame begins by %rbp. */
#include "test.h"

#include <inttypes.h>

#include "leaf_world.h"

#define ELSEWHERE	 64 /* segment of other code, whose frame has six words */
#define ELSEWHERE_PC	 (CODE_OF(ELSEWHERE) + 40)
#define TOP		 (SP_WORD + 8)
#define INTERPRETED_SLOT (-1)
#define NEVER_COMPLETE	 (-1)

static void begin(void)
{
	leaf_begin(IN_BODY, "90", "90", 8);
	world_blob(ELSEWHERE, 8, 6);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	world.jvm.sender_sp_slot = INTERPRETED_SLOT;
}

/* --- a look at another frame ------------------------------------------------------------------ */

static void the_cursor_is_as_it_was(void **state)
{
	struct unwind_cursor before;

	(void)state;
	begin();
	world.compiled_kept.pc = 1;
	before = world;
	assert_int_equal(
		compiled_size_elsewhere(&world, &world_memory, ELSEWHERE_PC, world_word(9)), 6);
	assert_true(world.pc == before.pc && world.sp == before.sp && world.fp == before.fp);
	assert_true(world.leaf == 1 && world.exact == 1 && world.missed == 0);
	assert_memory_equal(&world.compiled_seen, &before.compiled_seen,
			    sizeof(before.compiled_seen));
	assert_true(world.blob_at == BLOB_AT(ELSEWHERE));
	assert_int_equal(compiled_give_back_blob(&world, &world_memory), 0);
	assert_true(world.blob_at == BLOB_AT(SEGMENT_OF_CODE));
	/* What is no code, and a stub. */
	assert_int_equal(compiled_size_elsewhere(&world, &world_memory, HEAP_AT + 200 * SEGMENT, 8),
			 -1);
	world_blob(ELSEWHERE, 8, 0);
	begin();
	world_blob(ELSEWHERE, 8, 0);
	assert_int_equal(compiled_size_elsewhere(&world, &world_memory, ELSEWHERE_PC, 8), 0);
}

/* Code that is to be deoptimised has another pc, which is a return address. */
static void a_look_at_a_deoptimised_frame(void **state)
{
	(void)state;
	begin();
	world_stack[200 + 1] = CODE_OF(ELSEWHERE) + 8;
	assert_int_equal(compiled_size_elsewhere(&world, &world_memory,
						 BLOB_AT(ELSEWHERE) + 8 * SEGMENT - 32,
						 world_word(200)),
			 6);
	assert_true(world.pc == CODE_OF(SEGMENT_OF_CODE) + IN_BODY + 1);
	assert_true(world.leaf == 1 && world.exact == 1);
}

/* It stays gone when it cannot be read, and none is read when there was none. */
static void the_blob_that_was(void **state)
{
	(void)state;
	begin();
	world.compiled_kept.blob = 0;
	world.blob_at = BLOB_AT(ELSEWHERE);
	assert_int_equal(compiled_give_back_blob(&world, &world_memory), 0);
	assert_true(world.blob_at == BLOB_AT(ELSEWHERE));
	world.compiled_kept.blob = HEAP_AT - 4096;
	world.missed = 1;
	assert_true(compiled_give_back_blob(&world, &world_memory) != 0);
	assert_int_equal(world.missed, 0);
	assert_false(compiled_checks_out(&world, &world_memory, HEAP_AT - 1, world_word(200)));
}

static int checks_out(uint64_t ra, unsigned int sp, uint64_t its_ra)
{
	begin();
	world_stack[sp + 5] = its_ra;
	return compiled_checks_out(&world, &world_memory, ra, world_word(sp));
}

static void a_frame_that_checks_out(void **state)
{
	(void)state;
	assert_true(checks_out(ELSEWHERE_PC, 200, RA_OF(3)));
	assert_true(world.blob_at == BLOB_AT(SEGMENT_OF_CODE));
	assert_false(checks_out(ELSEWHERE_PC, 200, NATIVE_AT));
	assert_false(checks_out(HEAP_AT + 200 * SEGMENT, 200, RA_OF(3)));
	/* Of frames by the frame pointer nothing can be said. */
	begin();
	world_blob(ELSEWHERE, 8, 0);
	world_stack[205] = NATIVE_AT;
	assert_true(compiled_checks_out(&world, &world_memory, ELSEWHERE_PC, world_word(200)));
	begin();
	world.jvm.interpreter_start = ELSEWHERE_PC;
	world.jvm.interpreter_end = ELSEWHERE_PC + 1;
	world_stack[205] = NATIVE_AT;
	assert_true(compiled_checks_out(&world, &world_memory, ELSEWHERE_PC, world_word(200)));
	/* Its stack pointer may be above the stack. */
	begin();
	assert_false(compiled_checks_out(&world, &world_memory, ELSEWHERE_PC,
					 STACK_AT + sizeof(world_stack)));
}

/* --- by the frame pointer --------------------------------------------------------------------- */

static void put_complete(int16_t complete)
{
	memcpy(world.blob + FIELD_COMPLETE, &complete, sizeof(complete));
}

/* An interpreted frame's sender is above its two words, and not far. */
static int fp_is_interpreted(uint64_t sender_from_fp)
{
	begin();
	world.fp = world_word(200);
	world_stack[199] = world.fp + sender_from_fp;
	return compiled_fp_is_interpreted(&world, &world_memory);
}

static void the_frame_pointer_of_an_interpreted_frame(void **state)
{
	(void)state;
	assert_false(fp_is_interpreted(8));
	assert_true(fp_is_interpreted(16));
	assert_true(fp_is_interpreted(UNWIND_MAX_FRAME_BYTES - 8));
	assert_false(fp_is_interpreted(UNWIND_MAX_FRAME_BYTES));
	assert_false(fp_is_interpreted(-8ULL));
	world.fp = STACK_AT;
	assert_false(compiled_fp_is_interpreted(&world, &world_memory));
}

/* %rbp is that of a frame of eight words that begins so many bytes above sp. */
static uint32_t lowered_by_fp(uint64_t bytes)
{
	begin();
	world.fp = world_word(TOP - 2) + bytes;
	return compiled_lowered_by_fp(&world, &world_memory);
}

static void how_far_the_frame_is_lowered(void **state)
{
	(void)state;
	assert_int_equal(lowered_by_fp(16), 16);
	assert_int_equal(lowered_by_fp(256), 256);
	assert_int_equal(lowered_by_fp(272), 0);
	assert_int_equal(lowered_by_fp(8), 0); /* no frame is aligned so */
	assert_int_equal(lowered_by_fp(4), 0);
	assert_int_equal(lowered_by_fp(-16ULL), 0);
	/* Blobs that never say where their frame is complete and align sp: any word's place will do. */
	for (unsigned int i = 0; i < 2; i++) {
		lowered_by_fp(8);
		put_complete(NEVER_COMPLETE);
		put_hex(world.pc - 17, "48 83 e4 f0");
		world.window_at = 0;
		world_stack[TOP] = i ? RA_OF(1) : NATIVE_AT;
		assert_int_equal(compiled_lowered_by_fp(&world, &world_memory), i ? 8 : 0);
	}
	/* C2's stubs don't align it: their callers' %rbp is anything. */
	for (unsigned int behind = 3; behind < UNWIND_TEXT_BEHIND + 2; behind++) {
		lowered_by_fp(8);
		put_complete(NEVER_COMPLETE);
		put_hex(world.pc - behind, "48 83 e4 f0");
		world.window_at = 0;
		world_stack[TOP] = RA_OF(1);
		assert_int_equal(compiled_lowered_by_fp(&world, &world_memory),
				 behind > 4 && behind <= UNWIND_TEXT_BEHIND ? 8 : 0);
	}
	/* 0 bytes are complete at once. */
	lowered_by_fp(8);
	put_complete(0);
	assert_int_equal(compiled_lowered_by_fp(&world, &world_memory), 0);
	/* An older interpreted frame's says nothing. */
	lowered_by_fp(16);
	world.window_at = 0;
	world_stack[TOP - 1] = world.fp + 64;
	assert_int_equal(compiled_lowered_by_fp(&world, &world_memory), 0);
}

/* --- where it begins -------------------------------------------------------------------------- */

static void whether_it_begins_at_sp(void **state)
{
	uint64_t ra = RA_OF(TOP - 1);
	int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - ra);

	(void)state;
	begin();
	assert_false(compiled_is_settled(&world, &world_memory));
	world.fp = world_word(TOP - 2);
	assert_true(compiled_is_settled(&world, &world_memory));
	world.fp = world_word(TOP - 1);
	assert_false(compiled_is_settled(&world, &world_memory));
	begin();
	put_hex(ra - 5, "e8");
	memcpy(world_heap + (ra - 4 - HEAP_AT), &displacement, 4);
	assert_true(compiled_is_settled(&world, &world_memory));
	world.sp += 8;
	assert_false(compiled_is_settled(&world, &world_memory));
}

/* Registers are saved below it: 32 bytes by the code ahead, or as %rbp says. */
static void expect_settled_behind(const char *behind, const char *ahead, uint64_t fp,
				  int16_t complete, unsigned int words)
{
	leaf_begin(IN_BODY, behind, ahead, 8);
	world.jvm.sender_sp_slot = INTERPRETED_SLOT;
	world_put_int(BLOB_AT(SEGMENT_OF_CODE), FIELD_COMPLETE, complete);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	world.fp = fp;
	world.blob_at = 0;
	assert_int_equal(compiled_settle(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal((world.sp - world_word(SP_WORD)) / 8, words);
}

static void expect_settled(const char *ahead, uint64_t fp, int16_t complete, unsigned int words)
{
	expect_settled_behind("90", ahead, fp, complete, words);
}

static void where_it_begins(void **state)
{
	(void)state;
	expect_settled("90", 0x1234, 16, 0);
	expect_settled("48 83 c4 20 90", 0x1234, 16, 4);
	/* %rbp says that it is here; or, of blobs that set it, where it is. */
	expect_settled("48 83 c4 20 90", world_word(TOP - 2), 16, 0);
	expect_settled("48 83 c4 20 90", world_word(TOP), 16, 4);
	expect_settled_behind("48 83 e4 f0 ff d0", "48 83 c4 20 90", world_word(TOP),
			      NEVER_COMPLETE, 2);
	/* Of a stub of C2 it is its caller's, or whatever that has in it. */
	expect_settled("90", world_word(TOP), NEVER_COMPLETE, 0);
	begin();
	world.compiled_seen.blob = HEAP_AT - 4096;
	assert_int_equal(compiled_settle(&world, &world_memory), UNWIND_STOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_is_as_it_was),
		cmocka_unit_test(a_look_at_a_deoptimised_frame),
		cmocka_unit_test(the_blob_that_was),
		cmocka_unit_test(a_frame_that_checks_out),
		cmocka_unit_test(the_frame_pointer_of_an_interpreted_frame),
		cmocka_unit_test(how_far_the_frame_is_lowered),
		cmocka_unit_test(whether_it_begins_at_sp),
		cmocka_unit_test(where_it_begins),
	};

	return cmocka_run_group_tests_name("compiled_settle", tests, NULL, NULL);
}
