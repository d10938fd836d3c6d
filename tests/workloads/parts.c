// SPDX-License-Identifier: Apache-2.0
/*
 * Spends its time evenly in forty functions, and in the part of each that the compiler puts apart (.cold): parts SECONDS.
 * None of them calls another, so that each is a leaf.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* A millisecond or so; a function that read the clock would be a leaf of its own. */
#define ROUNDS 500000

/* Who calls it is on a path that is hardly ever taken. */
static __attribute__((noinline, cold)) void rarely(void)
{
	__asm__ volatile("");
}

#define FUNCTION(n)                                                              \
	static __attribute__((noinline)) uint64_t part_##n(uint64_t x, int rare) \
	{                                                                        \
		for (int i = 0; i < ROUNDS; i++)                                 \
			x = x * (2 * (n) + 3) + (x >> 7);                        \
		if (rare) {                                                      \
			rarely();                                                \
			for (int i = 0; i < ROUNDS; i++)                         \
				x = x * (2 * (n) + 5) + (x >> 9);                \
		}                                                                \
		return x;                                                        \
	}

#define TEN(f, t) f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7) f(t##8) f(t##9)
#define FORTY(f)  TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4)

FORTY(FUNCTION)

#define NAME(n) part_##n,

int main(int argc, char **argv)
{
	static uint64_t (*const parts[])(uint64_t, int) = { FORTY(NAME) };
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	uint64_t x = (uint64_t)argc;

	/* On a busy machine, too, each part is met. */
	for (int round = 0; round < 20 || time(NULL) < end; round++)
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			x = parts[i](x, 1);
	return x == 1;
}
