/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "output/markup.h"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static void expect_escaped_n(const char *text, size_t len, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	markup_escape(&sb, text, len);
	assert_string_equal(strbuf_str(&sb), expected);
}

static void expect_escaped(const char *text, const char *expected)
{
	expect_escaped_n(text, strlen(text), expected);
}

static void test_markup_becomes_text(void **state)
{
	(void)state;
	expect_escaped("plain", "plain");
	expect_escaped("", "");
	expect_escaped("</script><a b=\"c\" d='e'>&amp;",
		       "&lt;/script&gt;&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

static void test_controls_are_replaced(void **state)
{
	(void)state;
	expect_escaped("a\tb\nc\rd", "a\tb\nc\rd");
	expect_escaped("a\x01\x1b\x7f", "a" BAD BAD BAD);
	expect_escaped_n("a\0b", 3, "a" BAD "b");
	expect_escaped("\xef\xbf\xbe\xef\xbf\xbf", BAD BAD);
}

static void test_utf8_is_kept_and_the_rest_replaced(void **state)
{
	(void)state;
	expect_escaped("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		       "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_escaped("\x80x", BAD "x");
	expect_escaped("\xc0\xbc", BAD BAD);		     /* overlong '<' */
	expect_escaped("\xe0\x80\xbc", BAD BAD BAD);	     /* overlong '<' */
	expect_escaped("\xed\xa0\x80", BAD BAD BAD);	     /* surrogate */
	expect_escaped("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* above U+10FFFF */
	expect_escaped("\xe2\x82", BAD BAD);		     /* cut short */
	expect_escaped("\xe2<", BAD "&lt;");		     /* nothing hides behind a bad byte */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_becomes_text),
		cmocka_unit_test(test_controls_are_replaced),
		cmocka_unit_test(test_utf8_is_kept_and_the_rest_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
