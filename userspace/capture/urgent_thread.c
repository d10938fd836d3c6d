/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/urgent_thread.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macros.h"

/* More than there are at a time. */
#define MOST_THREADS 4

/* Their tids; 0: none. */
static _Atomic pid_t urgent_tids[MOST_THREADS];

static void note(pid_t before, pid_t tid)
{
	for (size_t i = 0; i < MOST_THREADS; i++) {
		pid_t expected = before;

		if (atomic_compare_exchange_strong(&urgent_tids[i], &expected, tid))
			return;
	}
}

void urgent_threads_calm(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	for (size_t i = 0; i < MOST_THREADS; i++) {
		pid_t tid = atomic_load(&urgent_tids[i]);

		if (tid)
			(void)sched_setscheduler(tid, SCHED_OTHER, &param);
	}
}

static struct sched_param param_of(const struct urgent_thread *thread)
{
	return (struct sched_param){ .sched_priority = sched_get_priority_min(thread->policy) };
}

static void be_as_urgent(const struct urgent_thread *thread)
{
	const struct sched_param param = param_of(thread);

	if (thread->policy != SCHED_OTHER)
		(void)sched_setscheduler(0, thread->policy, &param);
	(void)setpriority(PRIO_PROCESS, 0, thread->nice);
}

static void *begin(void *data)
{
	struct urgent_thread *thread = data;

	note(0, gettid());
	be_as_urgent(thread);
	thread->main(thread->data);
	note(gettid(), 0);
	return NULL;
}

/* So that it does not wait for a cpu as others do before it is urgent. */
static int create_urgent(struct urgent_thread *thread)
{
	const struct sched_param param = param_of(thread);
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, thread->policy);
	pthread_attr_setschedparam(&attr, &param);
	rc = -pthread_create(&thread->id, &attr, begin, thread);
	pthread_attr_destroy(&attr);
	return rc;
}

static int create(struct urgent_thread *thread)
{
	if (thread->policy != SCHED_OTHER && create_urgent(thread) == 0)
		return 0;
	return -pthread_create(&thread->id, NULL, begin, thread);
}

int urgent_thread_start(struct urgent_thread *thread, void (*main)(void *data), void *data)
{
	sigset_t all, old;
	int rc;

	*thread = (struct urgent_thread){ .main = main,
					  .data = data,
					  .policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK,
					  .nice = getpriority(PRIO_PROCESS, 0) };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = create(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	thread->runs = rc == 0;
	return rc;
}

void urgent_thread_join(struct urgent_thread *thread)
{
	if (!thread->runs)
		return;
	pthread_join(thread->id, NULL);
	thread->runs = false;
}
