/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct job_list {
	struct worker_job *first, *last;
};

struct worker_pool {
	pthread_mutex_t lock;
	pthread_cond_t work; /* something to do, or time to end */
	pthread_cond_t idle; /* a job ended */
	struct job_list waiting, finished;
	unsigned int unfinished; /* waiting or running */
	bool ending;
	unsigned int thread_count;
	pthread_t *threads; /* owned */
};

static void list_push(struct job_list *list, struct worker_job *job)
{
	job->next = NULL;
	if (list->last)
		list->last->next = job;
	else
		list->first = job;
	list->last = job;
}

static struct worker_job *list_pop(struct job_list *list)
{
	struct worker_job *job = list->first;

	if (!job)
		return NULL;
	list->first = job->next;
	if (!list->first)
		list->last = NULL;
	return job;
}

static void finish_job(struct worker_pool *pool, struct worker_job *job)
{
	list_push(&pool->finished, job);
	pool->unfinished--;
	pthread_cond_broadcast(&pool->idle);
}

/* NULL: time to end. */
static struct worker_job *wait_for_job(struct worker_pool *pool)
{
	while (!pool->ending) {
		struct worker_job *job = list_pop(&pool->waiting);

		if (job)
			return job;
		pthread_cond_wait(&pool->work, &pool->lock);
	}
	return NULL;
}

static void *worker_main(void *data)
{
	struct worker_pool *pool = data;
	struct worker_job *job;

	pthread_mutex_lock(&pool->lock);
	while ((job = wait_for_job(pool))) {
		pthread_mutex_unlock(&pool->lock);
		job->run(job);
		pthread_mutex_lock(&pool->lock);
		finish_job(pool, job);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* With every signal blocked: they belong to the event loop's thread. */
static int start_threads(struct worker_pool *pool, unsigned int threads)
{
	sigset_t all, old;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (!rc && pool->thread_count < threads) {
		rc = -pthread_create(&pool->threads[pool->thread_count], NULL, worker_main, pool);
		if (!rc)
			pool->thread_count++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int worker_pool_new(unsigned int threads, struct worker_pool **ret_pool, struct err *err)
{
	_cleanup_(worker_pool_freep) struct worker_pool *pool = xcalloc(1, sizeof(*pool));
	int rc;

	threads = MAX(threads, 1U);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->idle, NULL);
	pool->threads = xcalloc(threads, sizeof(*pool->threads));
	rc = start_threads(pool, threads);
	if (rc)
		return err_sys(err, rc, "cannot start a worker thread");
	*ret_pool = TAKE_PTR(pool);
	return 0;
}

static void end_threads(struct worker_pool *pool)
{
	struct worker_job *job;

	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	while ((job = list_pop(&pool->waiting)))
		finish_job(pool, job);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
}

void worker_pool_free(struct worker_pool *pool)
{
	if (!pool)
		return;
	end_threads(pool);
	worker_pool_reap(pool);
	pthread_cond_destroy(&pool->idle);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool->threads);
	free(pool);
}

void worker_pool_submit(struct worker_pool *pool, struct worker_job *job)
{
	pthread_mutex_lock(&pool->lock);
	pool->unfinished++;
	if (pool->ending)
		finish_job(pool, job);
	else
		list_push(&pool->waiting, job);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

/* `done` runs without the lock: it may submit the next job. */
void worker_pool_reap(struct worker_pool *pool)
{
	struct job_list finished;
	struct worker_job *job;

	pthread_mutex_lock(&pool->lock);
	finished = pool->finished;
	pool->finished = (struct job_list){ NULL, NULL };
	pthread_mutex_unlock(&pool->lock);
	while ((job = list_pop(&finished)))
		job->done(job);
}

bool worker_pool_is_busy(struct worker_pool *pool)
{
	bool busy;

	pthread_mutex_lock(&pool->lock);
	busy = pool->unfinished || pool->finished.first;
	pthread_mutex_unlock(&pool->lock);
	return busy;
}

void worker_pool_drain(struct worker_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	while (pool->unfinished)
		pthread_cond_wait(&pool->idle, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	worker_pool_reap(pool);
}
