/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/worker.h"

struct job {
	struct worker_job base;
	struct worker_pool *pool;
	pthread_t ran_on, done_on;
	int begun, ran, done;
	int block_fd; /* run waits until it is readable; 0: none */
	struct job *next;
};

static struct err err;

static void run(struct worker_job *base)
{
	struct job *job = container_of(base, struct job, base);
	struct pollfd p = { .fd = job->block_fd, .events = POLLIN };

	__atomic_store_n(&job->begun, 1, __ATOMIC_RELEASE);
	if (job->block_fd)
		poll(&p, 1, 5000);
	job->ran_on = pthread_self();
	job->ran++;
}

static void done(struct worker_job *base)
{
	struct job *job = container_of(base, struct job, base);

	job->done_on = pthread_self();
	job->done++;
	if (job->next)
		worker_pool_submit(job->pool, &job->next->base);
}

static struct job job_make(struct worker_pool *pool)
{
	return (struct job){ .base = { .run = run, .done = done }, .pool = pool };
}

static void test_runs_elsewhere_and_reports_here(void **state)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = NULL;
	struct job job;

	(void)state;
	assert_int_equal(worker_pool_new(2, &pool, &err), 0);
	job = job_make(pool);
	worker_pool_submit(pool, &job.base);
	worker_pool_drain(pool);
	assert_int_equal(job.ran, 1);
	assert_int_equal(job.done, 1);
	assert_false(pthread_equal(job.ran_on, pthread_self()));
	assert_true(pthread_equal(job.done_on, pthread_self()));
}

static void test_drain_runs_all(void **state)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = NULL;
	static struct job jobs[500];

	(void)state;
	assert_int_equal(worker_pool_new(3, &pool, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i] = job_make(pool);
		worker_pool_submit(pool, &jobs[i].base);
	}
	worker_pool_drain(pool);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		assert_int_equal(jobs[i].ran, 1);
		assert_int_equal(jobs[i].done, 1);
	}
}

static void test_done_may_submit(void **state)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = NULL;
	struct job first, second;

	(void)state;
	assert_int_equal(worker_pool_new(1, &pool, &err), 0);
	first = job_make(pool);
	second = job_make(pool);
	first.next = &second;
	worker_pool_submit(pool, &first.base);
	worker_pool_drain(pool);
	worker_pool_drain(pool);
	assert_int_equal(second.done, 1);
}

/* One job runs, one waits: the running one ends, the waiting one is given back unrun. */
static void test_free_drops_what_waits(void **state)
{
	struct worker_pool *pool = NULL;
	struct job running, waiting;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(worker_pool_new(1, &pool, &err), 0);
	running = job_make(pool);
	running.block_fd = fds[0];
	waiting = job_make(pool);
	worker_pool_submit(pool, &running.base);
	while (!__atomic_load_n(&running.begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	worker_pool_submit(pool, &waiting.base);
	assert_int_equal(write(fds[1], "x", 1), 1);
	worker_pool_free(pool);
	assert_int_equal(running.ran, 1);
	assert_int_equal(running.done, 1);
	assert_int_equal(waiting.done, 1);
	close(fds[0]);
	close(fds[1]);
}

static void look_at_mask(struct worker_job *base)
{
	struct job *job = container_of(base, struct job, base);
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	job->ran = sigismember(&mask, SIGTERM);
}

static void test_workers_take_no_signals(void **state)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = NULL;
	struct job job;
	sigset_t mask;

	(void)state;
	assert_int_equal(worker_pool_new(0, &pool, &err), 0);
	job = job_make(pool);
	job.base.run = look_at_mask;
	worker_pool_submit(pool, &job.base);
	worker_pool_drain(pool);
	assert_int_equal(job.ran, 1);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGTERM));
}

/* From when it is submitted until it is reaped. */
static void test_busy_until_it_is_reaped(void **state)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = NULL;
	struct job job;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(worker_pool_new(1, &pool, &err), 0);
	assert_false(worker_pool_is_busy(pool));
	job = job_make(pool);
	job.block_fd = fds[0];
	worker_pool_submit(pool, &job.base);
	while (!__atomic_load_n(&job.begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	worker_pool_reap(pool);
	assert_true(worker_pool_is_busy(pool));
	assert_int_equal(write(fds[1], "x", 1), 1);
	for (int i = 0; i < 50; i++) {
		usleep(1000);
		assert_true(worker_pool_is_busy(pool));
	}
	worker_pool_drain(pool);
	assert_false(worker_pool_is_busy(pool));
	assert_int_equal(job.done, 1);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_elsewhere_and_reports_here),
		cmocka_unit_test(test_drain_runs_all),
		cmocka_unit_test(test_done_may_submit),
		cmocka_unit_test(test_free_drops_what_waits),
		cmocka_unit_test(test_workers_take_no_signals),
		cmocka_unit_test(test_busy_until_it_is_reaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
