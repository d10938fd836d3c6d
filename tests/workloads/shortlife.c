/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: shortlife [NEXT]
 * Deletes its own file, then burns 50 ms of its CPU clock in hot_00000, or execs NEXT, which does
 * so. The test makes copies of this binary in which the function has another name.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BURN_NS 50000000ULL

volatile uint64_t shortlife_sink;

__attribute__((noinline)) void hot_00000(void)
{
	for (int i = 0; i < 20000; i++)
		shortlife_sink = shortlife_sink * 6364136223846793005ULL + 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t until = cpu_ns() + BURN_NS;

	unlink(argv[0]);
	if (argc > 1) {
		execl(argv[1], argv[1], (char *)NULL);
		return 1;
	}
	while (cpu_ns() < until)
		hot_00000();
	return 0;
}
