/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: phases SECONDS YIELDS
 * Two threads of one cpu. The first computes for a millisecond, then gives the cpu to the other one YIELDS times, and so on; the other one does nothing but
 * give it back. The first prints, at its end, "TID computing NS yielding NS": what each took of its CPU clock.
 */
#include "busy.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COMPUTE_NS 1000000

static volatile int is_over;
static volatile uint64_t sink;

__attribute__((noipa)) static void spin(uint64_t rounds)
{
	sink += xorshift(rounds);
}

__attribute__((noipa)) static uint64_t computing(void)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), ns;

	do {
		spin(50000);
		ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (ns < COMPUTE_NS);
	return ns;
}

__attribute__((noipa)) static uint64_t yielding(unsigned long count)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned long i = 0; i < count; i++)
		sched_yield();
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void *give_back(void *data)
{
	(void)data;
	while (!is_over)
		sched_yield();
	return NULL;
}

static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
	uint64_t computed = 0, yielded = 0;
	pthread_t other;

	stay_here();
	if (pthread_create(&other, NULL, give_back, NULL))
		return 1;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		computed += computing();
		yielded += yielding(count);
	}
	printf("%d computing %lu yielding %lu\n", gettid(), computed, yielded);
	is_over = 1;
	pthread_join(other, NULL);
	return 0;
}
