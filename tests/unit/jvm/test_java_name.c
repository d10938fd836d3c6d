/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM's names of classes as people have them. */
#include "test.h"

#include <string.h>

#include "jvm/java_name.h"

static void expect_class(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	java_name_add_class(&out, from, strlen(from));
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
	/* Where a suffix is missing, or is no number. */
	expect_class("pkg/A.0", "pkg.A/0");
	expect_class("pkg/A.", "pkg.A.");
	expect_class("pkg/A+", "pkg.A+");
	expect_class("pkg/A/", "pkg.A.");
	expect_class("pkg/A.1x", "pkg.A.1x");
	expect_class("pkg/A+12", "pkg.A+12");
	expect_class("pkg/A/12", "pkg.A/12");
	expect_class("pkg/A/0x1g", "pkg.A.0x1g");
	expect_class("pkg/A/a1", "pkg.A.a1");
	expect_class("pkg/A.0x1f\n", "pkg.A.0x1f?");
	expect_class("A\n/0x1f", "A?/0x1f");
}

/* It is put behind what is there, which stays as it is. */
static void names_are_appended(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&out, "a/b");
	java_name_add_class(&out, "pkg/A", 5);
	assert_string_equal(strbuf_str(&out), "a/bpkg.A");
	strbuf_reset(&out);
	java_name_add_class(&out, "pkg/Axyz", 5);
	assert_string_equal(strbuf_str(&out), "pkg.A");
}

static void expect_clean(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	java_name_add_text(&out, from, strlen(from));
	assert_string_equal(strbuf_str(&out), to);
}

static void text_is_made_valid(void **state)
{
	(void)state;
	expect_clean("größe€😀", "größe€😀");
	expect_clean("a\nb\tc\x7f", "a?b?c?");
	expect_clean("\x1f ~", "? ~");
	/* Modified UTF-8 writes NUL as C0 80 and U+10000 as two surrogates. */
	expect_clean("\xc0\x80", "??");
	expect_clean("\xed\xa0\x81\xed\xb0\x80", "??????");
	expect_clean("\xe0\x80\x80x", "???x");
	expect_clean("\xf4\x90\x80\x80", "????");
	expect_clean("\xe2\x82", "??");
}

static void expect_signature(const char *signature, const char *name)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	java_name_add_signature(&out, signature, strlen(signature));
	assert_string_equal(strbuf_str(&out), name);
}

static void signatures(void **state)
{
	(void)state;
	expect_signature("Ljava/lang/String;", "java.lang.String");
	expect_signature("Lpkg/Outer$Inner;", "pkg.Outer$Inner");
	expect_signature("[Ljava/lang/String;", "java.lang.String[]");
	expect_signature("[B", "byte[]");
	expect_signature("[[[J", "long[][][]");
	expect_signature("[Z", "boolean[]");
	expect_signature("[C", "char[]");
	expect_signature("[D", "double[]");
	expect_signature("[F", "float[]");
	expect_signature("[I", "int[]");
	expect_signature("[S", "short[]");
	expect_signature("Lpkg/A.0x00007f0012345678;", "pkg.A/0x00007f0012345678");
	/* None of them. */
	expect_signature("", "");
	expect_signature("[", "[");
	expect_signature("[X", "[X");
	expect_signature("B", "B");
	expect_signature("L;", "L;");
	expect_signature("Lpkg/A", "Lpkg/A");
	expect_signature("a\nb", "a?b");
}

/* An array's is a signature, any other the class's name, also one that looks like a type. */
static void symbols(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	java_name_add_symbol(&out, "[Lpkg/A;", 8);
	strbuf_addch(&out, ' ');
	java_name_add_symbol(&out, "pkg/A+0x1f", 10);
	strbuf_addch(&out, ' ');
	java_name_add_symbol(&out, "LA;", 3);
	strbuf_addch(&out, ' ');
	java_name_add_symbol(&out, "B", 1);
	java_name_add_symbol(&out, "", 0);
	assert_string_equal(strbuf_str(&out), "pkg.A[] pkg.A/0x1f LA; B");
}

