// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/drive/priority.h"

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* The tests themselves run as usual, and it is allowed: a process of its own tries. */
static bool may_raise(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	int status;
	pid_t pid = policy() == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) == 0 ? fork() : -1;

	if (pid == 0)
		_exit(sched_setscheduler(0, SCHED_RR, &param) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static rlim_t rt_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_RTTIME, &limit);
	return limit.rlim_cur;
}

static int tear_down(void **state)
{
	(void)state;
	priority_restore();
	return 0;
}

static void *note_policy(void *data)
{
	*(int *)data = policy();
	return NULL;
}

static void of_this_thread_only(void **state)
{
	rlim_t limit = rt_limit();
	int of_thread = -1;
	pthread_t thread;

	(void)state;
	if (!may_raise())
		skip();
	priority_raise();
	priority_raise(); /* once more changes nothing */
	assert_int_equal(policy(), SCHED_RR);
	assert_true(rt_limit() <= 1000000);
	pthread_create(&thread, NULL, note_policy, &of_thread);
	pthread_join(thread, NULL);
	assert_int_equal(of_thread, SCHED_OTHER);
	priority_restore();
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
	assert_true(rt_limit() == limit);
}

static void who_works_too_long_falls_back(void **state)
{
	(void)state;
	if (!may_raise())
		skip();
	priority_raise();
	raise(SIGXCPU);
	assert_int_equal(policy(), SCHED_OTHER);
	assert_true(getpriority(PRIO_PROCESS, 0) < 0);
	priority_restore();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
}

static void a_nice_value_is_kept(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		setpriority(PRIO_PROCESS, 0, 5);
		priority_raise();
		_exit(policy() != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 5);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Loading the BPF program takes 0.1 s without a pause. */
static void who_would_be_killed_is_not_raised(void **state)
{
	const struct rlimit hard = { 200000, 200000 };
	int status;
	pid_t pid;

	(void)state;
	if (!may_raise())
		skip();
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_RTTIME, &hard);
		priority_raise();
		_exit(policy() != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) >= 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void nothing_to_restore(void **state)
{
	int before = sched_getscheduler(0);

	(void)state;
	priority_restore();
	assert_int_equal(sched_getscheduler(0), before);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, NULL, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_this_thread_only),  TEST(who_works_too_long_falls_back),
		TEST(a_nice_value_is_kept), TEST(who_would_be_killed_is_not_raised),
		TEST(nothing_to_restore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
