// SPDX-License-Identifier: Apache-2.0
/* Which events go with which. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "cmd/event_args.h"

static int parse(const char *first, const char *second, struct err *err)
{
	const char *names[] = { first, second };
	const struct event_args args = { .names = names, .count = 2, .freq_hz = 99 };
	struct capture_event events[2];

	*err = (struct err){ 0 };
	return event_args_parse(&args, events, err);
}

static void refused(const char *first, const char *second, const char *text, const char *hint)
{
	struct err err;

	assert_int_equal(parse(first, second, &err), -EINVAL);
	assert_string_equal(err.text, text);
	assert_string_equal(err.hint, hint);
}

static void one_program_tells_of_all_waits(void **state)
{
	struct err err;

	(void)state;
	refused("wall", "offcpu=5ms", "-e: offcpu does not go with wall",
		"wall has all that offcpu has");
	refused("offcpu", "nativelock", "-e: nativelock does not go with offcpu",
		"offcpu has what nativelock has, as [mutex] and [rwlock]");
	refused("nativelock=0", "wall", "-e: wall does not go with nativelock",
		"wall has what nativelock has, as [mutex] and [rwlock]");
	refused("nativelock", "nativelock=1ms", "-e: nativelock is there twice", "");
	assert_int_equal(parse("nativelock", "cpu", &err), 0);
	assert_int_equal(parse("lock", "nativelock", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_program_tells_of_all_waits) };

	return cmocka_run_group_tests_name("event_args", tests, NULL, NULL);
}
