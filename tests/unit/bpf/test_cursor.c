// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "unwind/cursor.h"

#define STACK_AT 0x7ffff000ULL

static uint64_t stack[600];
static struct unwind_cursor cursor;

static int read_stack(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	if (address < STACK_AT || address - STACK_AT > sizeof(stack) - len)
		return -EFAULT;
	memcpy(dst, (const uint8_t *)stack + (address - STACK_AT), len);
	return 0;
}

static struct unwind_memory memory = { .read = read_stack };

static void begin(void)
{
	memset(&cursor, 0, sizeof(cursor));
	/* What another walk left. */
	for (size_t i = 0; i < UNWIND_WINDOW_WORDS; i++)
		cursor.window[i] = 0xbad;
	for (size_t i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = 1000 + i;
}

static void expect_word(size_t at)
{
	uint64_t word = 0;

	if (cursor_load(&cursor, &memory, STACK_AT + 8 * at, &word) != UNWIND_GO_ON)
		fail_msg("word %zu: reason %d", at, cursor.reason);
	assert_int_equal(word, stack[at]);
}

static void expect_stop(uint64_t address, enum unwind_reason reason)
{
	uint64_t word = 7;

	assert_int_equal(cursor_load(&cursor, &memory, address, &word), UNWIND_STOP);
	assert_int_equal(cursor.reason, reason);
	assert_int_equal(word, 7);
}

/* Beside both ends of the stack a piece cannot be read, a word can. */
static void test_every_word(void **state)
{
	(void)state;
	begin();
	for (size_t at = 0; at < ARRAY_SIZE(stack); at++)
		expect_word(at);
	for (size_t at = ARRAY_SIZE(stack); at--;)
		expect_word(at);
	for (size_t at = 0; at < ARRAY_SIZE(stack); at++)
		expect_word(at * 7 % ARRAY_SIZE(stack));
}

/* A register that holds a small number, while no piece is there or just a word. */
static void test_addresses_that_are_none(void **state)
{
	static const uint64_t addresses[] = {
		0, 8, 64, 72, 2040, 2048, 4088, UNWIND_USER_END, UINT64_MAX - 7
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		begin();
		expect_stop(addresses[i], UNWIND_PAGE);
		begin();
		expect_word(1);
		expect_stop(addresses[i], UNWIND_PAGE);
		begin();
		expect_word(100);
		expect_stop(addresses[i], UNWIND_PAGE);
		expect_word(101);
	}
	expect_stop(STACK_AT + 4, UNWIND_FP_BAD);
	expect_stop(STACK_AT - 8, UNWIND_PAGE);
	expect_word(0);
}

static void test_user_addresses(void **state)
{
	(void)state;
	assert_false(cursor_is_user(0));
	assert_false(cursor_is_user(4095));
	assert_true(cursor_is_user(4096));
	assert_true(cursor_is_user(UNWIND_USER_END - 1));
	assert_false(cursor_is_user(UNWIND_USER_END));
}

/* The word that was missing is in the piece, with slots below it; a piece is read once. */
static void test_a_piece(void **state)
{
	(void)state;
	begin();
	expect_word(100);
	assert_true(cursor.window_at == STACK_AT + 8 * (100 - 9));
	stack[100 - 9] = stack[100 - 9 + UNWIND_WINDOW_WORDS - 1] = 7;
	cursor.window[0] = 8;
	cursor.window[UNWIND_WINDOW_WORDS - 1] = 9;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t at = STACK_AT + 8 * (i ? 100 - 9 + UNWIND_WINDOW_WORDS - 1 : 100 - 9),
			 word;

		assert_int_equal(cursor_load(&cursor, &memory, at, &word), UNWIND_GO_ON);
		assert_int_equal(word, 8 + i);
	}
	/* Behind it another one is read. */
	expect_word(100 - 9 + UNWIND_WINDOW_WORDS);
	assert_true(cursor.window_at == STACK_AT + 8 * (100 - 9 + UNWIND_WINDOW_WORDS - 9));
	/* Beside the end there is none, and no old one either. */
	expect_word(ARRAY_SIZE(stack) - 1);
	assert_true(cursor.window_at == 0);
}

/* --- to the caller ---------------------------------------------------------------------------- */