/* Of a String, whatever is in it. */
static void chars(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const uint8_t latin[] = { 'a', 0xe4, '\n', 0x7f, 0xff };
	const uint16_t wide[] = { 'a', 0x7ff, 0x800, 0xd83d, 0xde00, 0xd83d, 'b', 0xde00, 0xd83d };

	(void)state;
	java_name_add_chars(&out, latin, 1, sizeof(latin));
	assert_string_equal(strbuf_str(&out), "a\xc3\xa4??\xc3\xbf");
	strbuf_reset(&out);
	java_name_add_chars(&out, wide, 2, ARRAY_SIZE(wide));
	assert_string_equal(strbuf_str(&out), "a\xdf\xbf\xe0\xa0\x80\xf0\x9f\x98\x80?b??");
}

/* One name for a stub of all releases, as far as they have the same. */
static void stubs(void **state)
{
	static const char *const names[][2] = {
		{ "libmSin", "libmSin" },
		{ "dsin", "dsin" },
		{ "Stub Generator dsin_stub", "dsin" },
		{ "dsin_stub (stub gen)", "dsin" },
		{ "I2C/C2I adapters", "I2C/C2I adapters" },
		{ "I2C/C2I adapters(0xba)@0x00007f12", "I2C/C2I adapters" },
		{ "flush_icache_stub", "flush_icache_stub" },
		{ "Stub Generator dsin", "Stub Generator dsin" },
		{ "Stub Generator _stub", "" },
		{ "_stub (stub gen)", "" },
		{ "ge\nnoa\xff", "ge?noa?" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		java_name_add_stub(&out, names[i][0], strlen(names[i][0]));
		assert_string_equal(strbuf_str(&out), names[i][1]);
	}
}

static void expect_descriptor(const char *text, size_t len, const char *expected)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_addstr(&out, "run");
	java_name_add_descriptor(&out, text, len);
	assert_string_equal(strbuf_str(&out) + 3, expected);
}

/* JVM specification, 4.3.3. */
static void descriptors(void **state)
{
	static const char *const right[] = {
		"()V",
		"(I)J",
		"(BCDFIJSZ)Ljava/lang/String;",
		"(Ljava/lang/String;[[Lpkg/A$B;[J)[[I",
		"(LA;I[Z)LA;",
		"(Lcaf\xc3\xa9;)V",
		"(Lpkg/Hidden+0x12;)V",
		"(Ljava/net/URL;LL;)LL;",
	};
	static const char *const wrong[] = {
		"",	 "(",	 "()",	    ")V",    "I",    "()VV",	 "(V)V",
		"(I",	 "(I)",	 "([)V",    "()[",   "()[V", "(L;)V",	 "(LA)V",
		"(LA",	 "()LA", "()L",	    "(I)J ", "(X)V", "(La(b;)V", "(La[b;)V",
		"(I)V;", "name", "(I)(I)V", "(L",    "x()V", "()La;b;",	 "(()V)V",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		expect_descriptor(right[i], strlen(right[i]), right[i]);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		expect_descriptor(wrong[i], strlen(wrong[i]), "");
	/* Any byte short, and any bytes of a name. */
	for (size_t len = 0; len < strlen(right[3]); len++)
		expect_descriptor(right[3], len, "");
	expect_descriptor("(La\nb\xff;)V", 9, "(La?b?;)V");
}

/* A part of a descriptor is another one's: what is too long is none. */
static void long_descriptors(void **state)
{
	char text[JAVA_MAX_DESCRIPTOR + 2];

	(void)state;
	memset(text, 'I', sizeof(text));
	text[0] = '(';
	memcpy(text + JAVA_MAX_DESCRIPTOR - 2, ")V", 3);
	expect_descriptor(text, JAVA_MAX_DESCRIPTOR, text);
	memcpy(text + JAVA_MAX_DESCRIPTOR - 2, "I)V", 4);
	expect_descriptor(text, JAVA_MAX_DESCRIPTOR + 1, "");
	/* So many dimensions has no array. */
	memset(text, '[', 300);
	text[0] = '(';
	memcpy(text + 256, "I)V", 4);
	expect_descriptor(text, 259, text);
	memcpy(text + 256, "[I)V", 5);
	expect_descriptor(text, 260, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_names_are_dotted),
		cmocka_unit_test(hidden_classes_keep_their_suffix),
		cmocka_unit_test(names_are_appended),
		cmocka_unit_test(text_is_made_valid),
		cmocka_unit_test(signatures),
		cmocka_unit_test(symbols),
		cmocka_unit_test(stubs),
		cmocka_unit_test(chars),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(long_descriptors),
	};

	return cmocka_run_group_tests_name("java_name", tests, NULL, NULL);
}
