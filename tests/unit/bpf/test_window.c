// SPDX-License-Identifier: Apache-2.0
/* Whose samples count between two functions. */
#include "test.h"

#include "sample/window.h"

#define START_NS 4711

static void who_has_come_to_neither(void **state)
{
	(void)state;
	assert_false(window_is_open(NULL, START_NS, true));
	assert_true(window_is_open(NULL, START_NS, false));
}

static void what_it_came_to_last(void **state)
{
	struct window window = { .start_ns = START_NS, .is_open = true };

	(void)state;
	assert_true(window_is_open(&window, START_NS, true));
	assert_true(window_is_open(&window, START_NS, false));
	window.is_open = false;
	assert_false(window_is_open(&window, START_NS, true));
	assert_false(window_is_open(&window, START_NS, false));
}

/* What another process of its pid did before is nothing to it. */
static void another_process(void **state)
{
	struct window window = { .start_ns = START_NS - 1, .is_open = true };

	(void)state;
	assert_false(window_is_open(&window, START_NS, true));
	window.is_open = false;
	assert_true(window_is_open(&window, START_NS, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_come_to_neither),
		cmocka_unit_test(what_it_came_to_last),
		cmocka_unit_test(another_process),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
