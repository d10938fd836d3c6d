// SPDX-License-Identifier: Apache-2.0
/*
 * Works for a time between two functions, and for as long outside of them, in turns: windows ROUNDS [never]. Each turn is TURN_MS of the thread's own CPU
 * time. A second thread works all the time in beside_inside() or beside_outside(), by what the first one does. With "never" it comes to neither
 * function. "ready"; it begins when it reads a line; "done".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))
#define TURN_MS	 40

static volatile int is_inside, ends;

static unsigned long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

NOINLINE void enter_work(void)
{
	is_inside = 1;
	__asm__ volatile("" ::: "memory");
}

NOINLINE void leave_work(void)
{
	is_inside = 0;
	__asm__ volatile("" ::: "memory");
}

#define WORK(name, while_it)                                    \
	NOINLINE void name(void)                                \
	{                                                       \
		do                                              \
			for (volatile int i = 0; i < 2000; i++) \
				;                               \
		while (while_it);                               \
	}

static unsigned long until_ms;

WORK(work_inside, cpu_ms() < until_ms)
WORK(work_outside, cpu_ms() < until_ms)
WORK(beside_inside, is_inside && !ends)
WORK(beside_outside, !is_inside && !ends)

static void *beside(void *data)
{
	while (!ends) {
		beside_outside();
		beside_inside();
	}
	return data;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, never = argc > 2 && !strcmp(argv[2], "never");
	pthread_t id;

	puts("ready");
	fflush(stdout);
	getchar();
	if (pthread_create(&id, NULL, beside, NULL))
		return 1;
	for (int i = 0; i < rounds; i++) {
		until_ms = cpu_ms() + TURN_MS;
		work_outside();
		if (!never)
			enter_work();
		until_ms = cpu_ms() + TURN_MS;
		work_inside();
		if (!never)
			leave_work();
	}
	ends = 1;
	pthread_join(id, NULL);
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
