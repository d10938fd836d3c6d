// SPDX-License-Identifier: Apache-2.0
/* What each state of a frame in Java code means, and which calls lead to a blob, byte by byte. */
#include "test.h"

#include <inttypes.h>

#include "leaf_world.h"

#define TOP(words) (SP_WORD + (words))
#define FP_AT	   0x700000001000ULL
/* A return address that calls are put in front of, far from the leaf's blob. */
#define CALLER RA_OF(500)

static void begin(int32_t words)
{
	leaf_begin(IN_BODY, "90", "90", words);
	world.compiled_seen.frame_size = (wire_u32)words;
	world.blob_at = 0;
	assert_int_equal(blob_read(&world, &world_memory, BLOB_AT(SEGMENT_OF_CODE)), UNWIND_GO_ON);
}

/* --- states ----------------------------------------------------------------------------------- */

static void test_states(void **state)
{
	static const struct {
		enum compiled_state state;
		unsigned int cfa; /* words above sp */
		int fp;		  /* the same; -1: in the register */
	} cases[] = {
		{ COMPILED_ENTRY, 1, -1 },  { COMPILED_PUSHED, 2, 0 },
		{ COMPILED_SPILLED, 9, 7 }, { COMPILED_IN_RCX, 0, -1 },
		{ COMPILED_POPPED, 0, -1 }, { COMPILED_ALLOCATED, 8, -1 },
		{ COMPILED_BODY, 8, 6 },
	};
	struct unwind_rule rule;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(8);
		compiled_rule(&world, cases[i].state, &rule);
		assert_int_equal(rule.cfa, world_word(SP_WORD + cases[i].cfa));
		assert_int_equal(rule.ra_at, rule.cfa - 8);
		assert_int_equal(rule.fp_at,
				 cases[i].fp < 0 ? 0 : world_word(SP_WORD + cases[i].fp));
	}
	world.fp = FP_AT;
	compiled_rule(&world, COMPILED_FP, &rule);
	assert_true(rule.cfa == FP_AT + 16 && rule.ra_at == FP_AT + 8 && rule.fp_at == FP_AT);
}

static void put_complete(int16_t complete)
{
	memcpy(world.blob + FIELD_COMPLETE, &complete, sizeof(complete));
}

