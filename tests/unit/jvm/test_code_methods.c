/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "jvm/codemap/code_methods.h"

static void expect_class(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	code_class_name(from, strlen(from), &out);
	assert_string_equal(strbuf_str(&out), to);
}

static void class_names_are_dotted(void **state)
{
	(void)state;
	expect_class("java/lang/Thread", "java.lang.Thread");
	expect_class("pkg/Outer$Inner", "pkg.Outer$Inner");
	expect_class("Main", "Main");
	expect_class("", "");
	expect_class("[J", "[J");
}

static void hidden_classes_keep_their_suffix(void **state)
{
	(void)state;
	expect_class("pkg/A$$Lambda.0x00007ff5a8001800", "pkg.A$$Lambda/0x00007ff5a8001800");
	expect_class("pkg/A$$Lambda$14+0x0000000800c03000", "pkg.A$$Lambda$14/0x0000000800c03000");
	expect_class("java/lang/invoke/LambdaForm$MH/471910020",
		     "java.lang.invoke.LambdaForm$MH/471910020");
	expect_class("pkg/A$$Lambda$1/0x0000000840060840", "pkg.A$$Lambda$1/0x0000000840060840");
	/* Kotlin and others: no suffix of the JVM's. */
	expect_class("pkg/a+b", "pkg.a+b");
	expect_class("pkg/x.y", "pkg.x.y");
}

static void expect_clean(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	code_clean_text(from, strlen(from), &out);
	assert_string_equal(strbuf_str(&out), to);
}

static void text_is_made_valid(void **state)
{
	(void)state;
	expect_clean("größe€😀", "größe€😀");
	expect_clean("a\nb\tc\x7f", "a?b?c?");
	/* Modified UTF-8 writes NUL as C0 80 and U+10000 as two surrogates. */
	expect_clean("\xc0\x80", "??");
	expect_clean("\xed\xa0\x81\xed\xb0\x80", "??????");
	expect_clean("\xe0\x80\x80x", "???x");
	expect_clean("\xf4\x90\x80\x80", "????");
	expect_clean("\xe2\x82", "??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_names_are_dotted),
		cmocka_unit_test(hidden_classes_keep_their_suffix),
		cmocka_unit_test(text_is_made_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
