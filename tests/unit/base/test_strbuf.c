/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/strbuf.h"

static void test_add(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	assert_string_equal(strbuf_str(&sb), "");
	strbuf_add(&sb, NULL, 0);
	assert_string_equal(sb.buf, "");
	strbuf_addstr(&sb, "ab");
	strbuf_addch(&sb, 'c');
	strbuf_add(&sb, "d\0e", 3);
	strbuf_addf(&sb, "%d-%s", 12, "x");
	assert_int_equal(sb.len, 10);
	assert_memory_equal(sb.buf, "abcd\0e12-x", 11);
	strbuf_reset(&sb);
	assert_int_equal(sb.len, 0);
	assert_string_equal(strbuf_str(&sb), "");
}

/* Lengths around every growth, by characters and by format. */
static void test_grows(void **state)
{
	_cleanup_strbuf_ struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		strbuf_addch(&one, (char)('a' + i % 26));
		strbuf_addf(&two, "%c", 'a' + i % 26);
		assert_int_equal(one.len, (size_t)i + 1);
		assert_true(one.cap > one.len);
		assert_int_equal(one.buf[one.len], 0);
	}
	assert_string_equal(one.buf, two.buf);
}

static void test_take(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	char *text;

	(void)state;
	text = strbuf_take(&sb);
	assert_string_equal(text, "");
	free(text);
	strbuf_addstr(&sb, "hello");
	text = strbuf_take(&sb);
	assert_string_equal(text, "hello");
	assert_null(sb.buf);
	assert_int_equal(sb.len, 0);
	strbuf_addstr(&sb, "again");
	assert_string_equal(text, "hello");
	assert_string_equal(sb.buf, "again");
	free(text);
	strbuf_release(&sb);
	assert_string_equal(strbuf_str(&sb), "");
}

static void test_disarm(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_disarm(&sb, 0);
	assert_string_equal(strbuf_str(&sb), "");
	strbuf_addstr(&sb, "\033a");
	strbuf_disarm(&sb, 1);
	assert_string_equal(sb.buf, "\033a");
	strbuf_reset(&sb);
	/* ESC, CSI as one character of UTF-8, tab, DEL; umlauts and their like stay, as do newlines. */
	strbuf_addstr(&sb, "a\033[31m\n\xc2\x9b\t\x7f \xc2\xa0\xc3\xa4\xe2\x80\xa6 \xc2");
	strbuf_disarm(&sb, 1);
	assert_string_equal(sb.buf, "a?[31m\n??? \xc2\xa0\xc3\xa4\xe2\x80\xa6 \xc2");
	assert_int_equal(sb.len, strlen(sb.buf));
	/* Right-to-left override, an isolate and its end; a dash and an ellipsis stay. */
	strbuf_reset(&sb);
	strbuf_addstr(&sb,
		      "\xe2\x80\xaegnp\xe2\x81\xa6x\xe2\x81\xa9 \xe2\x80\x94\xe2\x80\xa6\xe2\x80");
	strbuf_disarm(&sb, 0);
	assert_string_equal(sb.buf, "?gnp?x? \xe2\x80\x94\xe2\x80\xa6\xe2\x80");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_disarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
