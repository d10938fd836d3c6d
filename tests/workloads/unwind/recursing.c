/* SPDX-License-Identifier: Apache-2.0 */
/* usage: recursing SECONDS: main -> 900 x descend -> bottom. */
#include "known.h"

#define DEPTH 900

KNOWN static uint64_t bottom(void)
{
	known_spin(2000000);
	return known_sink;
}

KNOWN static uint64_t descend(int left)
{
	uint64_t sum = left == 1 ? bottom() : descend(left - 1);

	return sum + (uint64_t)left;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += descend(DEPTH);
	return known_done();
}
