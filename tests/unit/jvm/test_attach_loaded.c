/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "jvm/attach/attach_loaded.h"

#define LINE(path) "7f0000000000-7f0000001000 r-xp 00000000 fe:00 17     " path "\n"

static char found[64];

static int find(const char *maps, const char *wanted)
{
	strcpy(found, "untouched");
	return attach_loaded_parse(maps, strlen(maps), wanted, found, sizeof(found));
}

static void finds_any_library_of_ours(void **state)
{
	(void)state;
	assert_int_equal(find(LINE("/lib/libc.so.6") LINE("/opt/libhostprof-agent.so"), "/x"), 0);
	assert_string_equal(found, "/opt/libhostprof-agent.so");
	assert_int_equal(find(LINE("/tmp/libhostprof-agent-0123.so (deleted)"), "/x"), 0);
	assert_string_equal(found, "/tmp/libhostprof-agent-0123.so");
}

static void prefers_the_wanted_one(void **state)
{
	static const char maps[] = LINE("/a/libhostprof-agent.so") LINE("/b/libhostprof-agent.so")
		LINE("/c/libhostprof-agent.so");

	(void)state;
	assert_int_equal(find(maps, "/b/libhostprof-agent.so"), 0);
	assert_string_equal(found, "/b/libhostprof-agent.so");
}

static void nothing_else_counts(void **state)
{
	(void)state;
	assert_int_equal(find("", "/x"), -ENODATA);
	assert_int_equal(find(LINE("/opt/libhostprof-agent.so.debug"), "/x"), -ENODATA);
	assert_int_equal(find(LINE("/opt/mylibhostprof-agent.so"), "/x"), -ENODATA);
	assert_int_equal(find(LINE("/libhostprof-agent/x.so"), "/x"), -ENODATA);
	assert_int_equal(find(LINE("[heap]"), "/x"), -ENODATA);
	assert_int_equal(find("no line of maps", "/x"), -ENODATA);
	/* A path that does not fit is passed over. */
	assert_int_equal(find(LINE("/0123456789/0123456789/0123456789/0123456789/0123456789/"
				   "libhostprof-agent.so"),
			      "/x"),
			 -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_any_library_of_ours),
		cmocka_unit_test(prefers_the_wanted_one),
		cmocka_unit_test(nothing_else_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
