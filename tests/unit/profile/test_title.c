// SPDX-License-Identifier: Apache-2.0
/* How views call a process, a thread and a file. */
#include "test.h"

#include <string.h>

#include "profile/title.h"

static struct profile p;
static struct strbuf text;

static int set_up(void **state)
{
	(void)state;
	profile_init(&p);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	profile_release(&p);
	strbuf_release(&text);
	return 0;
}

static void processes_and_threads(void **state)
{
	struct profile_process process = { .pid = 4242, .name = profile_string(&p, "java") };
	struct profile_thread thread = { .tid = 4243, .name = profile_string(&p, "worker 1") };
	uint32_t id;

	(void)state;
	thread.process = profile_process(&p, &process);
	id = profile_thread(&p, &thread);
	profile_format_process(&text, &p, thread.process);
	assert_string_equal(strbuf_str(&text), "java-4242");
	profile_format_thread(&text, &p, id);
	assert_string_equal(strbuf_str(&text), "java-4242[worker 1 tid=4243]");
	assert_int_equal(profile_process_of(&p, id), thread.process);
}

static void virtual_threads(void **state)
{
	struct profile_thread thread = { .tid = 4243,
					 .name = profile_string(&p, "request 7"),
					 .java_tid = 4711,
					 .is_virtual = 1 };

	(void)state;
	profile_format_thread(&text, &p, profile_thread(&p, &thread));
	assert_string_equal(strbuf_str(&text), "[request 7 #4711 tid=4243]");
}

static void what_is_not_known(void **state)
{
	(void)state;
	profile_format_process(&text, &p, PROFILE_NONE);
	profile_format_thread(&text, &p, PROFILE_NONE);
	assert_string_equal(strbuf_str(&text), "[unknown][unknown]");
	assert_int_equal(profile_process_of(&p, PROFILE_NONE), PROFILE_NONE);
}

static void names_of_files(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/usr/lib/libfoo.so", "libfoo.so" },
		{ "libfoo.so", "libfoo.so" },
		{ "/", "/" },
		{ "/a/", "/a/" },
		{ "", "" },
		{ "[vdso]", "vdso" },
		{ "/a/[b]", "b" },
		{ "[]", "[]" },
		{ "[x", "[x" },
		{ "x]", "x]" },
		{ "[a]", "a" },
		{ "[ab", "[ab" },
		{ "ab]", "ab]" },
	};

	size_t len;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile_mapping mapping = { .path = profile_string(&p, cases[i].path) };
		const char *name = profile_mapping_name(&p, profile_mapping(&p, &mapping), &len);

		if (len != strlen(cases[i].name) || strncmp(name, cases[i].name, len) != 0)
			fail_msg("%s: %.*s", cases[i].path, (int)len, name);
	}
	profile_mapping_name(&p, PROFILE_NONE, &len);
	assert_int_equal(len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_and_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(virtual_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_of_files, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("title", tests, NULL, NULL);
}