/* How far ahead the prologue reaches; of stubs that don't say a limit does. */
static void test_ahead(void **state)
{
	static const struct {
		int16_t complete;
		unsigned int done, ahead;
	} cases[] = {
		{ 16, 0, 16 }, { 16, 5, 11 }, { 16, 15, 1 }, { 16, 16, 0 }, { 16, 17, 0 },
		{ 0, 0, 0 },   { 1, 0, 1 },   { -1, 0, 48 }, { -1, 47, 1 }, { -1, 48, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(8);
		put_complete(cases[i].complete);
		world.pc = CODE_OF(SEGMENT_OF_CODE) + cases[i].done;
		assert_int_equal(compiled_ahead(&world), cases[i].ahead);
	}
}

static void test_sender_sp(void **state)
{
	(void)state;
	begin(8);
	assert_false(compiled_is_sender_sp(&world, world.sp, 4096));
	assert_true(compiled_is_sender_sp(&world, world.sp + 8, 4096));
	assert_true(compiled_is_sender_sp(&world, world.sp + 4088, 4096));
	assert_false(compiled_is_sender_sp(&world, world.sp + 4096, 4096));
	assert_false(compiled_is_sender_sp(&world, world.sp - 8, 4096));
	for (unsigned int i = 1; i < 8; i++)
		assert_false(compiled_is_sender_sp(&world, world.sp + 8 + i, 4096));
}

/* --- the bytes around pc ---------------------------------------------------------------------- */

/* Where code ends fewer bytes can be read; behind them nothing of the walk before is left. */
static size_t readable;

static int read_readable(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	assert_true(address == world.pc - UNWIND_TEXT_BEHIND);
	if (len > readable)
		return -EFAULT;
	memset(dst, 0x90, len);
	return 0;
}

static void test_text(void **state)
{
	struct unwind_memory some = { .read = read_readable };

	(void)state;
	begin(8);
	memset(world.text, 0x11, sizeof(world.text));
	readable = UNWIND_TEXT_BYTES;
	assert_int_equal(compiled_read_text(&world, &some), UNWIND_GO_ON);
	assert_int_equal(world.text[UNWIND_TEXT_BYTES - 1], 0x90);
	memset(world.text, 0x11, sizeof(world.text));
	readable = UNWIND_TEXT_BEHIND + 16;
	assert_int_equal(compiled_read_text(&world, &some), UNWIND_GO_ON);
	assert_int_equal(world.text[UNWIND_TEXT_BEHIND + 15], 0x90);
	for (unsigned int i = UNWIND_TEXT_BEHIND + 16; i < UNWIND_TEXT_BYTES; i++)
		assert_int_equal(world.text[i], 0);
	readable--;
	assert_int_equal(compiled_read_text(&world, &some), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_PAGE);
}

/* Is it known to be %rbp's frame by the code's first 32 bytes, of those that were run? */
static int keeps_fp(unsigned int at, unsigned int done, const char *code)
{
	begin(8);
	put_hex(CODE_OF(SEGMENT_OF_CODE) + at, code);
	world.pc = CODE_OF(SEGMENT_OF_CODE) + done;
	world.fp = world_word(SP_WORD + 4);
	return compiled_keeps_fp(&world, &world_memory);
}

static void test_keeps_frame_pointer(void **state)
{
	(void)state;
	assert_true(keeps_fp(0, 4, "55 48 8b ec"));
	assert_false(keeps_fp(0, 3, "55 48 8b ec"));
	assert_true(keeps_fp(28, 40, "55 48 8b ec"));
	assert_false(keeps_fp(29, 40, "55 48 8b ec"));
	assert_true(keeps_fp(20, 24, "55 48 8b ec"));
	assert_false(keeps_fp(0, 4, "54 48 8b ec"));
	assert_false(keeps_fp(0, 4, "55 48 8b ed"));
	keeps_fp(0, 4, "55 48 8b ec");
	world.fp = world_word(SP_WORD - 1);
	assert_false(compiled_keeps_fp(&world, &world_memory));
	keeps_fp(0, 4, "55 48 8b ec");
	world.jvm.code_begin_kind = WIRE_CODE_BEGIN_POINTER; /* to nowhere */
	assert_false(compiled_keeps_fp(&world, &world_memory));
}

/* A frame within a frame has no return address of Java code, and the outer one's %rbp. */
static void test_inner_frame(void **state)
{
	uint64_t outer = 0;

	(void)state;
	begin(8);
	world.fp = world_word(200);
	assert_false(compiled_is_inner(&world, &world_memory, &outer));
	world_stack[201] = 0x7777;
	world_stack[200] = 0x8888;
	world.window_at = 0;
	assert_true(compiled_is_inner(&world, &world_memory, &outer));
	assert_true(outer == 0x8888);
	world.fp = STACK_AT - 8; /* one word of it is there */
	assert_false(compiled_is_inner(&world, &world_memory, &outer));
	world.fp = world_word(ARRAY_SIZE(world_stack) - 1);
	assert_false(compiled_is_inner(&world, &world_memory, &outer));
}

/* --- what the caller takes off behind the call ------------------------------------------------ */

static unsigned int pushed(const char *hex)
{
	begin(8);
	put_hex(CALLER, "90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90");
	put_hex(CALLER, hex);
	return compiled_pushed_bytes(&world, &world_memory, CALLER);
}

static void test_pushed_bytes(void **state)
{
	static const struct {
		const char *hex;
		unsigned int bytes;
	} cases[] = {
		{ "90", 0 },
		{ "58", 8 },
		{ "5f", 8 },
		{ "57", 0 },
		{ "60", 0 },
		{ "41 5f", 8 },
		{ "41 90", 0 },
		{ "58 41 59 5a", 24 },
		{ "58 59 5a 5b", 24 }, /* three at most */
		{ "58 90 5a", 8 },
		{ "5d c3", 0 }, /* the end of a frame of two words */
		{ "5d 90", 8 },
		{ "48 83 c4 10", 16 },
		{ "48 83 c4 10 58", 24 },
		{ "48 83 c4 10 5d", 0 },
		{ "48 83 c4 18 58", 0 },
		{ "48 83 c4 10 48 8b c0 58", 24 }, /* mov %rax,%rax */
		{ "48 83 c4 10 48 8b f8 58", 24 }, /* mov %rax,%rdi */
		{ "48 83 c4 10 4c 8b f8 58", 24 }, /* mov %rax,%r15 */
		{ "48 83 c4 10 48 8b f9 58", 16 }, /* mov %rcx,%rdi */
		{ "48 83 c4 10 48 8b 78 58", 16 }, /* a load */
		{ "48 83 c4 10 49 8b f8 58", 16 },
		{ "48 83 c4 10 48 89 f8 58", 16 },
		{ "48 83 c4 10 58 41 5a 5b 5f", 16 + 24 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (pushed(cases[i].hex) != cases[i].bytes)
			fail_msg("%s: %u bytes, not %u", cases[i].hex, pushed(cases[i].hex),
				 cases[i].bytes);
	/* What the interpreter pops is a return address, native code is not read. */
	pushed("58");
	world.jvm.interpreter_start = CALLER;
	world.jvm.interpreter_end = CALLER + 1;
	assert_int_equal(compiled_pushed_bytes(&world, &world_memory, CALLER), 0);
	pushed("58");
	world.jvm.code_end = CALLER;
	assert_int_equal(compiled_pushed_bytes(&world, &world_memory, CALLER), 0);
	/* Nothing is known of what cannot be read. */
	pushed("58");
	world.jvm.code_end += 4096;
	assert_int_equal(compiled_pushed_bytes(&world, &world_memory, world.jvm.code_end - 8), 0);
}

/* --- to the caller ---------------------------------------------------------------------------- */

static void test_follow(void **state)
{
	struct unwind_rule rule = { world_word(TOP(8)), world_word(TOP(7)), world_word(TOP(6)) };

	(void)state;
	begin(8);
	put_hex(RA_OF(TOP(7)), "58 90");
	assert_int_equal(compiled_follow(&world, &world_memory, &rule), UNWIND_GO_ON);
	assert_true(world.pc == RA_OF(TOP(7)) && world.sp == world_word(TOP(9)));
	assert_true(world.fp == RA_OF(TOP(6)));
	begin(8);
	rule.fp_at = 0;
	assert_int_equal(compiled_follow(&world, &world_memory, &rule), UNWIND_GO_ON);
	assert_true(world.sp == world_word(TOP(8)) && world.fp == 0x1234);
	begin(8);
	rule.fp_at = STACK_AT - 8;
	assert_int_equal(compiled_follow(&world, &world_memory, &rule), UNWIND_STOP);
	rule.fp_at = 0;
	rule.ra_at = STACK_AT - 8;
	assert_int_equal(compiled_follow(&world, &world_memory, &rule), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_PAGE);
}

static void expect_entered(uint64_t pc, uint64_t sp, int verdict)
{
	assert_int_equal(compiled_enter(&world, pc, sp, 0x77), verdict);
	if (verdict == UNWIND_STOP)
		assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
	else
		assert_true(world.pc == pc && world.sp == sp && world.fp == 0x77);
}

/* A leaf's return address may be in a register; a caller's is above its frame. */
static void test_enter(void **state)
{
	(void)state;
	begin(8);
	world.rbx = world.r13 = 5;
	world.regs_kept = 1;
	world.anchor_own = 1;
	expect_entered(CALLER, world.sp, UNWIND_GO_ON);
	assert_true(world.rbx == 0 && world.r13 == 0 && world.linked == 1);
	assert_true(!world.leaf && !world.regs_kept && !world.exact && !world.anchor_own);
	expect_entered(CALLER, world.sp, UNWIND_STOP);
	expect_entered(CALLER, world.sp - 8, UNWIND_STOP);
	expect_entered(CALLER, world.sp + 12, UNWIND_STOP);
	expect_entered(4095, world.sp + 8, UNWIND_STOP);
	expect_entered(CALLER, world.sp + UNWIND_MAX_FRAME_BYTES + 8, UNWIND_STOP);
	expect_entered(CALLER, world.sp + UNWIND_MAX_FRAME_BYTES, UNWIND_GO_ON);
	begin(8);
	expect_entered(CALLER, world.sp - 8, UNWIND_STOP);
}

static void test_fits(void **state)
{
	struct unwind_rule rule = { .ra_at = world_word(TOP(7)) };

	(void)state;
	begin(8);
	assert_true(compiled_fits(&world, &world_memory, &rule));
	rule.ra_at = STACK_AT - 8;
	assert_false(compiled_fits(&world, &world_memory, &rule));
	begin(8);
	world_stack[TOP(7)] = NATIVE_AT;
	rule.ra_at = world_word(TOP(7));
	assert_false(compiled_fits(&world, &world_memory, &rule));
}

/* --- where a call leads ----------------------------------------------------------------------- */

#define TARGET (CODE_OF(SEGMENT_OF_CODE) + 32)

static void put_relative(uint64_t at, uint64_t target)
{
	int32_t displacement = (int32_t)(target - (at + 4));

	memcpy(world_heap + (at - HEAP_AT), &displacement, 4);
}

/* call TARGET in front of CALLER. */
static void put_call(uint64_t target)
{
	begin(8);
	put_hex(CALLER - 5, "e8");
	put_relative(CALLER - 4, target);
}

static uint64_t target_of(uint64_t ra)
{
	return compiled_target(&world, &world_memory, ra);
}

/* Is TARGET found, and not once any of COUNT bytes from AT on is another? */
static void expect_each_byte_counts(uint64_t at, unsigned int count, const char *but)
{
	assert_true(target_of(CALLER) == TARGET);
	for (unsigned int i = 0; i < count; i++) {
		if (but[i] == '?')
			continue;
		world_heap[at - HEAP_AT + i] ^= 0xff;
		if (target_of(CALLER) == TARGET)
			fail_msg("byte %u does not matter", i);
		world_heap[at - HEAP_AT + i] ^= 0xff;
	}
}

static void test_relative_call(void **state)
{
	(void)state;
	put_call(TARGET);
	expect_each_byte_counts(CALLER - 5, 5, ".....");
	/* Only into this very blob. */
	put_call(BLOB_AT(SEGMENT_OF_CODE) - 1);
	assert_true(target_of(CALLER) == 0);
	put_call(CODE_OF(100));
	assert_true(target_of(CALLER) == 0);
	put_call(TARGET);
	world.jvm.code_end = CALLER;
	assert_true(target_of(CALLER) == 0);
	assert_true(target_of(NATIVE_AT) == 0);
}

/* mov $TARGET,%r10; call *%r10 */
static void test_call_by_register(void **state)
{
	uint64_t target = TARGET;

	(void)state;
	begin(8);
	put_hex(CALLER - 13, "49 ba 00 00 00 00 00 00 00 00 41 ff d2");
	memcpy(world_heap + (CALLER - 11 - HEAP_AT), &target, 8);
	expect_each_byte_counts(CALLER - 13, 13, ".............");
}

/* Through mov $imm64,%rax or %rbx; jmp TARGET. */
static void test_call_of_a_jump(void **state)
{
	uint64_t between = HEAP_AT + 0x30000;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		put_call(between);
		put_hex(between, i ? "48 b8 11 22 33 44 55 66 77 88 e9"
				   : "48 bb 11 22 33 44 55 66 77 88 e9");
		put_relative(between + 11, TARGET);
		expect_each_byte_counts(between, 15, "..????????.....");
	}
	put_relative(between + 11, CODE_OF(100));
	assert_true(target_of(CALLER) == 0);
	put_relative(between + 11, TARGET);
	assert_true(target_of(CALLER) == TARGET);
	/* Only of the JVM's own code. */
	world.jvm.code_end = between;
	assert_true(target_of(CALLER) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_sender_sp),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_keeps_frame_pointer),
		cmocka_unit_test(test_inner_frame),
		cmocka_unit_test(test_pushed_bytes),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_relative_call),
		cmocka_unit_test(test_call_by_register),
		cmocka_unit_test(test_call_of_a_jump),
	};

	return cmocka_run_group_tests_name("compiled_rule", tests, NULL, NULL);
}
