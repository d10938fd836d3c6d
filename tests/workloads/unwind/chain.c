/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: chain SECONDS
 * main -> chain_one -> chain_two -> chain_three, frames of several shapes: many saved registers, a
 * large one, none. Built dynamic, static, static-pie and stripped.
 */
#include "known.h"

KNOWN static uint64_t chain_three(uint64_t rounds)
{
	known_spin(rounds);
	return known_sink;
}

/* A frame of 3 pages, which the compiler probes page by page on the way in. */
KNOWN static uint64_t chain_two(uint64_t rounds)
{
	volatile char block[12000];

	block[rounds % sizeof(block)] = 1;
	return chain_three(rounds) + (uint64_t)block[rounds % sizeof(block)];
}

/* More values are alive across the calls than there are registers. */
KNOWN static uint64_t chain_one(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t v = chain_two(a * 1000), w = chain_two(b * 1000), x = chain_two(c * 1000);
	uint64_t y = chain_two(d * 1000);

	return v + 3 * w + 5 * x + 7 * y + a + b + c + d;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += chain_one(50, 1, 7, 100);
	return known_done();
}
