// SPDX-License-Identifier: Apache-2.0
/* Whose samples a capture takes, as far as others may ask it. */
#include "test.h"

#include "capture_parts.h"

/* A target by its pid, which the program may have added, and by its cgroup; both where both are asked for. */
static void who_is_a_target(void **state)
{
	static const uint32_t pids[] = { 17 };

	(void)state;
	open_capture();
	assert_true(capture_is_target(f.capture, 99, ""));
	f.options.pids = pids;
	f.options.pid_count = 1;
	open_capture();
	assert_true(capture_is_target(f.capture, 17, ""));
	assert_false(capture_is_target(f.capture, 18, "/a/b"));
	vec_push(&f.targets, 18); /* a child */
	assert_true(capture_is_target(f.capture, 18, ""));
	f.options.cgroup_path = "/sys/fs/cgroup/a/b";
	open_capture();
	assert_true(capture_is_target(f.capture, 17, "/a/b"));
	assert_false(capture_is_target(f.capture, 17, "/a/c"));
	assert_false(capture_is_target(f.capture, 19, "/a/b"));
	f.options.pid_count = 0;
	open_capture();
	assert_true(capture_is_target(f.capture, 19, "/a/b"));
	assert_false(capture_is_target(f.capture, 19, ""));
}

static void what_a_process_is_known_by(void **state)
{
	struct wire_process found;

	(void)state;
	open_capture();
	assert_int_equal(capture_find_process(f.capture, 17, &found), 0);
	assert_int_equal(found.exec_id, 3);
	assert_int_equal(found.start_ns, 4);
	assert_int_equal(capture_find_process(f.capture, 18, &found), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_is_a_target, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_process_is_known_by, setup, teardown),
	};

	return cmocka_run_group_tests_name("capture_targets", tests, NULL, NULL);
}
