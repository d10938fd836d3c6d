// SPDX-License-Identifier: Apache-2.0
/* Who waits awake for whom, and what a process is known to have used. */
#include "test.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "elf/reader/reader_call.h"
#include "elf/reader/reader_trade.h"
#include "wall/broker.h"
#include "wall/lane.h"
#include "wall/wall.h"

#define TAKES_NS 20000
#define SOON_NS	 (20 * NSEC_PER_SEC)

static struct lane *lane;
static struct nursery *nursery;

/* --- a trade ---------------------------------------------------------------------------------- */

static void keep_rights(const struct wall_call *call)
{
	(void)call;
}

static bool never(uint32_t op)
{
	(void)op;
	return false;
}

enum op { QUICK, UNTIL_WHO_ASKS_SLEEPS, SELDOM_QUICK };

static bool is_quick(uint32_t op)
{
	return op != UNTIL_WHO_ASKS_SLEEPS;
}

static uint64_t cpu_now_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t take_time(struct wall_call *call, int fd, int *ret_fd)
{
	uint64_t end_ns = cpu_now_ns() + (call->op == QUICK ? TAKES_NS : NSEC_PER_SEC);

	(void)fd;
	*ret_fd = -1;
	while (cpu_now_ns() < end_ns)
		if (call->op != QUICK && atomic_load(&call->asker_sleeps))
			break;
	return 0;
}

static const struct trade busy_trade = {
	.name = "hostprof-test",
	.give_up_rights = keep_rights,
	.takes_file = never,
	.opens_file = never,
	.carry_out = take_time,
	.is_quick = is_quick,
};

static int set_up(void **state)
{
	static const struct trade *const trades[] = { &busy_trade, NULL };
	const struct lane_terms terms = {
		.trade = &busy_trade, .patience = { .deadline_ns = SOON_NS, .busy_ns = SOON_NS }
	};
	struct err err;

	(void)state;
	if (nursery_new(&(struct nursery_plan){ trades, NULL }, &nursery, &err) < 0)
		return -1;
	lane = lane_new(nursery, &terms);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lane_free(lane);
	nursery_free(nursery);
	return 0;
}

static void call_times(uint32_t op, unsigned int count)
{
	int fd;

	for (unsigned int i = 0; i < count; i++) {
		struct wall_call *call = lane_begin(lane);

		assert_non_null(call);
		call->op = op;
		assert_int_equal(lane_call(lane, -1, &fd), 0);
	}
}

/* Of this thread, for ten calls. */
static uint64_t cpu_of_calls(void)
{
	uint64_t begin_ns = cpu_now_ns();

	call_times(UNTIL_WHO_ASKS_SLEEPS, 10);
	return cpu_now_ns() - begin_ns;
}

/* --- */

/* Somebody else may have the cpu meanwhile. Who waits awake uses all of the time that it may, and goes to sleep after that. */
static void for_what_takes_its_time_one_sleeps(void **state)
{
	uint64_t least_ns = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 20; i++)
		least_ns = MIN(least_ns, cpu_of_calls());
	assert_true(least_ns < 10 * WALL_SPIN_NS);
}

/* Of this thread, for calls that find the other one asleep. */
static uint64_t cpu_of_lone_calls(uint32_t op)
{
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < 34; i++) {
		uint64_t begin_ns;

		usleep(1000);
		begin_ns = cpu_now_ns();
		call_times(op, 1);
		sum_ns += cpu_now_ns() - begin_ns;
	}
	return sum_ns;
}

/* As where the cpus are busy: what ought to be quick is not, and is waited for awake twice in 34 times. */
static void who_waits_in_vain_sleeps(void **state)
{
	uint64_t least_ns = UINT64_MAX, sleeping_ns = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 8; i++) {
		sleeping_ns = MIN(sleeping_ns, cpu_of_lone_calls(UNTIL_WHO_ASKS_SLEEPS));
		least_ns = MIN(least_ns, cpu_of_lone_calls(SELDOM_QUICK));
	}
	assert_true(least_ns < sleeping_ns + 34 * WALL_SPIN_NS / 2);
}

static void what_is_quick(void **state)
{
	(void)state;
	for (uint32_t op = 0; op <= WALL_OPEN_MEMFD; op++)
		assert_int_equal(broker_trade.is_quick(op), op < WALL_FIRST_OPENING);
	assert_true(reader_trade.is_quick(READER_DEMANGLE));
	assert_false(reader_trade.is_quick(READER_CFI_PAGE));
	assert_false(reader_trade.is_quick(READER_IMAGE_OPEN));
}

/* One call's time is known when the next one begins, if there was a pause. */
static void what_was_used_before_a_pause(void **state)
{
	uint64_t end_ns = clock_now_ns() + SOON_NS, used_ns = 0;

	(void)state;
	call_times(QUICK, 3);
	while (!used_ns && clock_now_ns() < end_ns) {
		usleep(1000);
		used_ns = lane_take_cpu(lane);
	}
	assert_true(used_ns > 0);
}

/* And of a row of them as soon as it has an end. */
static void what_was_used_in_a_row(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		call_times(QUICK, 64);
		assert_true(lane_take_cpu(lane) >= 64 * TAKES_NS);
	}
	call_times(UNTIL_WHO_ASKS_SLEEPS, 1);
	assert_true(lane_take_cpu(lane) > 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(for_what_takes_its_time_one_sleeps),
		TEST(who_waits_in_vain_sleeps),
		cmocka_unit_test(what_is_quick),
		TEST(what_was_used_before_a_pause),
		TEST(what_was_used_in_a_row),
	};

	return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
