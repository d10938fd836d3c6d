// SPDX-License-Identifier: Apache-2.0
/*
 * What a test of breakpoints, USDT probes and page faults counts: watched TURNS. A thread does TURNS turns; each writes
 * watched_counter once and reads it once, calls watched_called(), and reaches the probe watched:turn in two places, of which the second only if
 * somebody listens. At each of the first WATCHED_PAGES turns it touches a new page. It says "ready" and begins when it reads a line; "done",
 * with how often somebody listened, and it ends when its input does.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "usdt.h"

#define NOINLINE      __attribute__((noinline, noclone))
#define WATCHED_PAGES 500
#define PAGE_BYTES    4096

USDT_BASE;
USDT_SEMAPHORE(watched_semaphore);

volatile unsigned int watched_counter;
static unsigned long listened, sum;

NOINLINE unsigned long watched_called(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

NOINLINE void watched_write(unsigned long n)
{
	watched_counter = (unsigned int)n;
	__asm__ volatile("nop"); /* a write is told of at the next instruction */
}

NOINLINE unsigned long watched_read(void)
{
	unsigned long n = watched_counter;

	__asm__ volatile("nop");
	return n;
}

NOINLINE void watched_first_probe(void)
{
	USDT_PROBE("watched", "turn", "watched_semaphore");
}

NOINLINE void watched_second_probe(void)
{
	if (!watched_semaphore)
		return;
	listened++;
	USDT_PROBE("watched", "turn", "watched_semaphore");
}

NOINLINE void watched_touch(volatile char *page)
{
	*page = 1;
	__asm__ volatile("nop");
}

NOINLINE void watched_turn(unsigned long n, char *pages)
{
	watched_write(n);
	sum += watched_called(n) + watched_read();
	watched_first_probe();
	watched_second_probe();
	if (n < WATCHED_PAGES)
		watched_touch(pages + n * PAGE_BYTES);
}

static void *thread_run(void *turns)
{
	char *pages = mmap(NULL, WATCHED_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	madvise(pages, WATCHED_PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	usleep(300000); /* in which unwind tables can be made */
	for (unsigned long i = 0; i < (unsigned long)turns; i++) {
		watched_turn(i, pages);
		if (i % 10 == 0)
			usleep(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	pthread_t thread;

	puts("ready");
	fflush(stdout);
	getchar();
	if (pthread_create(&thread, NULL, thread_run, (void *)turns))
		return 1;
	pthread_join(thread, NULL);
	printf("done, listened %lu\n", listened);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
