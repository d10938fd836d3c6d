// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait for locks of the kernel's: kernel_locks FILE ROUNDS. Each kind has a thread, which calls the kernel in outer_KIND() ROUNDS times
 * while its partner is in a call of some milliseconds that has the lock, and measures how long: the place of a file that both read (a mutex), a file
 * that both write (a rwsem), the memory that both change (a rwsem of the process). FILE is overwritten. "ready"; it begins when it reads a line. A line
 * for each: KIND TID ROUNDS NANOSECONDS. "done"; it exits when it reads another line. kernel_locks FILE ROUNDS storm: four threads set the place
 * and read there ROUNDS times each, in storm().
 */
#include "busy.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE    __attribute__((noinline, noclone))
#define BIG	    (24UL << 20)
#define AHEAD_US    500
#define STORMY	    4
#define STORM_BYTES 8192
#define REST_US	    1000

static int rounds, fd;
static char *buffer, *page;

/* --- what is waited for, and who has it meanwhile --- */

NOINLINE static void outer_place(void)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		abort();
	__asm__ volatile("" ::: "memory");
}

static void have_place(void)
{
	lseek(fd, 0, SEEK_SET);
	if (read(fd, buffer, BIG) < 0)
		abort();
}

NOINLINE static void outer_file(void)
{
	if (pwrite(fd, "x", 1, 0) != 1)
		abort();
	__asm__ volatile("" ::: "memory");
}

static void have_file(void)
{
	if (pwrite(fd, buffer, BIG, 0) < 0)
		abort();
}

NOINLINE static void outer_memory(void)
{
	static int writable;

	writable = !writable;
	if (mprotect(page, 4096, writable ? PROT_READ | PROT_WRITE : PROT_READ))
		abort();
	__asm__ volatile("" ::: "memory");
}

static void have_memory(void)
{
	void *pages = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (pages == MAP_FAILED || munmap(pages, BIG))
		abort();
}

/* --- */

static struct kind {
	const char *name;
	void (*wait)(void), (*have)(void);
	sem_t begin, rested;
	long tid;
	unsigned long ns;
} kinds[] = {
	{ .name = "place", .wait = outer_place, .have = have_place },
	{ .name = "file", .wait = outer_file, .have = have_file },
	{ .name = "memory", .wait = outer_memory, .have = have_memory },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *wait_all(void *data)
{
	struct kind *kind = data;
	unsigned long begin;

	kind->tid = syscall(SYS_gettid);
	for (int i = 0; i < rounds; i++) {
		sem_wait(&kind->begin);
		/* It has begun by then, and this cpu is free for it. */
		usleep(AHEAD_US);
		begin = clock_ns(CLOCK_MONOTONIC);
		kind->wait();
		kind->ns += clock_ns(CLOCK_MONOTONIC) - begin;
		sem_post(&kind->rested);
	}
	return NULL;
}

static void *have_all(void *data)
{
	struct kind *kind = data;

	for (int i = 0; i < rounds; i++) {
		sem_post(&kind->begin);
		kind->have();
		sem_wait(&kind->rested);
		usleep(REST_US);
	}
	return NULL;
}

NOINLINE static void *storm(void *data)
{
	char bytes[STORM_BYTES];

	for (int i = 0; i < rounds; i++)
		if (lseek(fd, 0, SEEK_SET) < 0 || read(fd, bytes, sizeof(bytes)) < 0)
			abort();
	return data;
}

static void storm_all(void)
{
	pthread_t ids[STORMY];

	for (int i = 0; i < STORMY; i++)
		if (pthread_create(&ids[i], NULL, storm, NULL))
			abort();
	for (int i = 0; i < STORMY; i++)
		pthread_join(ids[i], NULL);
}

/* One after another: on two cpus two threads can run at one time. */
static void run_kinds(void)
{
	pthread_t waiter, partner;

	for (size_t i = 0; i < KINDS; i++) {
		sem_init(&kinds[i].begin, 0, 0);
		sem_init(&kinds[i].rested, 0, 0);
		if (pthread_create(&partner, NULL, have_all, &kinds[i]) ||
		    pthread_create(&waiter, NULL, wait_all, &kinds[i]))
			abort();
		pthread_join(waiter, NULL);
		pthread_join(partner, NULL);
		printf("%s %ld %d %lu\n", kinds[i].name, kinds[i].tid, rounds, kinds[i].ns);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 4)
		return 2;
	rounds = atoi(argv[2]);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	buffer = calloc(1, BIG);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || !buffer || page == MAP_FAILED)
		abort();
	for (unsigned long i = 0; i < BIG; i += 4096)
		buffer[i] = 1;
	have_file();
	puts("ready");
	fflush(stdout);
	getchar();
	if (argc == 4)
		storm_all();
	else
		run_kinds();
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
