/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: storm KIND THREADS
 * Does one thing as often as it can, in so many threads, until it is ended: events without end for who records them.
 *   switches   pairs of threads that wake each other
 *   memory     asks the C library for 200 kB, and gives them back
 *   faults     touches pages that it has just given back to the kernel
 *   threads    begins threads that end at once
 * Prints "ready" when all have begun.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_THREADS 64
#define BLOCK_BYTES 200000
#define AREA_BYTES  (1U << 20)
#define PAGE	    4096

static uint32_t turns[MAX_THREADS];

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Two have a word, which says whose turn it is. */
static void *switches(void *data)
{
	uintptr_t number = (uintptr_t)data;
	uint32_t *turn = &turns[number / 2], mine = number % 2;

	for (;;) {
		while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != mine)
			futex(turn, FUTEX_WAIT, !mine);
		__atomic_store_n(turn, !mine, __ATOMIC_RELEASE);
		futex(turn, FUTEX_WAKE, 1);
	}
	return NULL;
}

static void *memory(void *data)
{
	(void)data;
	for (;;) {
		void *volatile block = malloc(BLOCK_BYTES);

		free(block);
	}
	return NULL;
}

static void *faults(void *data)
{
	uint8_t *area =
		mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)data;
	for (; area != MAP_FAILED;) { /* NOLINT: the kernel's value */
		for (size_t at = 0; at < AREA_BYTES; at += PAGE)
			((volatile uint8_t *)area)[at] = 1;
		madvise(area, AREA_BYTES, MADV_DONTNEED);
	}
	return NULL;
}

static void *end_at_once(void *data)
{
	return data;
}

static void *threads(void *data)
{
	pthread_t thread;

	for (;;)
		if (pthread_create(&thread, NULL, end_at_once, data) == 0)
			pthread_join(thread, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*run)(void *data);
	} kinds[] = { { "switches", switches },
		      { "memory", memory },
		      { "faults", faults },
		      { "threads", threads } };

	uintptr_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread;

	for (size_t i = 0; count && count <= MAX_THREADS && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		for (uintptr_t n = 0; n < count; n++)
			if (pthread_create(&thread, NULL, kinds[i].run, (void *)n) != 0)
				return 1;
		puts("ready");
		fflush(stdout);
		pause();
	}
	fprintf(stderr, "usage: storm switches|memory|faults|threads THREADS\n");
	return 2;
}
