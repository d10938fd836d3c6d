// SPDX-License-Identifier: Apache-2.0
/* A stub whose frame is aligned and whose %rbp is a table: the stack pointer that it has noted leads on. */
#include "test.h"

#include "stub_world.h"

#define ENTRY	   (CODE_OF(STUBS) + 32)
#define NOTE_WORD  7u /* sha512_AVX2: [rsp+56] */
#define SP_BEFORE  (SP_WORD + 16)
#define CALLER_FP  0x7f1234560ULL
#define OTHER_STUB (CODE_OF(STUBS) + 16)

/* A leaf behind the prologue of such a stub, that has pushed PUSHED words; %rbp points into no stack. */
static void begin_noted(uint32_t note, uint32_t pushed)
{
	BEGIN("\x90", "\x90");
	put(ENTRY, "\x55\x48\x8b\xec", 4);
	put_call(RA, ENTRY);
	world_stack[SP_WORD + note] = world_word(SP_WORD + note + 9);
	world_stack[SP_WORD + note + 9 + pushed] = CALLER_FP;
	world_stack[SP_WORD + note + 9 + pushed + 1] = RA;
}

static void where_it_is(uint32_t note, uint32_t pushed)
{
	begin_noted(note, pushed);
	expect_caller(RA, SP_WORD + note + 9 + pushed + 2, CALLER_FP);
}

static void a_noted_stack_pointer(void **state)
{
	(void)state;
	where_it_is(NOTE_WORD, 2); /* sha512_AVX2 */
	where_it_is(536 / 8, 8);   /* sha256_AVX2 */
	where_it_is(0, 0);
	where_it_is(71, 8);
}

static uint64_t noted(void)
{
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	world.window_at = 0;
	return stub_noted(&world, &world_memory);
}

static void what_is_no_note(void **state)
{
	(void)state;
	begin_noted(72, 2);
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 9); /* too many words between */
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	world_stack[SP_WORD + NOTE_WORD] += 4;
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	world_stack[SP_WORD + NOTE_WORD] = world_word(SP_WORD + NOTE_WORD); /* itself */
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	world_stack[SP_WORD + NOTE_WORD] = world_word(SP_WORD + NOTE_WORD + 13);
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	put_call(RA, STUB_PC + 1); /* it calls what lies behind pc */
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	put_call(RA, CODE_OF(OTHER));
	assert_true(noted() == 0);
	begin_noted(NOTE_WORD, 2);
	put(ENTRY, "\x90\x90\x90\x90", 4); /* such as dispatch stubs: they make no frame */
	assert_true(noted() == 0);
	/* %rbp is near: it says where the frame is. */
	begin_noted(NOTE_WORD, 2);
	assert_true(noted() != 0);
	world.fp = world_word(SP_WORD + 40);
	assert_true(noted() == 0);
}

/* As far up as such a frame reaches. */
static void how_far_up_it_points(void **state)
{
	(void)state;
	for (uint32_t words = 1; words < 20; words++) {
		begin_noted(NOTE_WORD, 2);
		world_stack[SP_WORD + NOTE_WORD + 12] = 0;
		world_stack[SP_WORD + NOTE_WORD] = world_word(SP_WORD + NOTE_WORD + words);
		world_stack[SP_WORD + NOTE_WORD + words] = RA;
		assert_int_equal(noted() != 0, words <= 12);
	}
}

/* Words that only look like notes, of what was there before: the first four are looked at. */
static void among_others(void **state)
{
	(void)state;
	/* Such as are no places of words are not counted. */
	begin_noted(NOTE_WORD, 2);
	for (uint32_t word = 1; word < NOTE_WORD; word++)
		world_stack[SP_WORD + word] = world_word(SP_WORD + word + 9) + 4;
	assert_true(noted() != 0);
	for (uint32_t others = 0; others < 6; others++) {
		begin_noted(NOTE_WORD, 2);
		for (uint32_t i = 0; i < others; i++)
			world_stack[SP_WORD + i] = world_word(SP_WORD + i + 1);
		assert_int_equal(noted() != 0, others < 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_noted_stack_pointer),
		cmocka_unit_test(what_is_no_note),
		cmocka_unit_test(how_far_up_it_points),
		cmocka_unit_test(among_others),
	};

	return cmocka_run_group_tests_name("stub_note", tests, NULL, NULL);
}
