/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "fake_vm.h"
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

/* As `java --help` has them: the next argument is theirs. */
static void options_with_a_value(void **state)
{
	static const char *const options[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--limit-modules",
		"--add-exports",
		"--add-opens",
		"--add-reads",
		"--patch-module",
		"--enable-native-access",
		"--enable-final-field-mutation",
		"--source",
		"-d",
		"--describe-module",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		char args[128], found[64] = "";
		int len = snprintf(args, sizeof(args), "java|%s|value|Main|arg", options[i]);

		for (int k = 0; k < len; k++)
			if (args[k] == '|')
				args[k] = '\0';
		assert_int_equal(java_command_parse(args, (size_t)len + 1, found, sizeof(found)),
				 0);
		assert_string_equal(found, "Main");
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

/* --- a process, and what its JVM says --- */

struct fixture {
	struct fake_vm vm;
	uint64_t command; /* the variable */
	pid_t child;
	int input;
};

static void start(struct fixture *f, const char *script)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	f->input = ends[1];
	f->child = fork();
	if (f->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[0], 0);
		close(1);
		close(2);
		execl("/bin/sh", "java", "-c", script, NULL);
		_exit(1);
	}
	close(ends[0]);
	fake_init(&f->vm.fake);
	f->command = fake_alloc(&f->vm.fake, 8);
	const struct fake_field fields[] = { { "Arguments", "_java_command", f->command, 1 } };

	const struct fake_type types[] = { { "Arguments", 8 } };

	fake_vm_open(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
}

static void stop(struct fixture *f)
{
	kill(f->child, SIGKILL);
	waitpid(f->child, NULL, 0);
	close(f->input);
	fake_vm_release(&f->vm);
}

/* COMMAND is what the JVM says; NULL: it says nothing. */
static void expect_main(struct fixture *f, const char *command, const char *expected)
{
	char found[64] = "";

	if (command)
		fake_put_u64(&f->vm.fake, f->command, fake_string(&f->vm.fake, command));
	/* Until the child has become what it is to be. */
	for (int i = 0; i < 500 && strcmp(found, expected) != 0; i++) {
		java_command_main_class((uint32_t)f->child, command ? f->vm.vs : NULL, found,
					sizeof(found));
		usleep(1000);
	}
	assert_string_equal(found, expected);
}

static void the_jvm_knows_better(void **state)
{
	char text[6000] = "long.Main ";
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof(f));
	start(&f, "read x #");
	expect_main(&f, NULL, "read x #");
	expect_main(&f, "pkg.Main arg", "pkg.Main");
	expect_main(&f, "pkg.Main", "pkg.Main");
	/* What is shown is one word; of that which the command line says the JVM's has no more. */
	expect_main(&f, "read x # arg", "read x #");
	expect_main(&f, "read x #2 arg", "read");
	expect_main(&f, "", "read x #");
	expect_main(&f, "jdk.compiler/com.sun.tools.javac.launcher.Main A.java", "read x #");
	expect_main(&f, "/opt/lib/app.jar x", "app.jar");
	expect_main(&f, "app.jar", "app.jar");
	expect_main(&f, "/a.jar", "a.jar");
	expect_main(&f, "a/.jar", ".jar");
	expect_main(&f, "/jar", "/jar");
	expect_main(&f, "a~", "a~");
	expect_main(&f, "/opt/app.jarx", "/opt/app.jarx");
	expect_main(&f, "a\x1f\x7f\x20", "a??");
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	expect_main(&f, text, "long.Main");
	stop(&f);
}

/* What does not fit into the buffer is cut, to the byte. */
static void a_command_without_end(void **state)
{
	static char text[6000], found[8192];
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof(f));
	start(&f, "read x #");
	memset(text, 'x', sizeof(text) - 1);
	fake_put_u64(&f.vm.fake, f.command, fake_string(&f.vm.fake, text));
	java_command_main_class((uint32_t)f.child, f.vm.vs, found, sizeof(found));
	assert_int_equal(strlen(found), 4095);
	assert_int_equal(strspn(found, "x"), 4095);
	stop(&f);
}

static void a_jar_without_its_directory(void **state)
{
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof(f));
	start(&f, "read x #/opt/my app.jar");
	expect_main(&f, NULL, "my app.jar");
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_run),
		cmocka_unit_test(options_with_a_value),
		cmocka_unit_test(last_argument_may_lack_its_nul),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(the_jvm_knows_better),
		cmocka_unit_test(a_jar_without_its_directory),
		cmocka_unit_test(a_command_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
