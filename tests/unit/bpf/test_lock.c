// SPDX-License-Identifier: Apache-2.0
/* What an agent may say of a wait for a lock. */
#include "test.h"

#include "sample/locks/lock.h"

static void what_is_said_is_checked(void **state)
{
	const struct lock_call good = { 7, 5000, 3, 0x1234, 1 };
	struct lock_call call = good;

	(void)state;
	assert_true(lock_is_valid(&call));
	call.length_ns = 0;
	assert_false(lock_is_valid(&call));
	call.length_ns = LOCK_MOST_NS;
	call.chance = LOCK_MOST_CHANCE;
	assert_true(lock_is_valid(&call));
	assert_true(call.length_ns * call.chance / call.chance == call.length_ns);
	call.length_ns++;
	assert_false(lock_is_valid(&call));
	call = good;
	call.chance = 0;
	assert_false(lock_is_valid(&call));
	call.chance = LOCK_MOST_CHANCE + 1;
	assert_false(lock_is_valid(&call));
	call = good;
	call.kind = 2;
	assert_false(lock_is_valid(&call));
}

static void kinds_have_their_reasons(void **state)
{
	(void)state;
	assert_int_equal(lock_cause(0), WIRE_CAUSE_MONITOR_ENTER);
	assert_int_equal(lock_cause(1), WIRE_CAUSE_OBJECT_WAIT);
	assert_int_equal(lock_cause(~0ULL), WIRE_CAUSE_NONE);
}

/* What the agent says of its end, where that can be. */
static void when_it_was_over(void **state)
{
	const struct lock_call call = { .length_ns = 5000 };

	(void)state;
	assert_int_equal(lock_end_ns(&call, 1000, 6000), 6000);
	assert_int_equal(lock_end_ns(&call, 1000, 9000), 6000);
	assert_int_equal(lock_end_ns(&call, 1000, 6000 + LOCK_TOLD_NS - 1), 6000);
	assert_int_equal(lock_end_ns(&call, 1000, 6000 + LOCK_TOLD_NS), 6000 + LOCK_TOLD_NS);
	assert_int_equal(lock_end_ns(&call, 1000, 5999), 5999);
	assert_int_equal(lock_end_ns(&call, 0, 6000), 6000);
	assert_int_equal(lock_end_ns(&call, UINT64_MAX - 10, 6000), 6000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_is_checked),
		cmocka_unit_test(kinds_have_their_reasons),
		cmocka_unit_test(when_it_was_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
