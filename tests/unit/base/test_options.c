/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/options.h"

static struct {
	bool all;
	const char *output;
	uint64_t freq, duration, ring;
	unsigned int events;
	char last_event[16];
} got;

static int add_event(const char *arg, void *value, struct err *err)
{
	if (!strcmp(arg, "bad"))
		return err_set(err, -EINVAL, "no such event: %s", arg);
	got.events++;
	snprintf(value, sizeof(got.last_event), "%s", arg);
	return 0;
}

static const struct option_row rows[] = {
	{ OPTION_TYPE_HEADING, .help = "What" },
	{ OPTION_TYPE_FLAG, 'a', "all", NULL, "everything", &got.all, NULL },
	{ OPTION_TYPE_STRING, 'o', "output", "FILE", "where to", &got.output, NULL },
	{ OPTION_TYPE_U64, 'F', "freq", "HZ", "how often", &got.freq, NULL },
	{ OPTION_TYPE_HEADING, .help = "How" },
	{ OPTION_TYPE_DURATION, 'd', "duration", "TIME", "how long", &got.duration, NULL },
	{ OPTION_TYPE_BYTES, 0, "ring-size", "BYTES",
	  "a text that is long enough to need a second line of the help, which begins below the "
	  "first one",
	  &got.ring, NULL },
	{ OPTION_TYPE_CALLBACK, 'e', "event", "EVENT,…", "an event", got.last_event, add_event },
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "try", .synopsis = "[options] WHAT…", .summary = "Tries.", .rows = rows
};

static char *argv[24];
static int argc, rest;
static bool dashdash;
static struct err err;

/* LINE is split at blanks. */
static int parse(const char *line)
{
	static char text[256];

	memset(&got, 0, sizeof(got));
	rest = -1;
	snprintf(text, sizeof(text), "try %s", line);
	argc = 0;
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(&usage, argc, argv, &rest, &dashdash, &err);
}

static void test_values(void **state)
{
	(void)state;
	assert_int_equal(parse("-a -F 997 --duration=1.5s --ring-size 64k -ofile -e x --event y"),
			 OPTIONS_OK);
	assert_true(got.all);
	assert_int_equal(got.freq, 997);
	assert_int_equal(got.duration, 1500000000);
	assert_int_equal(got.ring, 65536);
	assert_string_equal(got.output, "file");
	assert_int_equal(got.events, 2);
	assert_string_equal(got.last_event, "y");
	assert_int_equal(rest, argc);
	assert_false(dashdash);
}

static void test_operands(void **state)
{
	(void)state;
	assert_int_equal(parse("one -a two -o - three"), OPTIONS_OK);
	assert_true(got.all);
	assert_string_equal(got.output, "-");
	assert_int_equal(argc - rest, 3);
	assert_string_equal(argv[rest], "one");
	assert_string_equal(argv[rest + 1], "two");
	assert_string_equal(argv[rest + 2], "three");
	assert_false(dashdash);
}

static void test_command_after_dashdash(void **state)
{
	(void)state;
	assert_int_equal(parse("-a -- cmd -F x --all"), OPTIONS_OK);
	assert_true(dashdash);
	assert_int_equal(got.freq, 0);
	assert_int_equal(argc - rest, 4);
	assert_string_equal(argv[rest], "cmd");
	assert_string_equal(argv[rest + 3], "--all");
	assert_int_equal(parse("--"), OPTIONS_OK);
	assert_true(dashdash);
	assert_int_equal(rest, argc);
	assert_int_equal(parse("-o --"), OPTIONS_OK);
	assert_false(dashdash);
	assert_string_equal(got.output, "--");
}

static void assert_refused(const char *line, const char *text)
{
	assert_int_equal(parse(line), -EINVAL);
	assert_string_equal(err.text, text);
	assert_int_equal(rest, -1);
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("--nope", "unknown option '--nope'");
	assert_string_equal(err.hint, "hostprof try --help lists the options");
	assert_refused("-a -z", "unknown option '-z'");
	assert_refused("-az", "unknown option '-z'");
	assert_refused("-F", "option '-F' needs a value");
	assert_refused("--freq", "option '--freq' needs a value");
	assert_refused("--all=yes", "option '--all' takes no value");
	assert_refused("-F ten", "--freq: 'ten' is not a number");
	assert_refused("-d soon", "--duration: 'soon' is not a duration such as 30s or 10ms");
	assert_refused("--ring-size=big", "--ring-size: 'big' is not a size such as 512k or 64M");
	assert_refused("-F 99999999999999999999", "--freq: '99999999999999999999' is too large");
	assert_refused("-e bad", "no such event: bad");
	assert_refused("x -- y", "unexpected 'x' before '--'");
}

/* Every row is in the help, aligned, and no line is wider than 80 characters. */
static void test_help(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	options_print_help(&usage, to);
	fclose(to);
	assert_non_null(strstr(text, "usage: hostprof try [options] WHAT…\n\nTries.\n"));
	assert_non_null(strstr(text, "\nWhat:\n  -a, --all               everything\n"));
	assert_non_null(strstr(text, "\n  -e, --event EVENT,…     an event\n"));
	assert_non_null(
		strstr(text, "\nHow:\n  -d, --duration TIME     how long\n"
			     "      --ring-size BYTES   a text that is long enough to need a "
			     "second line of\n"
			     "                          the help, which begins below the first one"
			     "\n"));
	assert_non_null(strstr(text, "\n  -h, --help              show this help\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_command_after_dashdash),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
