// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait for what the C library has: native_locks ROUNDS. Each kind has a thread, which does it ROUNDS times in outer_KIND()
 * and measures how long, and a partner that lets it go on after PAUSE_MS. "ready"; it begins when it reads a line. A line for each: KIND TID ROUNDS
 * NANOSECONDS; and of those that take a lock, how long that alone was: in KIND TID ROUNDS NANOSECONDS. "done"; it exits when it reads another line.
 * native_locks ROUNDS storm: of two threads each lets the other one have its mutex, ROUNDS times in turns, in storm(); there are two such pairs. "in storm NANOSECONDS".
 */
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PAUSE_MS 12
#define STORMY	 4

static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, of_condition = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER, written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore, begin_mutex, begin_rwlock, begin_writing, begin_condition, begin_semaphore,
	begin_barrier;
static sem_t held_mutex, held_rwlock, held_writing;
static int signalled;
/* Of the calling thread: in the locks' functions. */
static __thread unsigned long taking_ns;

static void rest(void)
{
	usleep(PAUSE_MS * 1000);
}

/* --- the waits; each asks its partner to begin --- */

NOINLINE static void outer_mutex(void)
{
	sem_post(&begin_mutex);
	while (sem_trywait(&held_mutex))
		usleep(500);
	taking_ns -= clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&mutex);
	taking_ns += clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&mutex);
}

NOINLINE static void outer_rwlock(void)
{
	sem_post(&begin_rwlock);
	while (sem_trywait(&held_rwlock))
		usleep(500);
	taking_ns -= clock_ns(CLOCK_MONOTONIC);
	pthread_rwlock_rdlock(&rwlock);
	taking_ns += clock_ns(CLOCK_MONOTONIC);
	pthread_rwlock_unlock(&rwlock);
}

NOINLINE static void outer_writing(void)
{
	sem_post(&begin_writing);
	while (sem_trywait(&held_writing))
		usleep(500);
	taking_ns -= clock_ns(CLOCK_MONOTONIC);
	pthread_rwlock_wrlock(&written);
	taking_ns += clock_ns(CLOCK_MONOTONIC);
	pthread_rwlock_unlock(&written);
}

NOINLINE static void outer_condition(void)
{
	pthread_mutex_lock(&of_condition);
	signalled = 0;
	sem_post(&begin_condition);
	while (!signalled)
		pthread_cond_wait(&condition, &of_condition);
	pthread_mutex_unlock(&of_condition);
}

NOINLINE static void outer_semaphore(void)
{
	sem_post(&begin_semaphore);
	sem_wait(&semaphore);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void outer_barrier(void)
{
	sem_post(&begin_barrier);
	pthread_barrier_wait(&barrier);
	__asm__ volatile("" ::: "memory");
}

static void *short_life(void *data)
{
	rest();
	return data;
}

NOINLINE static void outer_join(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, short_life, NULL))
		abort();
	pthread_join(id, NULL);
	__asm__ volatile("" ::: "memory");
}

/* --- who lets them go on --- */

static void let_mutex(void)
{
	sem_wait(&begin_mutex);
	pthread_mutex_lock(&mutex);
	sem_post(&held_mutex);
	rest();
	pthread_mutex_unlock(&mutex);
}

static void let_rwlock(void)
{
	sem_wait(&begin_rwlock);
	pthread_rwlock_wrlock(&rwlock);
	sem_post(&held_rwlock);
	rest();
	pthread_rwlock_unlock(&rwlock);
}

static void let_writing(void)
{
	sem_wait(&begin_writing);
	pthread_rwlock_rdlock(&written);
	sem_post(&held_writing);
	rest();
	pthread_rwlock_unlock(&written);
}

static void let_condition(void)
{
	sem_wait(&begin_condition);
	rest();
	pthread_mutex_lock(&of_condition);
	signalled = 1;
	pthread_mutex_unlock(&of_condition);
	/* Not before: who is woken would wait for the mutex as well. */
	pthread_cond_signal(&condition);
}

