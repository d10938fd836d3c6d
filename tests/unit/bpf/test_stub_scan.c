// SPDX-License-Identifier: Apache-2.0
/* Where a stub's return address may lie: each of the questions by itself. */
#include "test.h"

#include "stub_world.h"

#define STUB_BEGIN (CODE_OF(STUBS) + 32)

/* A leaf in a stub of which nothing is known; its blob is read. */
static void begin(void)
{
	BEGIN("\x90", "\x90");
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	world.window_at = 0;
}

static void put_word(unsigned int word, uint64_t value)
{
	world_stack[word] = value;
	world.window_at = 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void where_a_call_leads(void **state)
{
	(void)state;
	begin();
	put_word(SP_WORD, RA);
	put_call(RA, STUB_BEGIN);
	assert_true(stub_called(&world, &world_memory, world_word(SP_WORD)) == STUB_BEGIN);
	assert_true(stub_start(&world, &world_memory, world_word(SP_WORD)) == STUB_BEGIN);
	assert_true(stub_called(&world, &world_memory, STACK_AT - 8) == 0);
	/* In front of pc, or there. */
	put_call(RA, STUB_PC);
	assert_true(stub_start(&world, &world_memory, world_word(SP_WORD)) == STUB_PC);
	put_call(RA, STUB_PC + 1);
	assert_true(stub_called(&world, &world_memory, world_word(SP_WORD)) == STUB_PC + 1);
	assert_true(stub_start(&world, &world_memory, world_word(SP_WORD)) == 0);
}

static int enters(unsigned int at, const char *bytes)
{
	begin();
	put(STUB_BEGIN, "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90", 16);
	put(STUB_BEGIN + at, bytes, 4);
	return stub_enters(&world, &world_memory, STUB_BEGIN);
}

/* push %rbp; mov %rsp,%rbp of either encoding is among its first instructions. */
static void a_stub_that_makes_a_frame(void **state)
{
	(void)state;
	assert_true(enters(0, "\x55\x48\x8b\xec"));
	assert_true(enters(0, "\x55\x48\x89\xe5"));
	assert_true(enters(11, "\x55\x48\x8b\xec"));
	assert_false(enters(12, "\x55\x48\x8b\xec"));
	assert_false(enters(0, "\x54\x48\x8b\xec"));
	assert_false(enters(0, "\x55\x48\x8b\xed"));
	assert_false(stub_enters(&world, &world_memory, HEAP_AT - 8));
}

/* --- the frame that %rbp says ----------------------------------------------------------------- */

/* A call above %rbp that leads to START, where a frame is made or not. */
static int has_frame(uint64_t start, int makes, uint64_t nearest)
{
	begin();
	world.fp = world_word(SP_WORD + 20);
	put_word(SP_WORD + 21, RA);
	put_call(RA, start);
	put(start, makes ? "\x55\x48\x8b\xec" : "\x90\x90\x90\x90", 4);
	return stub_has_frame(&world, &world_memory, nearest);
}

static void whose_frame_it_is(void **state)
{
	(void)state;
	/* Nothing nearer is known: it is this stub's. */
	assert_true(has_frame(STUB_BEGIN, 0, 0));
	/* Of two the one nearer to pc, if it makes a frame. */
	assert_true(has_frame(STUB_BEGIN, 1, STUB_BEGIN - 1));
	assert_false(has_frame(STUB_BEGIN, 0, STUB_BEGIN - 1));
	assert_false(has_frame(STUB_BEGIN, 1, STUB_BEGIN));
	assert_false(has_frame(STUB_BEGIN, 1, STUB_BEGIN + 1));
	/* Behind pc it was another stub, which has jumped here. */
	assert_true(has_frame(STUB_PC + 16, 1, 0));
	assert_false(has_frame(STUB_PC + 16, 0, 0));
	assert_false(has_frame(STUB_PC + 16, 1, STUB_BEGIN));
	assert_true(has_frame(STUB_PC - 8, 0, 0));
	/* No frame is below sp. */
	has_frame(STUB_BEGIN, 0, 0);
	world.sp = world.fp + 8;
	assert_false(stub_has_frame(&world, &world_memory, 0));
	/* A call that leads elsewhere. */
	has_frame(STUB_BEGIN, 1, 0);
	put_call(RA, CODE_OF(OTHER));
	assert_false(stub_has_frame(&world, &world_memory, 0));
}

/* --- the scan --------------------------------------------------------------------------------- */

static uint64_t scan_with(unsigned int word, unsigned int other)
{
	begin();
	put_call(RA, STUB_BEGIN);
	put_word(SP_WORD + word, RA);
	put_word(SP_WORD + other, RA);
	return stub_scan(&world, &world_memory);
}

/* The nearest of sixteen words. */
static void the_word_that_is_found(void **state)
{
	(void)state;
	assert_true(scan_with(0, 1) == world_word(SP_WORD));
	assert_true(scan_with(1, 2) == world_word(SP_WORD + 1));
	assert_true(scan_with(15, 16) == world_word(SP_WORD + 15));
	assert_true(scan_with(16, 17) == 0);
	/* But for the stub's own frame. */
	scan_with(3, 4);
	world.fp = world_word(SP_WORD + 20);
	put_word(SP_WORD + 21, RA);
	assert_true(stub_scan(&world, &world_memory) == world_word(SP_WORD + 21));
}

/* --- native callers --------------------------------------------------------------------------- */

/* The return address is in the stack's piece, behind these eight bytes. */
static int from_native(const char *bytes)
{
	begin();
	memcpy(&world_stack[9], bytes, 8);
	put_word(SP_WORD, world_word(10));
	return stub_is_from_native(&world, &world_memory, world_word(SP_WORD));
}

static void a_native_return_address(void **state)
{
	(void)state;
	assert_true(from_native("\x90\x90\x90\xe8\x90\x90\x90\x90"));
	assert_false(from_native("\x90\x90\xe8\x90\x90\x90\x90\x90"));
	for (unsigned int reg = 0; reg < 8; reg++) {
		uint8_t by_register[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 };
		uint8_t near[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x33 };
		uint8_t far[] = { 0x90, 0x90, 0xff, 0x90, 0x90, 0x90, 0x90, 0x90 };

		by_register[7] = (uint8_t)(by_register[7] + reg);
		near[6] = (uint8_t)(near[6] + reg);
		far[3] = (uint8_t)(far[3] + reg);
		assert_true(from_native((const char *)by_register));
		assert_true(from_native((const char *)near));
		assert_true(from_native((const char *)far));
		/* No call: another instruction of the same opcode, or another opcode. */
		by_register[7] += 8;
		near[6] += 8;
		far[3] += 8;
		assert_false(from_native((const char *)by_register));
		assert_false(from_native((const char *)near));
		assert_false(from_native((const char *)far));
		by_register[7] -= 8;
		near[6] -= 8;
		far[3] -= 8;
		by_register[6] = near[5] = far[2] = 0xfe;
		assert_false(from_native((const char *)by_register));
		assert_false(from_native((const char *)near));
		assert_false(from_native((const char *)far));
	}
	/* call *(%rax) */
	assert_true(from_native("\x90\x90\x90\x90\x90\x90\xff\x10"));
}

static void what_is_no_native_return_address(void **state)
{
	static const uint64_t words[] = { RA, 0, 4095, UNWIND_USER_END, NATIVE_AT + 64 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		from_native("\x90\x90\x90\xe8\x90\x90\x90\x90");
		put_word(SP_WORD, words[i]);
		assert_false(stub_is_from_native(&world, &world_memory, world_word(SP_WORD)));
	}
	assert_false(stub_is_from_native(&world, &world_memory, STACK_AT - 8));
}

/* get_cpu_info has pushed one to five words, the frame pointer last but for the return address. */
static void what_a_stub_pushed_for_native_code(void **state)
{
	struct unwind_rule rule;

	(void)state;
	for (unsigned int words = 0; words < 7; words++) {
		int found;

		from_native("\x90\x90\x90\xe8\x90\x90\x90\x90");
		put_word(SP_WORD, 0);
		put_word(SP_WORD + words, world_word(10));
		put_word(SP_WORD + words + 1, world_word(10));
		memset(&rule, 0, sizeof(rule));
		found = stub_pushes_for_native(&world, &world_memory, &rule);
		assert_int_equal(found, words < 6);
		if (!found)
			continue;
		words += words == 0;
		assert_true(rule.ra_at == world_word(SP_WORD + words));
		assert_true(rule.cfa == rule.ra_at + 8 && rule.fp_at == rule.ra_at - 8);
	}
}

/* --- the guess -------------------------------------------------------------------------------- */

static void what_is_taken_for_a_return_address(void **state)
{
	(void)state;
	begin();
	put_word(SP_WORD, RA);
	assert_true(stub_fits(&world, &world_memory, world_word(SP_WORD)));
	put_word(SP_WORD, NATIVE_AT);
	assert_false(stub_fits(&world, &world_memory, world_word(SP_WORD)));
	assert_false(stub_fits(&world, &world_memory, STACK_AT - 8));
	/* Of this very blob only behind a call in it. */
	put_word(SP_WORD, STUB_PC + 32);
	assert_false(stub_fits(&world, &world_memory, world_word(SP_WORD)));
	put_call(STUB_PC + 32, STUB_BEGIN);
	assert_true(stub_fits(&world, &world_memory, world_word(SP_WORD)));
}

static void expect_guess(unsigned int cfa, uint64_t fp_at)
{
	struct unwind_rule rule;

	assert_true(stub_guess(&world, &world_memory, &rule));
	assert_int_equal(rule.cfa, world_word(cfa));
	assert_true(rule.ra_at == rule.cfa - 8);
	assert_true(rule.fp_at == fp_at);
}

/* At sp, above a frame pointer, or where %rbp says; the first that has one. */
static void where_a_return_address_is_guessed(void **state)
{
	struct unwind_rule rule;

	(void)state;
	begin();
	world.fp = world_word(SP_WORD + 20);
	assert_false(stub_guess(&world, &world_memory, &rule));
	put_word(SP_WORD + 21, RA);
	expect_guess(SP_WORD + 22, world_word(SP_WORD + 20));
	put_word(SP_WORD + 1, RA);
	expect_guess(SP_WORD + 2, world_word(SP_WORD));
	put_word(SP_WORD, RA);
	expect_guess(SP_WORD + 1, 0);
	/* A native one at sp. */
	memcpy(&world_stack[9], "\x90\x90\x90\xe8\x90\x90\x90\x90", 8);
	put_word(SP_WORD, world_word(10));
	expect_guess(SP_WORD + 1, 0);
	/* %rbp is no place of this frame. */
	begin();
	world.fp = world_word(SP_WORD - 2);
	put_word(SP_WORD - 1, RA);
	assert_false(stub_guess(&world, &world_memory, &rule));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_call_leads),
		cmocka_unit_test(a_stub_that_makes_a_frame),
		cmocka_unit_test(whose_frame_it_is),
		cmocka_unit_test(the_word_that_is_found),
		cmocka_unit_test(a_native_return_address),
		cmocka_unit_test(what_is_no_native_return_address),
		cmocka_unit_test(what_a_stub_pushed_for_native_code),
		cmocka_unit_test(what_is_taken_for_a_return_address),
		cmocka_unit_test(where_a_return_address_is_guessed),
	};

	return cmocka_run_group_tests_name("stub_scan", tests, NULL, NULL);
}
