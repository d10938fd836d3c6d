/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static void assert_quoted(const char *in, size_t len, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	json_quote(&sb, in, len);
	assert_string_equal(strbuf_str(&sb), expected);
}

#define QUOTED(in, expected) assert_quoted(in, sizeof(in) - 1, expected)
#define BAD		     "\xef\xbf\xbd"

static void test_quote(void **state)
{
	(void)state;
	QUOTED("", "\"\"");
	QUOTED("a\"b\\c", "\"a\\\"b\\\\c\"");
	QUOTED("\n\t\r\b\x1f", "\"\\n\\t\\r\\u0008\\u001f\"");
	QUOTED("a\0b", "\"a\\u0000b\"");
	QUOTED("Stra\xc3\x9f"
	       "e \xe2\x82\xac \xf0\x9f\x94\xa5",
	       "\"Stra\xc3\x9f"
	       "e \xe2\x82\xac \xf0\x9f\x94\xa5\"");
	QUOTED("Foo.<init>", "\"Foo.<init>\"");
	QUOTED("</script><!--", "\"\\u003c/script>\\u003c!--\"");
}

static void test_quote_bad_utf8(void **state)
{
	(void)state;
	QUOTED("\xff", "\"" BAD "\"");
	QUOTED("a\x80z", "\"a" BAD "z\"");
	QUOTED("\xc3", "\"" BAD "\"");			       /* cut */
	QUOTED("\xe2\x82", "\"" BAD BAD "\"");		       /* cut */
	QUOTED("\xc0\xaf", "\"" BAD BAD "\"");		       /* overlong '/' */
	QUOTED("\xe0\x9f\xbf", "\"" BAD BAD BAD "\"");	       /* overlong */
	QUOTED("\xed\xa0\x80", "\"" BAD BAD BAD "\"");	       /* surrogate */
	QUOTED("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* above U+10FFFF */
}

static void write_sample(struct json *j)
{
	json_object_begin(j, NULL);
	json_str(j, "a", "x");
	json_str(j, "none", NULL);
	json_array_begin(j, "list");
	json_u64(j, NULL, UINT64_MAX);
	json_i64(j, NULL, INT64_MIN);
	json_double(j, NULL, 0.5);
	json_double(j, NULL, NAN);
	json_bool(j, NULL, true);
	json_array_end(j);
	json_object_begin(j, "empty");
	json_object_end(j);
	json_array_begin(j, "none");
	json_array_end(j);
	json_object_end(j);
}

static void test_compact(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct json j;

	(void)state;
	json_init(&j, &sb, false);
	write_sample(&j);
	assert_string_equal(strbuf_str(&sb),
			    "{\"a\":\"x\",\"none\":null,\"list\":[18446744073709551615,"
			    "-9223372036854775808,0.5,null,true],\"empty\":{},\"none\":[]}");
}

static void test_pretty(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct json j;

	(void)state;
	json_init(&j, &sb, true);
	json_object_begin(&j, NULL);
	json_array_begin(&j, "list");
	json_object_begin(&j, NULL);
	json_u64(&j, "n", 1);
	json_object_end(&j);
	json_array_end(&j);
	json_str(&j, "b", "c");
	json_object_end(&j);
	assert_string_equal(strbuf_str(&sb),
			    "{\n  \"list\": [\n    {\n      \"n\": 1\n    }\n  ],\n"
			    "  \"b\": \"c\"\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quote_bad_utf8),
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_pretty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
