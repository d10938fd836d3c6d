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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_word),
		cmocka_unit_test(test_addresses_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
