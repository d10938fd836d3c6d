// SPDX-License-Identifier: Apache-2.0
/* usage: malloc_hits SIZE COUNT: what malloc(SIZE) and free() of it cost together, in ns; "CPU" time of this thread. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Before what is measured, until the functions of the C library are probed. */
#define SETTLE_S 1

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	size_t size = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct timespec settle = { .tv_sec = SETTLE_S };
	void *volatile memory;
	double begin_ns;

	if (!size || !count) {
		fputs("usage: malloc_hits SIZE COUNT\n", stderr);
		return 2;
	}
	nanosleep(&settle, NULL);
	begin_ns = cpu_ns();
	for (unsigned long i = 0; i < count; i++) {
		memory = malloc(size);
		free(memory);
	}
	printf("%.1f ns\n", (cpu_ns() - begin_ns) / (double)count);
	return 0;
}
