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
	/* What lies behind the table is no part of it. */
	assert_int_equal(decode(no_end, 1, 0, entries), 1);
	assert_int_equal(decode((const uint8_t[]){ 0x09, 0xff, 0, 2, 0 }, 2, 0, entries), 1);
	assert_int_equal(decode((const uint8_t[]){ 0x09, 0xff, 0, 2, 0 }, 3, 0, entries), 1);
	assert_int_equal(decode((const uint8_t[]){ 0x09, 0xff, 0, 2, 0 }, 4, 0, entries), 2);
}

/* Each byte has six bits of worth, those from 192 on say that there is more; five at the most. */
static void numbers_of_all_lengths(void **state)
{
	static const struct {
		uint8_t bytes[5];
		unsigned int len;
		uint16_t line; /* its step is twice as much: the sign is bit 0 */
	} cases[] = {
		{ { 2 }, 1, 1 },
		{ { 190 }, 1, 95 },
		{ { 192, 0 }, 2, 96 },
		{ { 254, 0 }, 2, 127 },
		{ { 192, 1 }, 2, 128 },
		{ { 192, 191 }, 2, 96 + 191 * 32 },
		{ { 192, 192, 0 }, 3, 96 + 192 * 32 },
		{ { 192, 192, 1 }, 3, 96 + 192 * 32 + 2048 },
	};
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		for (uint8_t bias = 0; bias < 2; bias++) {
			uint8_t bytes[10] = { 0xff, bias };

			/* With a bias what ends a number is below 191. */
			if (bias && cases[i].bytes[1] == 191)
				continue;
			for (unsigned int k = 0; k < cases[i].len; k++)
				bytes[2 + k] = (uint8_t)(cases[i].bytes[k] + bias);
			bytes[2 + cases[i].len] = 0x08;
			assert_int_equal(decode(bytes, sizeof(bytes), bias, entries), 2);
			assert_int_equal(entries[0].line, cases[i].line);
			/* The next step begins behind it. */
			assert_int_equal(entries[1].bci, 1);
			assert_int_equal(entries[1].line, cases[i].line);
		}
}

/* The fifth byte is the last, whatever it says. */
static void a_number_has_five_bytes(void **state)
{
	/* 192 + 192 * 64 + 192 * 4096 + 192 * 262144 + 192 * 2^24 overflows to an even number. */
	static const uint8_t bytes[] = { 0xff, 192, 192, 192, 192, 192, 0, 0x09 };
	static const uint8_t four[] = { 0xff, 0, 192, 192, 192, 192 };
	struct line_entry entries[MAX_ENTRIES];

	(void)state;
	assert_int_equal(decode(bytes, sizeof(bytes), 0, entries), 0);
	assert_int_equal(decode(four, sizeof(four), 0, entries), 0);
}

/* Both have 16 bits and never fall below zero, by packed steps and by long ones. */
static void limits_of_bci_and_line(void **state)
{
	uint8_t bytes[64] = { 0 };
	struct line_entry entries[64];
	size_t len = 0, count;

	(void)state;
	for (int64_t left = 65535; left > 0 && len < 48;) {
		int64_t step = left > 8191 ? 8191 : left;
		uint32_t value = (uint32_t)step * 2;

		bytes[len++] = 0xff;
		while (value >= 192) {
			uint32_t low = 192 + (value - 192) % 64;

			bytes[len++] = (uint8_t)low;
			value = (value - low) / 64;
		}
		bytes[len++] = (uint8_t)value;
		bytes[len++] = 0;
		left -= step;
	}
	bytes[len++] = 7; /* line 7 */
	count = line_table_decode(bytes, len, 0, entries, 64);
	assert_int_equal(count, 10);
	assert_int_equal(entries[count - 1].bci, 65535);
	assert_int_equal(entries[count - 1].line, 7);
	bytes[len++] = 1 << 3;
	assert_int_equal(line_table_decode(bytes, len, 0, entries, 64), 10);
	/* The same steps of the line. */
	for (size_t i = 0; i < len - 2;) {
		size_t end = i + 1;

		while (bytes[end] >= 192)
			end++;
		memmove(bytes + i + 2, bytes + i + 1, end - i);
		bytes[i + 1] = 0;
		i = end + 2;
	}
	bytes[len - 2] = 1 << 3;
	count = line_table_decode(bytes, len - 1, 0, entries, 64);
	assert_int_equal(count, 10);
	assert_int_equal(entries[count - 1].line, 65535);
	assert_int_equal(entries[count - 1].bci, 1);
	bytes[len - 2] = 1;
	assert_int_equal(line_table_decode(bytes, len - 1, 0, entries, 64), 9);
	/* Back to 0 and no farther. */
	assert_int_equal(decode((const uint8_t[]){ 0x0b, 0xff, 1, 5 }, 4, 0, entries), 2);
	assert_int_equal(entries[1].bci, 0);
	assert_int_equal(entries[1].line, 0);
	assert_int_equal(decode((const uint8_t[]){ 0x0b, 0xff, 1, 7 }, 4, 0, entries), 1);
	assert_int_equal(decode((const uint8_t[]){ 0x0b, 0xff, 3, 5 }, 4, 0, entries), 1);
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
	/* Of two for one bci the first is meant when it is asked for, and the last behind it. */
	assert_int_equal(line_table_find((const struct line_entry[]){ { 3, 1 }, { 3, 2 } }, 2, 3),
			 1);
	assert_int_equal(line_table_find((const struct line_entry[]){ { 3, 1 }, { 3, 2 } }, 2, 4),
			 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_steps),
		cmocka_unit_test(escaped_steps),
		cmocka_unit_test(cut_tables_end_early),
		cmocka_unit_test(numbers_of_all_lengths),
		cmocka_unit_test(a_number_has_five_bytes),
		cmocka_unit_test(limits_of_bci_and_line),
		cmocka_unit_test(never_more_than_asked_for),
		cmocka_unit_test(finds_the_line_at_or_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
