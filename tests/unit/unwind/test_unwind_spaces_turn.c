// SPDX-License-Identifier: Apache-2.0
/* Which mappings are read again, when, and what that may cost. */
#include "spaces_world.h"

static void a_miss(void **state)
{
	struct wire_sample sample = sample_of(0);
	struct wire_space space;

	(void)state;
	f.cost_ns = 3 * MS;
	f.start_ns = f.now_ns;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(f.pid, FIRST_PID);
	assert_int_equal(f.tid, FIRST_PID + 1000);
	assert_true(is_published(0, &space));
	assert_int_equal(space.count, 2);
	assert_int_equal(space.exec_pages, EXEC_PAGES);
	assert_int_equal(space.jvm, 0);
	assert_false(unwind_spaces_read_since(f.spaces, &sample));
	sample.time_ns--;
	assert_true(unwind_spaces_read_since(f.spaces, &sample));
	assert_false(is_published(1, &space));
	assert_int_equal(read_of(1), 0);
	assert_int_equal(stats().reads, 2);
	assert_int_equal(stats().read_ns, 6 * MS);
	assert_int_equal(stats().store.puts, 2);
}

static void another_program(void **state)
{
	struct wire_sample sample = sample_of(0);
	struct wire_miss miss = { .pc = 0x2000 };
	struct wire_space space;

	(void)state;
	assert_int_equal(unwind_spaces_read(f.spaces, &miss, &sample, f.now_ns), -ESTALE);
	f.start_ns = f.now_ns + 1;
	assert_int_equal(read_of(0), -ESTALE);
	f.start_ns = 0;
	f.stat_error = -ESRCH;
	assert_int_equal(read_of(0), -ESRCH);
	f.stat_error = 0;
	f.read_error = -EACCES;
	assert_int_equal(read_of(0), -EACCES);
	assert_false(is_published(0, &space));
}

static void what_is_stale_is_read_once(void **state)
{
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(turn_after(200), 0);
	assert_int_equal(read_of(0), 0);
	map(0, 0x9000, 0xa000);
	map(0, 0xa000, 0xb000);
	map(7, 0xa000, 0xb000); /* nobody knows it */
	f.ranges[0].end = 0x2800;
	assert_int_equal(turn_after(99), 0);
	assert_int_equal(turn_after(1), 1);
	assert_int_equal(f.pid, FIRST_PID);
	assert_int_equal(f.tid, 0); /* whichever thread lives */
	assert_int_equal(turn_after(500), 0);
	assert_int_equal(stats().store.puts, 3);
	/* Nothing has changed: what is published stays. */
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(500), 1);
	assert_int_equal(stats().store.puts, 3);
	assert_int_equal(stats().refuted, 0);
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(99), 0); /* read again counts as read */
	assert_int_equal(turn_after(1), 1);
	/* It is ending. */
	f.read_error = -ESRCH;
	f.range_count = 1;
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(500), 1);
	assert_true(is_published(0, &space));
	assert_int_equal(space.count, 2);
	assert_int_equal(turn_after(500), 0);
}

static void one_that_was_evicted(void **state)
{
	(void)state;
	assert_int_equal(read_of(0), 0);
	map(0, 0x9000, 0xa000);
	f.memory->set_space(FIRST_PID, NULL, f.memory->data);
	assert_int_equal(turn_after(100), 0);
	assert_int_equal(read_of(0), 0); /* a miss brings it back */
}

/* --- costs --- */

/* 50 ms at once, then two per cent of the time. */
static void reads_have_a_budget(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(read_of(i), 0);
		map(i, 0x9000, 0xa000);
	}
	f.cost_ns = 50 * MS;
	assert_int_equal(turn_after(3600000), 2); /* 50, 0, -50 */
	assert_int_equal(turn_after(2499), 0);
	assert_int_equal(turn_after(1), 1);
	assert_int_equal(turn_after(2400), 0);
	assert_int_equal(turn_after(99), 0);
	assert_int_equal(turn_after(1), 1);
	/* No more than that is saved. */
	map(0, 0x9000, 0xa000);
	map(1, 0x9000, 0xa000);
	f.cost_ns = 50 * MS + MS / 2;
	assert_int_equal(turn_after(7200000), 1);
	assert_int_equal(turn_after(20), 0);
	assert_int_equal(turn_after(20), 1);
}

