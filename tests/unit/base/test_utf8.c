/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/utf8.h"

static void test_character_lengths(void **state)
{
	(void)state;
	assert_int_equal(utf8_len("a", 1), 1);
	assert_int_equal(utf8_len("\xc3\xa4", 2), 2);
	assert_int_equal(utf8_len("\xc3\xa4", 1), 0);
	assert_int_equal(utf8_len("\xef\xbf\xbd", 3), 3);
	assert_int_equal(utf8_len("\xf0\x9f\x98\x80", 4), 4);
	assert_int_equal(utf8_len("\xf0\x9f\x98\x80", 3), 0);
	assert_int_equal(utf8_len("", 0), 0);
	assert_int_equal(utf8_len("", 1), 1);
	/* Overlong, a surrogate, above U+10FFFF, a lone continuation. */
	assert_int_equal(utf8_len("\xc0\x80", 2), 0);
	assert_int_equal(utf8_len("\xe0\x9f\xbf", 3), 0);
	assert_int_equal(utf8_len("\xed\xa0\x80", 3), 0);
	assert_int_equal(utf8_len("\xf0\x8f\xbf\xbf", 4), 0);
	assert_int_equal(utf8_len("\xf4\x90\x80\x80", 4), 0);
	assert_int_equal(utf8_len("\x80", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_character_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
