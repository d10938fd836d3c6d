// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "profile/roots.h"
#include "profile_fixture.h"

static struct profile p;
static uint32_t thread;

static void begin(void)
{
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	fixture_event(&p, "alloc", "bytes", 0);
	thread = fixture_thread(&p, fixture_process(&p, "one", 1), "one", 1);
}

static struct root_sum sum_of(uint32_t event, uint32_t process)
{
	struct profile_roots roots;
	struct root_sum sum;

	profile_roots_init(&roots, &p);
	sum = profile_roots_get(&roots, event, process);
	profile_roots_release(&roots);
	return sum;
}

static void expect_root(enum frame_kind kind, const char *name, uint64_t stacks, uint64_t starts)
{
	struct root_sum sum;
	uint32_t root, leaf;

	begin();
	root = fixture_code(&p, kind, name, PROFILE_NONE, 0);
	leaf = fixture_native(&p, "_start"); /* where it is no root it says nothing */
	fixture_sample(&p, 0, thread, 5, 50, FIXTURE_FRAMES(root, leaf));
	sum = sum_of(0, 0);
	assert_int_equal(sum.stacks, stacks ? 5 : 0);
	assert_int_equal(sum.starts, starts ? 5 : 0);
	profile_release(&p);
}

static void what_a_thread_begins_with(void **state)
{
	static const char *const names[] = {
		"_start",
		"_dl_start_user",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"__start_context",
		"runtime.goexit",
		"runtime.mstart",
		"runtime.rt0_go",
		"runtime.clone",
		"runtime.mcall",
		"runtime.morestack",
		"_rt0_amd64",
		"_rt0_amd64_linux",
		"runtime.goexit.abi0",
		"clone@@GLIBC_2.2.5",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_root(FRAME_NATIVE, names[i], 1, 1);
	expect_root(FRAME_CPP, "_start", 1, 1);
	expect_root(FRAME_MARK, "[thread start]", 1, 1);
	expect_root(FRAME_MARK, "[process start]", 1, 1);
	/* What it compiles stands behind that: the leaf is. */
	expect_root(FRAME_COMPILING, "hash", 1, 1);
}

static void what_no_thread_begins_with(void **state)
{
	static const char *const names[] = { "main",
					     "",
					     "clones",
					     "clone.cold",
					     "_star",
					     "start_thread",
					     "runtime.goexit.abi1",
					     "runtime.goexits" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_root(FRAME_NATIVE, names[i], 1, 0);
	expect_root(FRAME_JIT_OTHER, "_start", 1, 0);
	expect_root(FRAME_JAVA_JIT, "clone", 1, 0);
	expect_root(FRAME_STUB, "_start", 1, 0);
}

/* Stacks that are not called whole, and such without user frames. */
static void what_does_not_count(void **state)
{
	(void)state;
	expect_root(FRAME_MARK, "[unwind: no-thread-start]", 0, 0);
	expect_root(FRAME_KERNEL, "ret_from_fork", 0, 0);
	expect_root(FRAME_CLASS, "byte[]", 0, 0);
	expect_root(FRAME_CLASS_OUTSIDE, "byte[]", 0, 0);
	expect_root(FRAME_RECEIVER, "pkg.One", 0, 0);
}

static void sums_are_of_a_process_and_an_event(void **state)
{
	uint32_t start, other, second;

	(void)state;
	begin();
	start = fixture_native(&p, "_start");
	other = fixture_native(&p, "main");
	second = fixture_thread(&p, fixture_process(&p, "two", 2), "two", 2);
	fixture_sample(&p, 0, thread, 1, 1, FIXTURE_FRAMES(start));
	fixture_sample(&p, 0, thread, 2, 1, FIXTURE_FRAMES(other, start));
	fixture_sample(&p, 0, thread, 4, 1, FIXTURE_FRAMES(start, other));
	fixture_sample(&p, 1, thread, 8, 1, FIXTURE_FRAMES(start));
	fixture_sample(&p, 1, second, 16, 1, FIXTURE_FRAMES(other));
	fixture_sample(&p, 0, PROFILE_NONE, 32, 1, FIXTURE_FRAMES(start));
	assert_true(sum_of(0, 0).stacks == 7 && sum_of(0, 0).starts == 5);
	assert_true(sum_of(1, 0).stacks == 8 && sum_of(1, 0).starts == 8);
	assert_true(sum_of(0, 1).stacks == 0 && sum_of(0, 1).starts == 0);
	assert_true(sum_of(1, 1).stacks == 16 && sum_of(1, 1).starts == 0);
	assert_true(sum_of(0, PROFILE_NONE).stacks == 32 && sum_of(0, PROFILE_NONE).starts == 32);
	assert_true(sum_of(2, 0).stacks == 0 && sum_of(2, 0).starts == 0);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_thread_begins_with),
		cmocka_unit_test(what_no_thread_begins_with),
		cmocka_unit_test(what_does_not_count),
		cmocka_unit_test(sums_are_of_a_process_and_an_event),
	};

	return cmocka_run_group_tests_name("profile_roots", tests, NULL, NULL);
}
