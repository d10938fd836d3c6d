/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: shortlife [NEXT]
 * Deletes its own file, then burns 50 ms of its CPU clock in hot_00000, or execs NEXT, which does
 * so. The test makes copies of this binary in which the function has another name.
 */
#include "busy.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define BURN_NS 50000000ULL

volatile uint64_t shortlife_sink;

__attribute__((noinline)) void hot_00000(void)
{
	for (int i = 0; i < 20000; i++)
		shortlife_sink = shortlife_sink * 6364136223846793005ULL + 1;
}

int main(int argc, char **argv)
{
	uint64_t until = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + BURN_NS;

	unlink(argv[0]);
	if (argc > 1) {
		execl(argv[1], argv[1], (char *)NULL);
		return 1;
	}
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		hot_00000();
	return 0;
}
