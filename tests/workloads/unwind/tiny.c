/* SPDX-License-Identifier: Apache-2.0 */
/* The library whose functions calling.c calls through its PLT. */
#include <stdint.h>

uint64_t tiny_one(uint64_t x);
uint64_t tiny_two(uint64_t x);

uint64_t tiny_one(uint64_t x)
{
	return x + 1;
}

uint64_t tiny_two(uint64_t x)
{
	return tiny_one(x) * 3;
}
