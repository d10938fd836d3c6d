/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: realigned SECONDS
 * main -> aligned_one -> aligned_two -> plain -> aligned_leaf. The aligned functions hold 32-byte
 * aligned values and take memory with alloca(): their CFA is a word of the stack (a DRAP), said by
 * an expression. The leaf is itself such a function, so that its prologue is sampled.
 */
#include "known.h"

#include <alloca.h>
#include <string.h>

typedef uint64_t wide __attribute__((vector_size(32), aligned(32)));

KNOWN static void use(volatile wide *value, volatile char *block)
{
	(*value)[1] += (uint64_t)block[0];
}

KNOWN static uint64_t aligned_leaf(uint64_t n)
{
	volatile wide value = { n, n + 1, n + 2, n + 3 };
	volatile char *block = alloca(64 + n % 512);

	block[0] = (char)n;
	use(&value, block);
	known_spin(n);
	return value[1];
}

KNOWN static uint64_t plain(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 2000; i++)
		sum += aligned_leaf(i % 32);
	return sum + aligned_leaf(n);
}

KNOWN static uint64_t aligned_two(uint64_t n, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				  uint64_t e, uint64_t on_stack)
{
	volatile wide value = { n, a, b, c };
	volatile char *block = alloca(16 + n % 4096);

	block[0] = (char)(d + e);
	use(&value, block);
	return plain(n) + value[1] + on_stack;
}

KNOWN static uint64_t aligned_one(uint64_t n)
{
	volatile wide value = { n, n, n, n };

	return aligned_two(n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6) + value[0];
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += aligned_one(100000);
	return known_done();
}
