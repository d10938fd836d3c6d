// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that a test of probes counts: probed THREADS TURNS. Each thread calls probed_outer() TURNS times,
 * that takes memory once and calls probed_middle(), which calls probed_inner() twice, and sleeps at every
 * tenth turn. It says "ready" and begins when it reads a line, with one turn and a pause in which unwind
 * tables can be made; "done", and it ends when its input does.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sum;

NOINLINE unsigned long probed_inner(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

NOINLINE unsigned long probed_middle(unsigned long n)
{
	unsigned long twice = probed_inner(n);

	return twice + probed_inner(n + 1);
}

NOINLINE unsigned long probed_outer(unsigned long n)
{
	void *volatile memory = malloc(n % 100 + 1);

	free(memory);
	return probed_middle(n) + 1;
}

static void *thread_run(void *turns)
{
	for (unsigned long i = 0; i < (unsigned long)turns; i++) {
		sum += probed_outer(i);
		if (i % 10 == 0)
			usleep(i ? 1 : 500000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	pthread_t ids[64];

	puts("ready");
	fflush(stdout);
	getchar();
	for (unsigned int i = 0; i < threads && i < 64; i++)
		pthread_create(&ids[i], NULL, thread_run, (void *)turns);
	for (unsigned int i = 0; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
