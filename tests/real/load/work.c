// SPDX-License-Identifier: Apache-2.0
/* Calls, the C library's sorting, printing and allocation, and threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int numbers(char **words, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		words[i] = malloc(24);
		sum += snprintf(words[i], 24, "%d %g", i * 7919 % 10007, i / 3.0);
	}
	qsort(words, (size_t)count, sizeof(*words), by_text);
	for (int i = 0; i < count; i++)
		free(words[i]);
	return sum;
}

static void *turns(void *arg)
{
	static __thread char *words[4000];
	volatile int kept = 0;

	for (;;)
		kept += fib(20) + numbers(words, 4000);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, turns, NULL))
		return 1;
	turns(NULL);
	return 0;
}
