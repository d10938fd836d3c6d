/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker threads fed by a queue of owned messages. `run` is called on a worker thread, `done` on
 * the thread that calls worker_pool_reap(): the event loop, in each turn.
 * A job belongs to the pool from submit until `done`, which takes it back.
 */
#ifndef HOSTPROF_BASE_WORKER_H
#define HOSTPROF_BASE_WORKER_H

#include <stdbool.h>

#include "base/err.h"

struct worker_job {
	void (*run)(struct worker_job *job);
	void (*done)(struct worker_job *job);
	struct worker_job *next; /* the pool's */
};

struct worker_pool;

int worker_pool_new(unsigned int threads, struct worker_pool **ret_pool, struct err *err);
/* Drops jobs that have not begun (their `done` is called), waits for those that have. */
void worker_pool_free(struct worker_pool *pool);
DEFINE_CLEANUP(struct worker_pool *, worker_pool_free);

void worker_pool_submit(struct worker_pool *pool, struct worker_job *job);
void worker_pool_reap(struct worker_pool *pool);
/* Is there a job that has not been reaped yet? */
bool worker_pool_is_busy(struct worker_pool *pool);
/* Wait until every submitted job has run, then reap. */
void worker_pool_drain(struct worker_pool *pool);

#endif