static void let_semaphore(void)
{
	sem_wait(&begin_semaphore);
	rest();
	sem_post(&semaphore);
}

static void let_barrier(void)
{
	sem_wait(&begin_barrier);
	rest();
	pthread_barrier_wait(&barrier);
}

static struct kind {
	const char *name;
	void (*wait)(void), (*let)(void);
	long tid;
	unsigned long ns, taking_ns;
} kinds[] = {
	{ "mutex", outer_mutex, let_mutex, 0, 0, 0 },
	{ "rwlock", outer_rwlock, let_rwlock, 0, 0, 0 },
	{ "writing", outer_writing, let_writing, 0, 0, 0 },
	{ "condition", outer_condition, let_condition, 0, 0, 0 },
	{ "semaphore", outer_semaphore, let_semaphore, 0, 0, 0 },
	{ "barrier", outer_barrier, let_barrier, 0, 0, 0 },
	{ "join", outer_join, NULL, 0, 0, 0 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *wait_all(void *data)
{
	struct kind *kind = data;
	unsigned long begin;

	kind->tid = syscall(SYS_gettid);
	for (int i = 0; i < rounds; i++) {
		begin = clock_ns(CLOCK_MONOTONIC);
		kind->wait();
		kind->ns += clock_ns(CLOCK_MONOTONIC) - begin;
	}
	kind->taking_ns = taking_ns;
	return NULL;
}

static void *let_all(void *data)
{
	const struct kind *kind = data;

	for (int i = 0; i < rounds; i++)
		kind->let();
	return NULL;
}

/* --- many short ones --- */

static pthread_mutex_t stormy[STORMY];
static int storming;
static unsigned long storm_ns;

NOINLINE static void storm(pthread_mutex_t *mine)
{
	unsigned long begin = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(mine);
	taking_ns += clock_ns(CLOCK_MONOTONIC) - begin;
}

/* The first of a pair begins. Of a normal mutex nobody asks who had it. */
static void *storm_rounds(void *data)
{
	long number = (long)data;

	if (!(number & 1))
		pthread_mutex_unlock(&stormy[number ^ 1]);
	for (int i = 0; i < rounds; i++) {
		storm(&stormy[number]);
		pthread_mutex_unlock(&stormy[number ^ 1]);
	}
	__atomic_add_fetch(&storm_ns, taking_ns, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&storming, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Nobody waits for their ends. */
static void storm_all(void)
{
	pthread_t id;

	storming = STORMY;
	for (long i = 0; i < STORMY; i++)
		pthread_mutex_lock(&stormy[i]);
	for (long i = 0; i < STORMY; i++)
		if (pthread_create(&id, NULL, storm_rounds, (void *)i) || pthread_detach(id))
			abort();
	while (__atomic_load_n(&storming, __ATOMIC_SEQ_CST))
		usleep(10000);
	printf("in storm %lu\n", storm_ns);
}

static void run_kinds(void)
{
	pthread_t ids[KINDS], partners[KINDS];

	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].let && pthread_create(&partners[i], NULL, let_all, &kinds[i]))
			abort();
		if (pthread_create(&ids[i], NULL, wait_all, &kinds[i]))
			abort();
	}
	for (size_t i = 0; i < KINDS; i++) {
		pthread_join(ids[i], NULL);
		if (kinds[i].let)
			pthread_join(partners[i], NULL);
		printf("%s %ld %d %lu\n", kinds[i].name, kinds[i].tid, rounds, kinds[i].ns);
		if (kinds[i].taking_ns)
			printf("in %s %ld %d %lu\n", kinds[i].name, kinds[i].tid, rounds,
			       kinds[i].taking_ns);
	}
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atoi(argv[1]) : 10;
	pthread_barrier_init(&barrier, NULL, 2);
	puts("ready");
	fflush(stdout);
	getchar();
	if (argc > 2)
		storm_all();
	else
		run_kinds();
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
