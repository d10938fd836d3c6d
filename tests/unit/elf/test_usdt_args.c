// SPDX-License-Identifier: Apache-2.0
/* Arguments of probes, as compilers write them, and as nobody does. */
#include "test.h"

#include <string.h>

#include "elf/probe/usdt_args.h"

static struct usdt_arg args[USDT_MAX_ARGS];

static void read_all(const char *text)
{
	usdt_args_read(text, strlen(text), args);
}

static uint32_t first_of(const char *text, size_t len)
{
	usdt_args_read(text, len, args);
	return usdt_arg_reg(&args[0], 8);
}

static uint32_t first(const char *text)
{
	return first_of(text, strlen(text));
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
	assert_int_equal(first_of(text, sizeof(text)), 12);
	assert_int_equal(first_of(text, sizeof(text) - 1), USDT_NO_REG);
	for (size_t len = 0; len < 5; len++)
		assert_int_equal(first_of(text, len), USDT_NO_REG);
}

static void expect(unsigned int i, enum usdt_where where, uint8_t bytes, uint8_t reg,
		   int32_t displacement)
{
	assert_int_equal(args[i].where, where);
	assert_int_equal(args[i].bytes, bytes);
	assert_int_equal(args[i].reg, reg);
	assert_int_equal(args[i].displacement, displacement);
}

/* hotspot:method__compile__end of OpenJDK 17, and likewise. */
static void all_of_a_probe(void **state)
{
	(void)state;
	read_all("8@%r10 8@%rax 8@%rdx -4@%ecx 8@%rsi -4@%edi 8@%r8 -4@%r9d 1@37(%r14)");
	expect(0, USDT_IN_REG, 8, 10, 0);
	expect(3, USDT_IN_REG, 4, 2, 0);
	expect(7, USDT_IN_REG, 4, 9, 0);
	expect(8, USDT_IN_MEMORY, 1, 14, 37);
	assert_int_equal(usdt_arg_reg(&args[3], 4), 2);
	assert_int_equal(usdt_arg_reg(&args[3], 8), USDT_NO_REG);
	assert_int_equal(usdt_arg_reg(&args[8], 1), USDT_NO_REG);
	read_all("1@%dil 2@%r15w 4@-392(%rbp) 8@(%rax)");
	expect(0, USDT_IN_REG, 1, 5, 0);
	expect(1, USDT_IN_REG, 2, 15, 0);
	expect(2, USDT_IN_MEMORY, 4, 6, -392);
	expect(3, USDT_IN_MEMORY, 8, 0, 0);
	expect(4, USDT_ELSEWHERE, 0, USDT_NO_REG, 0);
	/* More than are looked at. */
	read_all("1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%cl 1@%dl");
	expect(8, USDT_IN_REG, 1, 2, 0);
}

static void places_of_other_forms(void **state)
{
	static const char *const texts[] = {
		"4@-(%rbp)", "8@8(%rbp",	   "8@8(rbp)", "8@8(%ebp)", "8@8(%rax,%rbx)",
		"8@8",	     "8@2147483648(%rbp)", "16@%rax",  "@%rax",	    "8@-",
		"8@(%)",     "8@8(%rbp)x"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_all(texts[i]);
		expect(0, USDT_ELSEWHERE, 0, USDT_NO_REG, 0);
	}
	/* One that is not understood says nothing of the next. */
	read_all("8@$5 8@%rcx");
	expect(0, USDT_ELSEWHERE, 0, USDT_NO_REG, 0);
	expect(1, USDT_IN_REG, 8, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_have_dwarf_numbers), cmocka_unit_test(what_is_elsewhere),
		cmocka_unit_test(no_more_than_there_is),	cmocka_unit_test(all_of_a_probe),
		cmocka_unit_test(places_of_other_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
