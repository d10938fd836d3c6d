/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "output/view.h"

static const char *find_name(const char *name, const char *path)
{
	const struct view_format *format = view_format_find(name, path);

	return format ? format->name : "none";
}

static void test_find(void **state)
{
	(void)state;
	assert_string_equal(find_name(NULL, "x.jfr"), "jfr");
	assert_string_equal(find_name(NULL, "/tmp/a.b/x.pb.gz"), "pprof");
	assert_string_equal(find_name(NULL, "x.html"), "html");
	assert_string_equal(find_name(NULL, "x.svg"), "svg");
	assert_string_equal(find_name(NULL, "x.collapsed"), "collapsed");
	assert_string_equal(find_name(NULL, "x.txt"), "txt");
	assert_string_equal(find_name(NULL, "x.gz"), "none");
	assert_string_equal(find_name(NULL, "html"), "none");
	assert_string_equal(find_name("txt", "x.html"), "txt");
	assert_string_equal(find_name("nonesuch", "x.html"), "none");
	assert_string_equal(find_name("html", NULL), "html");
}

static void test_rows(void **state)
{
	(void)state;
	for (const struct view_format *f = view_formats; f->name; f++) {
		assert_int_equal(f->extension[0], '.');
		assert_true(strlen(f->summary) > 0);
		assert_int_equal(!f->write, !strcmp(f->name, "jfr"));
		assert_string_equal(find_name(NULL, f->extension), f->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
