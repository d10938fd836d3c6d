// SPDX-License-Identifier: Apache-2.0
/* Whose wake-up is looked at, how often, and what an interrupt is. */
#include "test.h"

#include "sample/waking.h"

#define MSEC 1000000ULL
#define MOST 300

static const struct wire_offcpu usual = { .out_ns = 100 * MSEC,
					  .woken_ns = 105 * MSEC,
					  .fate = WIRE_OFFCPU_SENT,
					  .state = WIRE_STATE_SLEEPING };

static void test_wanted(void **state)
{
	struct wire_offcpu thread = usual;

	(void)state;
	assert_true(waking_is_wanted(&thread, 0));
	assert_true(waking_is_wanted(&thread, 5 * MSEC));
	assert_false(waking_is_wanted(&thread, 5 * MSEC + 1));
	thread.state = WIRE_STATE_BLOCKED;
	assert_true(waking_is_wanted(&thread, MSEC));
	thread.fate = WIRE_OFFCPU_WALKED;
	assert_true(waking_is_wanted(&thread, MSEC));
	thread.fate = WIRE_OFFCPU_THINNED;
	assert_false(waking_is_wanted(&thread, 0));
	thread.fate = WIRE_OFFCPU_LOST + WIRE_LOSS_RING;
	assert_false(waking_is_wanted(&thread, 0));
	/* Who has lost its cpu was on its way to sleep, and is not needed for it to go on. */
	thread = usual;
	thread.state = WIRE_STATE_QUEUED;
	assert_false(waking_is_wanted(&thread, 0));
	/* It left on another cpu just now. */
	thread = usual;
	thread.woken_ns = thread.out_ns - 1;
	assert_false(waking_is_wanted(&thread, 1));
}

static void test_room(void **state)
{
	struct offcpu_rate rate = { 0 };
	uint64_t now_ns = 1000 * MSEC;

	(void)state;
	for (int i = 0; i < MOST; i++)
		assert_true(waking_has_room(&rate, now_ns + (uint64_t)i, MOST));
	assert_false(waking_has_room(&rate, now_ns + OFFCPU_WINDOW_NS - 1, MOST));
	for (int i = 0; i < MOST; i++)
		assert_true(waking_has_room(&rate, now_ns + OFFCPU_WINDOW_NS, MOST));
	assert_false(waking_has_room(&rate, now_ns + OFFCPU_WINDOW_NS, MOST));
}

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(waking_kind(false, 0), WIRE_WAKER_THREAD);
	/* Locks are held, softirqs kept away. */
	assert_int_equal(waking_kind(false, 3), WIRE_WAKER_THREAD);
	assert_int_equal(waking_kind(false, 0x200), WIRE_WAKER_THREAD);
	assert_int_equal(waking_kind(false, 0x401), WIRE_WAKER_THREAD);
	assert_int_equal(waking_kind(false, 0x100), WIRE_WAKER_UNSURE);
	assert_int_equal(waking_kind(false, 0x302), WIRE_WAKER_UNSURE);
	assert_int_equal(waking_kind(false, 0x10001), WIRE_WAKER_INTERRUPT);
	assert_int_equal(waking_kind(false, 0x10100), WIRE_WAKER_INTERRUPT);
	assert_int_equal(waking_kind(false, 0x100000), WIRE_WAKER_INTERRUPT);
	/* The kernel is to be left for the next thread (PREEMPT_NEED_RESCHED). */
	assert_int_equal(waking_kind(false, 0x80000001), WIRE_WAKER_THREAD);
	assert_int_equal(waking_kind(true, 0), WIRE_WAKER_INTERRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests_name("waking", tests, NULL, NULL);
}
