// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait for what the C library has: native_locks ROUNDS. Each kind has a thread, which does it ROUNDS times in outer_KIND()
 * and measures how long, and a partner that lets it go on after PAUSE_MS. "ready"; it begins when it reads a line. A line for each: KIND TID ROUNDS
 * NANOSECONDS. "done"; it exits when it reads another line.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PAUSE_MS 12

static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, of_condition = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore, begin_mutex, begin_rwlock, begin_condition, begin_semaphore, begin_barrier;
static sem_t held_mutex, held_rwlock;
static int signalled;

static unsigned long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000000UL + (unsigned long)t.tv_nsec;
}

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
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

NOINLINE static void outer_rwlock(void)
{
	sem_post(&begin_rwlock);
	while (sem_trywait(&held_rwlock))
		usleep(500);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
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
	unsigned long ns;
} kinds[] = {
	{ "mutex", outer_mutex, let_mutex, 0, 0 },
	{ "rwlock", outer_rwlock, let_rwlock, 0, 0 },
	{ "condition", outer_condition, let_condition, 0, 0 },
	{ "semaphore", outer_semaphore, let_semaphore, 0, 0 },
	{ "barrier", outer_barrier, let_barrier, 0, 0 },
	{ "join", outer_join, NULL, 0, 0 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *wait_all(void *data)
{
	struct kind *kind = data;
	unsigned long begin;

	kind->tid = syscall(SYS_gettid);
	for (int i = 0; i < rounds; i++) {
		begin = now_ns();
		kind->wait();
		kind->ns += now_ns() - begin;
	}
	return NULL;
}

static void *let_all(void *data)
{
	const struct kind *kind = data;

	for (int i = 0; i < rounds; i++)
		kind->let();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[KINDS], partners[KINDS];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	pthread_barrier_init(&barrier, NULL, 2);
	puts("ready");
	fflush(stdout);
	getchar();
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
	}
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
