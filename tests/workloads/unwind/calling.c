/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: calling SECONDS
 * main -> call_all: nothing but calls through a lazily bound PLT, whose stubs have frames by
 * expression; main -> read_clock: nothing but the vDSO's clock_gettime.
 */
#include "known.h"

uint64_t tiny_one(uint64_t x);
uint64_t tiny_two(uint64_t x);

KNOWN static uint64_t call_all(void)
{
	uint64_t x = known_sink;

	for (int i = 0; i < 200000; i++)
		x += tiny_one(x) + tiny_two(x);
	return x;
}

KNOWN static uint64_t read_clock(void)
{
	uint64_t x = 0;

	for (int i = 0; i < 20000; i++)
		x += clock_ns(CLOCK_MONOTONIC);
	return x;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += call_all() + read_clock();
	return known_done();
}
