// SPDX-License-Identifier: Apache-2.0
/* Ids of classes to their names, and signatures of any content. */
#include "test.h"

#include <string.h>

#include "jvm/codemap/code_classes.h"

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
		cmocka_unit_test(ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
