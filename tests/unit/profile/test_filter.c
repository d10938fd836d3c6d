/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/filter.h"
#include "profile_fixture.h"

static void test_stack_ranges(void **state)
{
	const struct profile_filter user = { .all_user = true }, kernel = { .all_kernel = true },
				    both = { true, true };
	struct profile_stack stack, part;
	struct profile p;
	uint32_t frames[4];

	(void)state;
	profile_init(&p);
	frames[0] = fixture_kernel(&p, "read");
	frames[1] = fixture_kernel(&p, "syscall");
	frames[2] = fixture_native(&p, "main");
	frames[3] = fixture_code(&p, FRAME_MARK, "[process start]", PROFILE_NONE, 0);
	stack = profile_get_stack(&p, profile_stack(&p, frames, 4));
	part = profile_filter_stack(&p, &user, stack);
	assert_int_equal(part.len, 2);
	assert_int_equal(part.frames[0], frames[2]);
	part = profile_filter_stack(&p, &kernel, stack);
	assert_int_equal(part.len, 2);
	assert_int_equal(part.frames[1], frames[1]);
	assert_int_equal(profile_filter_stack(&p, &both, stack).len, 4);
	stack = profile_get_stack(&p, profile_stack(&p, frames, 2));
	assert_int_equal(profile_filter_stack(&p, &user, stack).len, 0);
	stack = profile_get_stack(&p, profile_stack(&p, frames, 0));
	assert_int_equal(profile_filter_stack(&p, &user, stack).len, 0);
	profile_release(&p);
}

static void test_event(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	assert_int_equal(profile_filter_event(&p, PROFILE_NONE), PROFILE_NONE);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	fixture_event(&p, "alloc", "bytes", 1);
	assert_int_equal(profile_filter_event(&p, PROFILE_NONE), 0);
	assert_int_equal(profile_filter_event(&p, 1), 1);
	assert_int_equal(profile_filter_event(&p, 2), PROFILE_NONE);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_ranges),
		cmocka_unit_test(test_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
