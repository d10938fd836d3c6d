// SPDX-License-Identifier: Apache-2.0
/* no_memory TIMES: says "ready", and when it reads a line asks operator new so often for more than it may have; "caught TIMES", "done". */
#include <cstdio>
#include <cstdlib>
#include <new>

#include <sys/resource.h>

extern "C" __attribute__((noinline)) void by_new(std::size_t bytes)
{
	operator delete(operator new(bytes));
	std::puts("there is that much memory");
}

int main(int argc, char **argv)
{
	unsigned long times = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1, caught = 0;

	const struct rlimit most = { 1UL << 32, 1UL << 32 };

	setrlimit(RLIMIT_AS, &most);
	std::puts("ready");
	std::fflush(stdout);
	std::getchar();
	for (unsigned long i = 0; i < times; i++) {
		try {
			by_new(1UL << 46);
		} catch (const std::bad_alloc &) {
			caught++;
		}
	}
	std::printf("caught %lu\ndone\n", caught);
	std::fflush(stdout);
	while (std::getchar() != EOF)
		;
	return 0;
}
