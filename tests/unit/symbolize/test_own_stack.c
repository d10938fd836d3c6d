// SPDX-License-Identifier: Apache-2.0
/* What the stack is called in which a walk has ended, by its last frame. */
#include "test.h"

#include <string.h>

#include "symbolize/symbolizer_private.h"

static struct symbolizer symbolizer;
static struct profile profile;
static char exe[64];

static int begin(void **state)
{
	(void)state;
	memset(&symbolizer, 0, sizeof(symbolizer));
	profile_init(&profile);
	strcpy(exe, "/usr/bin/work");
	return 0;
}

static int end(void **state)
{
	(void)state;
	vec_release(&symbolizer.frames);
	vec_release(&symbolizer.haskell);
	profile_release(&profile);
	return 0;
}

/* PATH NULL: of no mapping. */
static const char *of(enum frame_kind kind, const char *path, const char *name)
{
	struct process process = { .exe = exe };
	const struct stack_build build = { .symbolizer = &symbolizer,
					   .profile = &profile,
					   .process = &process };
	struct profile_frame frame = { .kind = kind,
				       .name = profile_string(&profile, name),
				       .mapping = PROFILE_NONE };
	const char *found;

	if (path) {
		const struct profile_mapping mapping = { .path = profile_string(&profile, path) };

		frame.mapping = profile_mapping(&profile, &mapping);
	}
	vec_push(&symbolizer.frames, profile_frame(&profile, &frame));
	found = own_stack_of(&build);
	return found ? found : "";
}

static void names_of_haskell(void **state)
{
	static const char *const names[] = { "Main_zdwfib_info",
					     "ghczmprim_GHCziClasses_compareInt_info",
					     "stg_ap_pp_fast",
					     "__stg_gc_fun",
					     "base_GHCziBase_map_entry",
					     "GHCziShow_zdwitos_slow",
					     "Main_x_ret" };
	static const char *const others[] = { "main",	     "get_info",	  "free_fast",
					      "Main_info_t", "zend_compile_file", "my_stg_x",
					      "_info" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(of(FRAME_NATIVE, "/bin/work", names[i]), "[Haskell stack]");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_string_equal(of(FRAME_NATIVE, "/bin/work", others[i]), "");
	assert_string_equal(of(FRAME_NATIVE, NULL, "Main_zdwfib_info"), "[Haskell stack]");
	assert_string_equal(of(FRAME_KERNEL, "/bin/work", "Main_zdwfib_info"), "");
	assert_string_equal(of(FRAME_MARK, "/bin/work", "Main_zdwfib_info"), "");
}

/* What has no name there is the same, when a name has told of the file; and of GHC's libraries always. */
static void files_of_haskell(void **state)
{
	(void)state;
	assert_string_equal(of(FRAME_NATIVE, "/bin/work", ""), "");
	assert_string_equal(of(FRAME_NATIVE, "/bin/work", "Main_zdwfib_info"), "[Haskell stack]");
	assert_string_equal(of(FRAME_NATIVE, "/bin/work", ""), "[Haskell stack]");
	assert_string_equal(of(FRAME_NATIVE, "/bin/other", ""), "");
	assert_string_equal(of(FRAME_NATIVE, NULL, "Main_zdwfib_info"), "[Haskell stack]");
	assert_string_equal(of(FRAME_NATIVE, NULL, ""), "");
	assert_string_equal(of(FRAME_NATIVE, "/usr/lib/ghc/libHSbase-4.15.1.0-ghc9.0.2.so", ""),
			    "[Haskell stack]");
	assert_string_equal(of(FRAME_NATIVE, "/usr/lib/libHSV.so", ""), "");
}

static void code_of_erlang(void **state)
{
	(void)state;
	assert_string_equal(of(FRAME_NATIVE, "/memfd:vmem (deleted)", ""), "");
	strcpy(exe, "/usr/lib/erlang/erts-13/bin/beam.smp");
	assert_string_equal(of(FRAME_NATIVE, "/memfd:vmem (deleted)", ""), "[Erlang stack]");
	assert_string_equal(of(FRAME_NATIVE, NULL, "[anon]"), "[Erlang stack]");
	assert_string_equal(of(FRAME_JIT_OTHER, "[JIT]", "$lists:map/2"), "[Erlang stack]");
	assert_string_equal(of(FRAME_NATIVE, exe, "process_main"), "");
	strcpy(exe, "not-beam.smp");
	assert_string_equal(of(FRAME_NATIVE, "/memfd:vmem (deleted)", ""), "");
}

static void nothing_there(void **state)
{
	struct process process = { .exe = exe };
	struct stack_build build = { .symbolizer = &symbolizer,
				     .profile = &profile,
				     .process = &process };

	(void)state;
	assert_null(own_stack_of(&build));
	of(FRAME_NATIVE, "/bin/work", "Main_zdwfib_info");
	build.is_raw = true;
	assert_null(own_stack_of(&build));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_of_haskell, begin, end),
		cmocka_unit_test_setup_teardown(files_of_haskell, begin, end),
		cmocka_unit_test_setup_teardown(code_of_erlang, begin, end),
		cmocka_unit_test_setup_teardown(nothing_there, begin, end),
	};

	return cmocka_run_group_tests_name("own_stack", tests, NULL, NULL);
}
