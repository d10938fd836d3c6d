/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is as urgent as the one that starts it, which else it would not be (SCHED_RESET_ON_FORK), and gets no signals: they belong to the event loop's. */
#ifndef HOSTPROF_CAPTURE_URGENT_THREAD_H
#define HOSTPROF_CAPTURE_URGENT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Stays where it is while the thread runs. Zeroed: there is none. */
struct urgent_thread {
	pthread_t id;
	void (*main)(void *data);
	void *data;
	int policy, nice; /* of the one that started it */
	bool runs;
};

/* DATA is MAIN's until urgent_thread_join(). 0, or a negative errno. */
int urgent_thread_start(struct urgent_thread *thread, void (*main)(void *data), void *data);
/* Until MAIN has returned; nothing where there is no thread, or none any more. */
void urgent_thread_join(struct urgent_thread *thread);

/* All there are have the usual policy from now on, and their nice value. May be called by a signal handler. */
void urgent_threads_calm(void);

#endif
