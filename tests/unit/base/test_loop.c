/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/strbuf.h"

static struct loop *loop;
static struct err err;
static int calls;
static int pipe_fds[2];

static int set_up(void **state)
{
	(void)state;
	calls = 0;
	return loop_new(&loop, &err) || pipe(pipe_fds);
}

static int tear_down(void **state)
{
	(void)state;
	loop_free(loop);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return 0;
}

static void quit(void *data)
{
	(void)data;
	loop_quit(loop);
}

static void read_one(void *data)
{
	char c;

	assert_ptr_equal(data, &calls);
	assert_int_equal(read(pipe_fds[0], &c, 1), 1);
	if (++calls == 4)
		loop_quit(loop);
}

/* Level-triggered: a byte that was not read calls again. */
static void test_fd(void **state)
{
	(void)state;
	assert_int_equal(loop_add_fd(loop, pipe_fds[0], read_one, &calls, &err), 0);
	assert_int_equal(write(pipe_fds[1], "abcd", 4), 4);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 4);
	assert_int_equal(loop_add_fd(loop, -1, quit, NULL, &err), -EBADF);
}

static void count_edge(void *data)
{
	++*(int *)data;
}

/* What is there already is an edge, and what comes. */
static void test_edge(void **state)
{
	int edges = 0;

	(void)state;
	assert_int_equal(write(pipe_fds[1], "a", 1), 1);
	assert_int_equal(loop_add_edge(loop, pipe_fds[0], count_edge, &edges, &err), 0);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(loop_add_deadline(loop, clock_now_ns() + 20 * NSEC_PER_MSEC, quit,
						   NULL, &err),
				 0);
		assert_int_equal(loop_run(loop, &err), 0);
		assert_int_equal(edges, i);
		assert_int_equal(write(pipe_fds[1], "b", 1), 1);
	}
	assert_int_equal(loop_add_edge(loop, -1, count_edge, &edges, &err), -EBADF);
}

static void note_wait(bool waits, void *data)
{
	struct strbuf *log = data;

	strbuf_addstr(log, waits ? "waits " : "works ");
}

static void note_call(void *data)
{
	struct strbuf *log = data;

	strbuf_addstr(log, "call ");
	if (++calls == 2)
		loop_quit(loop);
}

static void test_waits(void **state)
{
	_cleanup_strbuf_ struct strbuf log = STRBUF_INIT;

	(void)state;
	loop_on_wait(loop, note_wait, &log);
	assert_int_equal(loop_add_timer(loop, 1000000, note_call, &log, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_string_equal(strbuf_str(&log), "waits works call waits works call ");
	loop_forget(loop, &log);
	strbuf_reset(&log);
	assert_int_equal(loop_add_deadline(loop, 0, quit, NULL, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(log.len, 0);
}

static void tick(void *data)
{
	(void)data;
	if (++calls == 3)
		loop_quit(loop);
}

static void test_timer(void **state)
{
	uint64_t begin = clock_now_ns();

	(void)state;
	assert_int_equal(loop_add_timer(loop, 5000000, tick, NULL, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 3);
	assert_true(clock_now_ns() - begin >= 15000000);
}

static void never(void *data)
{
	(void)data;
	fail();
}

/* The one that is meant, and no other. */
static void test_timer_is_set(void **state)
{
	uint64_t begin = clock_now_ns();
	const uint64_t hour = 3600 * NSEC_PER_SEC;
	int other;

	(void)state;
	assert_int_equal(loop_add_timer(loop, hour, tick, NULL, &err), 0);
	assert_int_equal(loop_add_timer(loop, hour, never, NULL, &err), 0);
	assert_int_equal(loop_add_timer(loop, hour, tick, &other, &err), 0);
	loop_set_timer(loop, 1, never, &other);
	loop_set_timer(loop, 5000000, tick, NULL);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 3);
	assert_true(clock_now_ns() - begin >= 15000000);
}

static void test_past_deadline_fires_once(void **state)
{
	(void)state;
	assert_int_equal(loop_add_deadline(loop, 0, tick, NULL, &err), 0);
	assert_int_equal(loop_add_deadline(loop, clock_now_ns() + 20000000, quit, NULL, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 1);
}

static void take_signal(int signo, void *data)
{
	assert_int_equal(signo, SIGUSR1);
	assert_ptr_equal(data, &calls);
	calls++;
	loop_quit(loop);
}

static void test_signals(void **state)
{
	static const int wanted[] = { SIGUSR1, SIGUSR2 };
	sigset_t mask;

	(void)state;
	assert_int_equal(loop_add_signals(loop, wanted, 2, take_signal, &calls, &err), 0);
	assert_int_equal(loop_add_signals(loop, wanted, 2, take_signal, &calls, &err), -EBUSY);
	kill(getpid(), SIGUSR1);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 1);
	kill(getpid(), SIGUSR2); /* pending; must not end the process when the loop goes */
	loop_free(loop);
	loop = NULL;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1));
}

/* As under nohup. */
static void test_ignored_hangup(void **state)
{
	static const int wanted[] = { SIGHUP, SIGUSR1 };

	(void)state;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(loop_add_signals(loop, wanted, 2, take_signal, &calls, &err), 0);
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGUSR1);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(calls, 1);
	signal(SIGHUP, SIG_DFL);
}

static void count_and_quit(void *data)
{
	int *count = data;

	++*count;
	loop_quit(loop);
}

/* A loop that was left is as good as new; what its end was asked for counts once. */
static void test_run_again(void **state)
{
	int count = 0;

	(void)state;
	assert_int_equal(loop_add_fd(loop, pipe_fds[0], count_and_quit, &count, &err), 0);
	assert_int_equal(write(pipe_fds[1], "a", 1), 1);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(count, 2);
}

static void forget_all(void *data)
{
	++*(int *)data;
	loop_forget(loop, data);
}

/* Also of those that are due in the same round; others stay, and the descriptor is still ours. */
static void test_forget(void **state)
{
	int count = 0;
	char byte;

	(void)state;
	assert_int_equal(loop_add_fd(loop, pipe_fds[0], forget_all, &count, &err), 0);
	assert_int_equal(loop_add_timer(loop, 1, forget_all, &count, &err), 0);
	assert_int_equal(loop_add_timer(loop, 1, forget_all, &count, &err), 0);
	assert_int_equal(loop_add_deadline(loop, 1, forget_all, &count, &err), 0);
	assert_int_equal(write(pipe_fds[1], "a", 1), 1);
	assert_int_equal(
		loop_add_deadline(loop, clock_now_ns() + 20 * NSEC_PER_MSEC, quit, NULL, &err), 0);
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	loop_forget(loop, &count); /* again */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fd),	    TEST(test_timer),	       TEST(test_timer_is_set),
		TEST(test_edge),    TEST(test_waits),	       TEST(test_past_deadline_fires_once),
		TEST(test_signals), TEST(test_ignored_hangup), TEST(test_run_again),
		TEST(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
