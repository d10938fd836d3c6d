// SPDX-License-Identifier: Apache-2.0
/* Ids of classes to their names, and signatures of any content. */
#include "test.h"

#include <string.h>

#include "jvm/codemap/code_classes.h"

static void expect_name(const char *signature, const char *name)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	code_class_of_signature(signature, strlen(signature), &out);
	assert_string_equal(strbuf_str(&out), name);
}

static void signatures(void **state)
{
	(void)state;
	expect_name("Ljava/lang/String;", "java.lang.String");
	expect_name("Lpkg/Outer$Inner;", "pkg.Outer$Inner");
	expect_name("[Ljava/lang/String;", "java.lang.String[]");
	expect_name("[B", "byte[]");
	expect_name("[[[J", "long[][][]");
	expect_name("[Z", "boolean[]");
	expect_name("[C", "char[]");
	expect_name("[D", "double[]");
	expect_name("[F", "float[]");
	expect_name("[I", "int[]");
	expect_name("[S", "short[]");
	expect_name("Lpkg/A.0x00007f0012345678;", "pkg.A/0x00007f0012345678");
	/* None of them. */
	expect_name("", "");
	expect_name("[", "[");
	expect_name("[X", "[X");
	expect_name("B", "B");
	expect_name("L;", "L;");
	expect_name("Lpkg/A", "Lpkg/A");
	expect_name("a\nb", "a?b");
}

static void add(struct code_classes *classes, uint64_t id, const char *signature)
{
	struct codemap_event event = { .kind = CODEMAP_CLASS };

	event.class.id = id;
	event.class.name = (struct codemap_text){ signature, (uint32_t)strlen(signature) };
	code_classes_add(classes, &event);
}

static void ids(void **state)
{
	struct code_classes classes = { 0 };
	size_t bytes;

	(void)state;
	assert_null(code_classes_find(&classes, 1));
	add(&classes, 7, "[B");
	add(&classes, 8, "Lpkg/A;");
	bytes = code_classes_bytes(&classes);
	assert_string_equal(code_classes_find(&classes, 7), "byte[]");
	assert_string_equal(code_classes_find(&classes, 8), "pkg.A");
	assert_null(code_classes_find(&classes, 9));
	/* A replay gives a class another id; the first one still means it. */
	add(&classes, 9, "[B");
	assert_string_equal(code_classes_find(&classes, 9), "byte[]");
	assert_string_equal(code_classes_find(&classes, 7), "byte[]");
	/* Its names take nothing more, the ids do. */
	for (uint64_t id = 10; id < 1000; id++)
		add(&classes, id, "[B");
	assert_true(code_classes_bytes(&classes) > bytes + 990 * 24);
	code_classes_release(&classes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures),
		cmocka_unit_test(ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
