/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: burn SECONDS [THREADS]
 * Burns CPU in main -> level_one -> level_two -> level_three (or the same below thread_main), and
 * prints its own CPU clock in nanoseconds at the end: what a profile of it must add up to.
 */
#include "busy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;
static double seconds;

__attribute__((noipa)) static void level_three(uint64_t rounds)
{
	sink += xorshift(rounds);
}

__attribute__((noipa)) static void level_two(void)
{
	for (int i = 0; i < 10; i++)
		level_three(200000);
	sink++;
}

__attribute__((noipa)) static void level_one(uint64_t until_ns)
{
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		level_two();
	sink++;
}

static void *thread_main(void *until_ns)
{
	level_one(*(uint64_t *)until_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t until_ns;
	pthread_t threads[64];
	int extra = argc > 2 ? atoi(argv[2]) - 1 : 0;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	for (int i = 0; i < extra && i < 64; i++)
		pthread_create(&threads[i], NULL, thread_main, &until_ns);
	level_one(until_ns);
	for (int i = 0; i < extra && i < 64; i++)
		pthread_join(threads[i], NULL);
	printf("cpu_ns %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
