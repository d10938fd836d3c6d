/* SPDX-License-Identifier: Apache-2.0 */
/* What an urgent thread is told by the kernel's functions, which are the test's. */
#include "test.h"

#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "capture/urgent_thread.h"
#include "fake_scheduler.h"

static struct {
	sem_t begun, end;
	pid_t tid;
	bool blocks_signals;
} f;

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	memset(&scheduler, 0, sizeof(scheduler));
	return sem_init(&f.begun, 0, 0) || sem_init(&f.end, 0, 0);
}

static void work(void *data)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	f.blocks_signals = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGXCPU);
	f.tid = gettid();
	*(int *)data += 1;
	sem_post(&f.begun);
	sem_wait(&f.end);
}

static void run(int policy, int nice)
{
	struct urgent_thread thread = { .runs = false };
	int count = 0;

	scheduler.policy = policy;
	scheduler.nice = nice;
	urgent_thread_join(&thread);
	assert_int_equal(urgent_thread_start(&thread, work, &count), 0);
	sem_wait(&f.begun);
	urgent_threads_calm();
	sem_post(&f.end);
	urgent_thread_join(&thread);
	urgent_thread_join(&thread);
	assert_int_equal(count, 1);
	assert_true(f.blocks_signals);
	assert_int_not_equal(f.tid, gettid());
}

static void who_is_real_time(void **state)
{
	(void)state;
	run(SCHED_RR | SCHED_RESET_ON_FORK, -10);
	assert_int_equal(scheduler.policy_set, SCHED_RR);
	assert_int_not_equal(scheduler.priority_set, 0);
	assert_int_equal(scheduler.nice_set, -10);
	assert_int_equal(scheduler.calmed, f.tid);
	/* It has ended: its number may be another's. */
	scheduler.calmed = 0;
	urgent_threads_calm();
	assert_int_equal(scheduler.calmed, 0);
}

static void who_is_not(void **state)
{
	(void)state;
	run(SCHED_OTHER, -5);
	assert_int_equal(scheduler.policy_set, 0);
	assert_int_equal(scheduler.nice_set, -5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_is_real_time, set_up),
		cmocka_unit_test_setup(who_is_not, set_up),
	};

	return cmocka_run_group_tests_name("urgent_thread", tests, NULL, NULL);
}
