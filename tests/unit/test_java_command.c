/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "base/macros.h"
#include "jvm/java_command.h"

static const struct {
	const char *args; /* with \0 between them */
	size_t len;
	const char *main; /* NULL: none */
} cases[] = {

#define CASE(args, main)                 \
	{                                \
		args, sizeof(args), main \
	}
	CASE("java\0Main", "Main"),
	CASE("/usr/bin/java\0-Xmx1g\0-cp\0a.jar:b.jar\0pkg.Main\0-x\0y", "pkg.Main"),
	CASE("java\0-classpath\0pkg.Not\0--class-path\0also.Not\0pkg.Main", "pkg.Main"),
	CASE("java\0--class-path=a.jar\0pkg.Main", "pkg.Main"),
	CASE("java\0-jar\0/opt/app.jar\0arg", "/opt/app.jar"),
	CASE("java\0-jar\0-Xmx1g\0/opt/my app.jar", "/opt/my app.jar"),
	CASE("java\0-p\0mods\0-m\0mod/pkg.Main\0arg", "mod/pkg.Main"),
	CASE("java\0--module-path\0mods\0--module\0mod", "mod"),
	CASE("java\0--module=mod/pkg.Main", "mod/pkg.Main"),
	CASE("java\0--add-opens\0java.base/java.lang=ALL-UNNAMED\0--add-modules\0x\0M", "M"),
	CASE("java\0--add-exports=a/b=c\0--enable-native-access\0x\0--patch-module\0a=b\0M", "M"),
	CASE("java\0-XX:+UseZGC\0-Dx=y\0-ea\0--source\0"
	     "17\0Hello.java",
	     "Hello.java"),
	CASE("java\0-javaagent:x.jar\0-agentlib:jdwp=a\0M", "M"),
	CASE("java\0@options\0Main", NULL),
	CASE("java\0-version", NULL),
	CASE("java\0-cp", NULL),
	CASE("java\0-m", NULL),
	CASE("java\0\0x", NULL),
	CASE("java", NULL),
	CASE("", NULL),
};

static void finds_what_is_run(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		char found[64] = "untouched";
		int r = java_command_parse(cases[i].args, cases[i].len, found, sizeof(found));

		if (r != (cases[i].main ? 0 : -ENODATA))
			fail_msg("case %u: came %d (%s)", i, r, found);
		assert_string_equal(found, cases[i].main ? cases[i].main : "untouched");
	}
}

static void last_argument_may_lack_its_nul(void **state)
{
	char found[64] = "";

	(void)state;
	assert_int_equal(java_command_parse("java\0Main", 9, found, sizeof(found)), 0);
	assert_string_equal(found, "Main");
	assert_int_equal(java_command_parse("java\0Main", 7, found, sizeof(found)), 0);
	assert_string_equal(found, "Ma");
	assert_int_equal(java_command_parse(NULL, 0, found, sizeof(found)), -ENODATA);
}

static void long_names_are_cut(void **state)
{
	char args[8192], found[16];

	(void)state;
	memset(args, 'x', sizeof(args));
	args[4] = 0;
	assert_int_equal(java_command_parse(args, sizeof(args), found, sizeof(found)), 0);
	assert_string_equal(found, "xxxxxxxxxxxxxxx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_run),
		cmocka_unit_test(last_argument_may_lack_its_nul),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
