// SPDX-License-Identifier: Apache-2.0
/* Where functions of assembly end. */
#include "test.h"

#include "elf/infer/infer_end.h"
#include "infer_fixture.h"

INFER_CASE(plain, "xor %eax,%eax\n ret\n nop\n ret");
INFER_CASE(rounds, "1: dec %eax\n jne 1b\n ret\n ret");
INFER_CASE(two_ends, "test %eax,%eax\n je 1f\n ret\n 1: inc %eax\n ret\n ret");
INFER_CASE(jumps_over, "jmp 1f\n ret\n 1: inc %eax\n ret\n ret");
INFER_CASE(goes_elsewhere, "inc %eax\n jmp *%rax\n ret");
INFER_CASE(goes_back, "inc %eax\n 1: call *%rax\n jmp 1b\n ret");
INFER_CASE(has_none, "inc %eax\n call *%rax");
INFER_CASE(is_none, "hlt\n .byte 0x06\n ret");
INFER_CASE(longest, ".rept 1023\n inc %eax\n .endr\n cdq\n ret\n ret");
INFER_CASE(too_long, ".rept 1024\n inc %eax\n .endr\n ret");

static void expect_end(const uint8_t *begin, const uint8_t *end, size_t wanted)
{
	assert_int_equal(infer_function_end(begin, (size_t)(end - begin)), wanted);
}

static void ends(void **state)
{
	(void)state;
	expect_end(plain_begin, plain_end, 3);
	expect_end(rounds_begin, rounds_end, 5);
	expect_end(two_ends_begin, two_ends_end, 8);
	expect_end(jumps_over_begin, jumps_over_end, 6);
	expect_end(goes_elsewhere_begin, goes_elsewhere_end, 4);
	expect_end(goes_back_begin, goes_back_end, 6);
	expect_end(longest_begin, longest_end, 2048);
}

static void no_ends(void **state)
{
	(void)state;
	expect_end(has_none_begin, has_none_end, 0);
	expect_end(is_none_begin, is_none_end, 0);
	expect_end(too_long_begin, too_long_end, 0);
	expect_end(plain_begin, plain_begin, 0);
	/* Cut off. */
	expect_end(two_ends_begin, two_ends_end - 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends),
		cmocka_unit_test(no_ends),
	};

	return cmocka_run_group_tests_name("infer_end", tests, NULL, NULL);
}
