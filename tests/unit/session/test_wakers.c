// SPDX-License-Identifier: Apache-2.0
/* A wait finds its waker by its thread and when that had left. */
#include "test.h"

#include <string.h>

#include "session/offcpu/wakers.h"

static struct wakers wakers;
static struct profile profile;

static int begin(void **state)
{
	(void)state;
	memset(&wakers, 0, sizeof(wakers));
	profile_init(&profile);
	return 0;
}

static int end(void **state)
{
	(void)state;
	wakers_release(&wakers);
	profile_release(&profile);
	return 0;
}

static void put(uint32_t tid, uint64_t out_ns, uint32_t thread, uint64_t now_ns)
{
	const struct profile_waker waker = { thread, 3 };

	wakers_put(&wakers, tid, out_ns, &waker, now_ns);
}

/* PROFILE_NONE: nobody. */
static uint32_t take(uint32_t tid, uint64_t out_ns)
{
	const struct profile_waker *waker =
		profile_get_waker(&profile, wakers_take(&wakers, tid, out_ns, &profile));

	if (!waker)
		return PROFILE_NONE;
	assert_int_equal(waker->stack, 3);
	return waker->thread;
}

static void whose(void **state)
{
	(void)state;
	put(7, 100, 1, 150);
	put(8, 100, 2, 150);
	put(7, 101, 4, 160);
	assert_int_equal(take(9, 100), PROFILE_NONE);
	assert_int_equal(take(7, 102), PROFILE_NONE);
	assert_int_equal(take(7, 101), 4);
	assert_int_equal(take(8, 100), 2);
	assert_int_equal(take(7, 100), 1);
	/* Once. */
	assert_int_equal(take(7, 100), PROFILE_NONE);
}

static void one_that_nobody_asks_for(void **state)
{
	(void)state;
	put(7, 100, 1, 150);
	put(7, 200, 2, 250);
	wakers_drop(&wakers, 7, 100);
	wakers_drop(&wakers, 8, 100);
	assert_int_equal(wakers.waiting.len, 1);
	assert_int_equal(take(7, 200), 2);
}

static void the_last_one_counts(void **state)
{
	(void)state;
	put(7, 100, 1, 150);
	put(7, 100, 2, 151);
	assert_int_equal(take(7, 100), 2);
	assert_int_equal(take(7, 100), PROFILE_NONE);
}

static void waits_that_never_come(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		put(i, 100, i, 1000 + i);
	wakers_expire(&wakers, 1050);
	assert_int_equal(wakers.waiting.len, 50);
	assert_int_equal(take(49, 100), PROFILE_NONE);
	assert_int_equal(take(50, 100), 50);
}

/* In other tables they have other numbers. */
static void tables_that_are_emptied(void **state)
{
	const struct profile_frame frame = { .name = profile_string(&profile, "give"),
					     .mapping = PROFILE_NONE,
					     .kind = FRAME_NATIVE };
	const struct profile_process process = { .pid = 5,
						 .name = profile_string(&profile, "app") };
	const struct profile_thread thread = { .process = profile_process(&profile, &process),
					       .tid = 6,
					       .name = profile_string(&profile, "giver") };
	const struct profile_frame other = { .name = profile_string(&profile, "x"),
					     .mapping = PROFILE_NONE };
	uint32_t frames[] = { profile_frame(&profile, &other), profile_frame(&profile, &frame) };
	struct profile_waker waker = { profile_thread(&profile, &thread), 0 };
	const struct profile_waker *moved;
	struct profile fresh;

	(void)state;
	profile_init(&fresh);
	profile_stack(&profile, frames, 2);
	waker.stack = profile_stack(&profile, &frames[1], 1);
	wakers_put(&wakers, 7, 100, &waker, 150);
	waker.thread = PROFILE_NONE;
	wakers_put(&wakers, 8, 100, &waker, 150);
	wakers_move(&wakers, &profile, &fresh);
	moved = profile_get_waker(&fresh, wakers_take(&wakers, 7, 100, &fresh));
	assert_int_equal(moved->stack, 0);
	assert_int_equal(profile_get_thread(&fresh, moved->thread)->tid, 6);
	assert_string_equal(
		profile_get_string(
			&fresh,
			profile_get_frame(&fresh, profile_get_stack(&fresh, 0).frames[0])->name),
		"give");
	moved = profile_get_waker(&fresh, wakers_take(&wakers, 8, 100, &fresh));
	assert_int_equal(moved->thread, PROFILE_NONE);
	profile_release(&fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whose, begin, end),
		cmocka_unit_test_setup_teardown(one_that_nobody_asks_for, begin, end),
		cmocka_unit_test_setup_teardown(the_last_one_counts, begin, end),
		cmocka_unit_test_setup_teardown(waits_that_never_come, begin, end),
		cmocka_unit_test_setup_teardown(tables_that_are_emptied, begin, end),
	};

	return cmocka_run_group_tests_name("wakers", tests, NULL, NULL);
}
