/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, texts and keys of JFR, written and read. */
#include "test.h"

#include <string.h>

#include "recording/read_keymap.h"
#include "recording/read_values.h"
#include "recording/write_values.h"

static void test_varint(void **state)
{
	static const struct {
		uint64_t value;
		size_t bytes;
	} cases[] = {
		{ 0, 1 },
		{ 127, 1 },
		{ 128, 2 },
		{ 16383, 2 },
		{ 16384, 3 },
		{ (1 << 21) - 1, 3 },
		{ 1 << 21, 4 },
		{ (1ULL << 56) - 1, 8 },
		{ 1ULL << 56, 9 },
		{ UINT64_MAX, 9 },
		{ (uint64_t)-68, 9 },
		{ 1ULL << 63, 9 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
		struct jfr_cursor c;

		jfr_put_varint(&sb, cases[i].value);
		assert_int_equal(sb.len, cases[i].bytes);
		for (size_t pad = 0; pad < 4; pad += 3) {
			jfr_put_utf8(&sb, "xyz", pad);
			c = (struct jfr_cursor){ (uint8_t *)sb.buf, (uint8_t *)sb.buf + sb.len, 0 };
			assert_int_equal(jfr_get_varint(&c), cases[i].value);
			assert_ptr_equal(c.at, (uint8_t *)sb.buf + cases[i].bytes);
		}
		c = (struct jfr_cursor){ (uint8_t *)sb.buf, (uint8_t *)sb.buf + cases[i].bytes - 1,
					 0 };
		jfr_get_varint(&c);
		assert_true(c.bad);
		assert_int_equal(jfr_left(&c), 0);
	}
}

static void test_event(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct jfr_cursor c;
	size_t event;

	(void)state;
	strbuf_addstr(&sb, "before");
	event = jfr_begin_event(&sb, 300);
	while (sb.len < 6 + 70000)
		strbuf_addch(&sb, 'x');
	jfr_end_event(&sb, event);
	c = (struct jfr_cursor){ (uint8_t *)sb.buf + 6, (uint8_t *)sb.buf + sb.len, false };
	assert_int_equal(jfr_get_varint(&c), 70000);
	assert_int_equal(jfr_get_varint(&c), 300);
	assert_false(c.bad);
}

static void check_text(const char *bytes, size_t len, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct jfr_cursor c = { (const uint8_t *)bytes, (const uint8_t *)bytes + len, false };
	struct jfr_text text = jfr_get_text(&c);

	assert_false(c.bad);
	assert_int_equal(jfr_left(&c), 0);
	jfr_decode_text(&sb, &text);
	assert_string_equal(strbuf_str(&sb), expected);
}

static void test_texts(void **state)
{
	struct jfr_cursor c;

	(void)state;
	check_text("\x00", 1, "");
	check_text("\x01", 1, "");
	check_text("\x03\x03"
		   "a\xc3\xa9",
		   5, "a\xc3\xa9");
	check_text("\x05\x02"
		   "a\xe9",
		   4, "a\xc3\xa9");
	/* UTF-16: e acute, the euro sign, a pair (U+1F600), half a pair. */
	check_text("\x04\x05\xe9\x01\xac\x41\xbd\xb0\x03\x80\xbc\x03\xbd\xb0\x03", 15,
		   "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	/* The first and last characters of each length in UTF-8. */
	check_text("\x04\x01\x7f", 3, "\x7f");
	check_text("\x04\x01\x80\x01", 4, "\xc2\x80");
	check_text("\x04\x01\xff\x0f", 4, "\xdf\xbf");
	check_text("\x04\x01\x80\x10", 4, "\xe0\xa0\x80");
	check_text("\x04\x01\xff\xff\x03", 5, "\xef\xbf\xbf");
	check_text("\x04\x02\x80\xb0\x03\x80\xb8\x03", 8, "\xf0\x90\x80\x80");
	check_text("\x04\x02\xff\xb7\x03\xff\xbf\x03", 8, "\xf4\x8f\xbf\xbf");
	/* The second half alone, and a first half that another character follows. */
	check_text("\x04\x01\x80\xb8\x03", 5, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_text("\x04\x02\x80\xb0\x03"
		   "a",
		   6,
		   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		   "a");
	c = (struct jfr_cursor){ (const uint8_t *)"\x03\x05"
						  "abc",
				 (const uint8_t *)"" + 0, false };
	c.end = c.at + 5;
	assert_int_equal(jfr_get_text(&c).len, 0);
	assert_true(c.bad);
	c = (struct jfr_cursor){ (const uint8_t *)"\x07", NULL, false };
	c.end = c.at + 1;
	jfr_get_text(&c);
	assert_true(c.bad);
}

static void test_keymap(void **state)
{
	struct jfr_keymap map = { 0 };

	(void)state;
	assert_int_equal(jfr_keymap_get(&map, 0, 77), 77);
	for (uint32_t i = 0; i < 100; i++)
		jfr_keymap_put(&map, 3 + 2 * i, i);
	assert_int_equal(map.sparse.len, 0);
	jfr_keymap_put(&map, 4, 1000);
	jfr_keymap_put(&map, 1, 1001);
	jfr_keymap_put(&map, UINT64_MAX, 1002);
	jfr_keymap_put(&map, 5, 1003);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(jfr_keymap_get(&map, 3 + 2 * i, 77), i == 1 ? 1003 : i);
	assert_int_equal(jfr_keymap_get(&map, 4, 77), 1000);
	assert_int_equal(jfr_keymap_get(&map, 1, 77), 1001);
	assert_int_equal(jfr_keymap_get(&map, UINT64_MAX, 77), 1002);
	assert_int_equal(jfr_keymap_get(&map, 6, 77), 77);
	assert_int_equal(jfr_keymap_get(&map, 203, 77), 77);
	jfr_keymap_clear(&map);
	assert_int_equal(jfr_keymap_get(&map, 3, 77), 77);
	assert_int_equal(jfr_keymap_get(&map, 4, 77), 77);
	assert_int_equal(jfr_keymap_get(&map, UINT64_MAX, 77), 77);
	for (uint32_t i = 0; i < 5; i++)
		jfr_keymap_put(&map, i, i + 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(jfr_keymap_get(&map, i, 77), i + 1);
	jfr_keymap_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varint),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_keymap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