static void begin_frame(void)
{
	begin();
	cursor.pc = 0x401000;
	cursor.sp = STACK_AT + 80;
	cursor.fp = 0x5555;
	cursor.leaf = cursor.regs_kept = cursor.exact = 1;
}

static void expect_no_caller(uint64_t pc, uint64_t sp, enum unwind_reason reason)
{
	begin_frame();
	assert_int_equal(cursor_enter(&cursor, pc, sp, 0x7777), UNWIND_STOP);
	assert_int_equal(cursor.reason, reason);
	assert_true(cursor.pc == 0x401000 && cursor.sp == STACK_AT + 80 && cursor.fp == 0x5555);
}

static void test_enter(void **state)
{
	(void)state;
	expect_no_caller(0, STACK_AT + 88, UNWIND_NO_START);
	expect_no_caller(4095, STACK_AT + 88, UNWIND_BAD_RETURN);
	expect_no_caller(UNWIND_USER_END, STACK_AT + 88, UNWIND_BAD_RETURN);
	expect_no_caller(0x402000, STACK_AT + 80, UNWIND_FP_BAD);
	expect_no_caller(0x402000, STACK_AT + 72, UNWIND_FP_BAD);
	begin_frame();
	assert_int_equal(cursor_enter(&cursor, 0x402000, STACK_AT + 81, 0x7777), UNWIND_GO_ON);
	assert_true(cursor.pc == 0x402000 && cursor.sp == STACK_AT + 81 && cursor.fp == 0x7777);
	assert_true(!cursor.leaf && !cursor.regs_kept && !cursor.exact);
}

static void expect_refused(struct unwind_rule rule, enum unwind_reason reason)
{
	begin_frame();
	assert_int_equal(cursor_execute(&cursor, &memory, &rule), UNWIND_STOP);
	assert_int_equal(cursor.reason, reason);
	assert_true(cursor.pc == 0x401000);
}

static void test_execute(void **state)
{
	struct unwind_rule rule = { STACK_AT + 96, STACK_AT + 88, 0 };

	(void)state;
	for (unsigned int with_fp = 0; with_fp < 2; with_fp++) {
		begin_frame();
		stack[11] = 0x402000;
		rule.fp_at = with_fp ? STACK_AT + 80 : 0;
		assert_int_equal(cursor_execute(&cursor, &memory, &rule), UNWIND_GO_ON);
		assert_true(cursor.pc == 0x402000 && cursor.sp == STACK_AT + 96);
		assert_true(cursor.fp == (with_fp ? 1010 : 0x5555));
		assert_int_equal(cursor.linked, with_fp);
	}
	expect_refused((struct unwind_rule){ STACK_AT + 96, 8, 0 }, UNWIND_FP_BAD);
	expect_refused((struct unwind_rule){ UNWIND_USER_END, STACK_AT + 88, 0 }, UNWIND_FP_BAD);
	expect_refused((struct unwind_rule){ STACK_AT + 96, STACK_AT + 88, 4104 }, UNWIND_PAGE);
	expect_refused((struct unwind_rule){ STACK_AT + 96, STACK_AT - 8, 0 }, UNWIND_PAGE);
}

/* By their DWARF numbers. */
static void test_leaf_registers(void **state)
{
	(void)state;
	begin();
	for (unsigned int i = 0; i < 16; i++)
		cursor.leaf_regs[i] = 100 + i;
	cursor_take_leaf_regs(&cursor);
	assert_true(cursor.rbx == 103 && cursor.fp == 106);
	assert_true(cursor.r13 == 113 && cursor.r15 == 115);
}

/* Code lies at distances that are multiples of each other. */
static void test_hash(void **state)
{
	(void)state;
	for (unsigned int shift = 4; shift < 40; shift++) {
		unsigned int same = 0;

		for (uint64_t i = 1; i < 64; i++)
			same += ((cursor_hash(i << shift) ^ cursor_hash(0)) & 1023) == 0;
		assert_in_range(same, 0, 15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_word),
		cmocka_unit_test(test_addresses_that_are_none),
		cmocka_unit_test(test_user_addresses),
		cmocka_unit_test(test_a_piece),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_execute),
		cmocka_unit_test(test_leaf_registers),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
