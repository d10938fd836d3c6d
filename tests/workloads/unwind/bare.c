/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: bare SECONDS
 * Compiled without call frame information but with frame pointers: main -> bare_one -> bare_two ->
 * bare_three, and bare_two -> bare_small, which is entered and left all the time.
 */
#include "known.h"

KNOWN static void bare_small(void)
{
	known_sink++;
}

KNOWN static void bare_three(uint64_t rounds)
{
	known_spin(rounds);
}

KNOWN static void bare_two(uint64_t rounds)
{
	for (int i = 0; i < 20000; i++)
		bare_small();
	bare_three(rounds);
	known_sink++;
}

KNOWN static void bare_one(void)
{
	bare_two(300000);
	known_sink++;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		bare_one();
	return known_done();
}
