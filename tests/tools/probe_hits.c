// SPDX-License-Identifier: Apache-2.0
/* usage: probe_hits LIBRARY FUNCTION COUNT: what a call of it costs, in ns. All its arguments are 0. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

typedef void called_fn(uint64_t a, uint64_t b, uint64_t c);

int main(int argc, char **argv)
{
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	void *library, *symbol;
	called_fn *called;
	uint64_t begin_ns;

	if (!count) {
		fputs("usage: probe_hits LIBRARY FUNCTION COUNT\n", stderr);
		return 2;
	}
	library = dlopen(argv[1], RTLD_NOW);
	symbol = library ? dlsym(library, argv[2]) : NULL;
	if (!symbol) {
		fprintf(stderr, "probe_hits: %s\n", dlerror());
		return 1;
	}
	memcpy(&called, &symbol, sizeof(called));
	for (int i = 0; i < 1000; i++)
		called(0, 0, 0);
	begin_ns = clock_now_ns();
	for (unsigned long i = 0; i < count; i++)
		called(0, 0, 0);
	printf("%.2f ns\n", (double)(clock_now_ns() - begin_ns) / (double)count);
	return 0;
}
