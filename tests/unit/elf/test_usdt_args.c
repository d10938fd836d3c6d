// SPDX-License-Identifier: Apache-2.0
/* Arguments of probes, as compilers write them, and as nobody does. */
#include "test.h"

#include <string.h>

#include "elf/probe/usdt_args.h"

static uint32_t first(const char *text)
{
	return usdt_args_first_reg(text, strlen(text));
}

/* System V ABI, figure 3.36. */
static void registers_have_dwarf_numbers(void **state)
{
	(void)state;
	assert_int_equal(first("8@%rax"), 0);
	assert_int_equal(first("8@%rdx 8@%rcx"), 1);
	assert_int_equal(first("8@%rcx"), 2);
	assert_int_equal(first("8@%rbx"), 3);
	assert_int_equal(first("8@%rsi"), 4);
	assert_int_equal(first("8@%rdi"), 5);
	assert_int_equal(first("8@%rbp"), 6);
	assert_int_equal(first("8@%r8"), 8);
	assert_int_equal(first("8@%r12 8@%rdx -4@%eax"), 12);
	assert_int_equal(first("-8@%r15"), 15);
}

static void what_is_elsewhere(void **state)
{
	static const char *const texts[] = { "",	 "4@%eax",  "8@$5",	     "8@-8(%rbp)",
					     "8@(%rax)", "8@%xmm0", "8@%",	     "8@%r1",
					     "8@%r16",	 "8@%raxx", "8@8+sym(%rip)", "1@%al 8@%rax",
					     "-",	 "8",	    " 8@%rax" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(first(texts[i]), USDT_NO_REG);
}

/* The text may end with the note, without its own end. */
static void no_more_than_there_is(void **state)
{
	const char text[] = { '8', '@', '%', 'r', '1', '2' };

	(void)state;
	assert_int_equal(usdt_args_first_reg(text, sizeof(text)), 12);
	assert_int_equal(usdt_args_first_reg(text, sizeof(text) - 1), USDT_NO_REG);
	for (size_t len = 0; len < 5; len++)
		assert_int_equal(usdt_args_first_reg(text, len), USDT_NO_REG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_have_dwarf_numbers),
		cmocka_unit_test(what_is_elsewhere),
		cmocka_unit_test(no_more_than_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
