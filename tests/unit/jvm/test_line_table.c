/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/macros.h"
#include "jvm/names/line_table.h"

#define MAX_ENTRIES 16

static size_t decode(const uint8_t *bytes, size_t len, uint8_t bias, struct line_entry *entries)
{
	memset(entries, 0xee, MAX_ENTRIES * sizeof(*entries));
	return line_table_decode(bytes, len, bias, entries, MAX_ENTRIES);
}

static void packed_steps(void **state)
{
	/* bci +0 line +5; bci +31 line +0; bci +4 line +7; end */
	static const uint8_t bytes[] = { 0x05, 31 << 3, 4 << 3 | 7, 0, 0x11 };
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	assert_int_equal(decode(bytes, sizeof(bytes), 0, entries), 3);
	assert_int_equal(entries[0].bci, 0);
	assert_int_equal(entries[0].line, 5);
	assert_int_equal(entries[1].bci, 31);
	assert_int_equal(entries[1].line, 5);
	assert_int_equal(entries[2].bci, 35);
	assert_int_equal(entries[2].line, 12);
}

/* 0xff, then signed numbers: bit 0 is the sign. 128 -> 256 = 192 + (1 << 6). */
static void escaped_steps(void **state)
{
	static const uint8_t bias_0[] = { 0xff, 0, 192, 1, 0xff, 8, 3, 0 };
	static const uint8_t bias_1[] = { 0xff, 1, 193, 2, 0xff, 9, 4, 0 };
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	assert_int_equal(decode(bias_0, sizeof(bias_0), 0, entries), 2);
	assert_int_equal(entries[0].bci, 0);
	assert_int_equal(entries[0].line, 128);
	assert_int_equal(entries[1].bci, 4);
	assert_int_equal(entries[1].line, 126);
	assert_int_equal(decode(bias_1, sizeof(bias_1), 1, entries), 2);
	assert_int_equal(entries[0].line, 128);
	assert_int_equal(entries[1].bci, 4);
	assert_int_equal(entries[1].line, 126);
}

static void cut_tables_end_early(void **state)
{
	static const uint8_t no_end[] = { 0x09, 0x09 };
	static const uint8_t half_number[] = { 0x09, 0xff, 200 };
	static const uint8_t line_below_zero[] = { 0x09, 0xff, 0, 191, 0x09 };
	static const uint8_t zero_byte_in_number[] = { 0x09, 0xff, 1, 0, 0x09 };
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	assert_int_equal(decode(no_end, sizeof(no_end), 0, entries), 2);
	assert_int_equal(decode(half_number, sizeof(half_number), 0, entries), 1);
	assert_int_equal(decode(line_below_zero, sizeof(line_below_zero), 0, entries), 1);
	assert_int_equal(decode(zero_byte_in_number, sizeof(zero_byte_in_number), 1, entries), 1);
	assert_int_equal(decode(NULL, 0, 0, entries), 0);
}

static void never_more_than_asked_for(void **state)
{
	uint8_t bytes[64];
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	memset(bytes, 0x09, sizeof(bytes));
	assert_int_equal(line_table_decode(bytes, sizeof(bytes), 0, entries, 4), 4);
}

static void finds_the_line_at_or_before(void **state)
{
	/* javac puts a loop's condition last in the code and first in the source. */
	static const struct line_entry entries[] = { { 4, 10 }, { 9, 12 }, { 2, 9 }, { 20, 11 } };
	const size_t n = ARRAY_SIZE(entries);

	(void)state;
	assert_int_equal(line_table_find(entries, n, 0), 0);
	assert_int_equal(line_table_find(entries, n, 2), 9);
	assert_int_equal(line_table_find(entries, n, 3), 9);
	assert_int_equal(line_table_find(entries, n, 4), 10);
	assert_int_equal(line_table_find(entries, n, 19), 12);
	assert_int_equal(line_table_find(entries, n, 65535), 11);
	assert_int_equal(line_table_find(NULL, 0, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_steps),
		cmocka_unit_test(escaped_steps),
		cmocka_unit_test(cut_tables_end_early),
		cmocka_unit_test(never_more_than_asked_for),
		cmocka_unit_test(finds_the_line_at_or_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