/* Of a process that is not known a miss is always read. */
static void misses_in_debt(void **state)
{
	(void)state;
	f.cost_ns = 50 * MS;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(read_of(0), 0); /* 0 is no debt */
	assert_int_equal(read_of(0), -EAGAIN);
	assert_int_equal(read_of(1), 0);
	f.now_ns += 99 * MS;
	assert_int_equal(read_of(0), -EAGAIN);
	f.now_ns += MS;
	assert_int_equal(read_of(0), 0);
}

/* What is read before there are samples is not paid for. */
static void before_a_sample(void **state)
{
	struct wire_sample of = sample_of(0);
	char path[] = "/jdk/libjvm.so";
	struct wire_space space;

	(void)state;
	f.cost_ns = 500 * MS;
	f.read_error = -ESRCH;
	assert_int_equal(unwind_spaces_learn(f.spaces, &of, f.now_ns), -ESRCH);
	assert_false(is_published(0, &space));
	f.read_error = 0;
	f.libjvm = (struct mapping){ .start = 0x1000, .end = 0x2000, .path = path };
	assert_int_equal(unwind_spaces_learn(f.spaces, &of, f.now_ns), 0);
	assert_int_equal(f.tid, f.pid);
	assert_int_equal(unwind_spaces_get(f.spaces, &of, &space), 0);
	assert_int_equal(space.count, 2);
	assert_int_equal(space.jvm, WIRE_JVM_PENDING);
	of.exec_id++;
	assert_int_equal(unwind_spaces_get(f.spaces, &of, &space), -ENOENT);
	assert_int_equal(stats().read_ns, 1000 * MS);
	assert_int_equal(read_of(0), 0);
	assert_int_equal(read_of(0), -EAGAIN);
}

/* A process whose mappings take 100 ms to be read: not every 100 ms, once there is no credit. */
static void a_read_that_takes_long(void **state)
{
	(void)state;
	f.cost_ns = 100 * MS;
	f.ranges[0] = (struct wire_range){ .start = 0x1000, .end = 0x2000 };
	f.range_count = 1;
	assert_int_equal(read_of(1), 0);
	f.now_ns += 100 * MS;
	assert_int_equal(read_of(1), -EAGAIN);
	f.now_ns += 4800 * MS;
	assert_int_equal(read_of(1), -EAGAIN);
	f.now_ns += 100 * MS;
	assert_int_equal(read_of(1), 0);
	/* Those that take a moment wait for 100 ms as ever. */
	f.cost_ns = MS;
	assert_int_equal(read_of(2), 0);
	f.now_ns += 100 * MS - 1;
	assert_int_equal(read_of(2), -EAGAIN);
	f.now_ns += 1;
	assert_int_equal(read_of(2), 0);
}

/* One that has more than 4,096 pieces of code waits as one whose reading takes long does, whatever there is room for. */
static void a_list_that_is_long(void **state)
{
	(void)state;
	f.cost_ns = 100 * MS;
	assert_int_equal(read_of(3), 0); /* there is no credit now */
	f.cost_ns = 20 * MS;
	f.ranges[0] = (struct wire_range){ .start = 0x1000, .end = 0x2000 };
	f.range_count = 1;
	f.more_ranges = 4095;
	read_of(1);
	f.now_ns += 100 * MS;
	assert_int_not_equal(read_of(1), -EAGAIN);
	f.more_ranges++;
	f.now_ns += 100 * MS;
	read_of(1);
	f.now_ns += 999 * MS;
	assert_int_equal(read_of(1), -EAGAIN);
	f.now_ns += MS;
	assert_int_not_equal(read_of(1), -EAGAIN);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(before_a_sample),	    TEST(a_read_that_takes_long),
		TEST(a_list_that_is_long),  TEST(a_miss),
		TEST(another_program),	    TEST(what_is_stale_is_read_once),
		TEST(one_that_was_evicted), TEST(reads_have_a_budget),
		TEST(misses_in_debt),
	};

	return cmocka_run_group_tests_name("unwind_spaces_turn", tests, NULL, NULL);
}
