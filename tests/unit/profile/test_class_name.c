/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/macros.h"
#include "profile/class_name.h"

static const struct {
	const char *name, *internal;
} pairs[] = {
	{ "", "" },
	{ "java.lang.String", "java/lang/String" },
	{ "com.acme.Outer$Inner", "com/acme/Outer$Inner" },
	{ "NoPackage", "NoPackage" },
	{ "byte[]", "[B" },
	{ "char[]", "[C" },
	{ "double[]", "[D" },
	{ "float[]", "[F" },
	{ "int[][][]", "[[[I" },
	{ "long[]", "[J" },
	{ "short[]", "[S" },
	{ "boolean[]", "[Z" },
	{ "java.lang.String[][]", "[[Ljava/lang/String;" },
	/* a class of one letter is no primitive, nor one whose name begins like one */
	{ "B", "B" },
	{ "B[]", "[LB;" },
	{ "byte1[]", "[Lbyte1;" },
	{ "by[]", "[Lby;" },
};

static void test_there_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		strbuf_addstr(&out, "a.b/");
		class_name_to_internal(&out, pairs[i].name);
		assert_string_equal(strbuf_str(&out) + 4, pairs[i].internal);
		assert_memory_equal(strbuf_str(&out), "a.b/", 4);
		strbuf_reset(&out);
		strbuf_addstr(&out, "a.b/");
		class_name_from_internal(&out, pairs[i].internal);
		assert_string_equal(strbuf_str(&out) + 4, pairs[i].name);
		assert_memory_equal(strbuf_str(&out), "a.b/", 4);
	}
}

/* Other people's files: nothing is lost of what is no name of an array. */
static void test_what_is_no_array(void **state)
{
	static const struct {
		const char *internal, *name;
	} odd[] = {
		{ "[", "[" },	  { "[[", "[[" },	{ "[Q", "[Q" },	       { "[BB", "[BB" },
		{ "[L;", "[L;" }, { "[La/b", "[La.b" }, { "[Lc.d;", "c.d[]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		class_name_from_internal(&out, odd[i].internal);
		assert_string_equal(strbuf_str(&out), odd[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_what_is_no_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
