// SPDX-License-Identifier: Apache-2.0
// usage: throwing SECONDS
// main -> catcher -> level_one -> level_two -> thrower, which throws; level_two has something to
// destroy on the way. The unwinder of libgcc is on the stack most of the time.
#include "known.h"

struct guard {
	explicit guard(uint64_t rounds) : rounds(rounds) {}
	__attribute__((noipa)) ~guard() { known_spin(rounds); }
	uint64_t rounds;
};

KNOWN static void thrower(uint64_t n)
{
	known_spin(n * 100);
	if (n % 16)
		throw n;
}

KNOWN static void level_two(uint64_t n)
{
	guard g(n * 10);

	thrower(n);
	known_sink = known_sink + 1;
}

KNOWN static void level_one(uint64_t n)
{
	level_two(n);
	known_sink = known_sink + 1;
}

KNOWN static void catcher(uint64_t n)
{
	try {
		level_one(n);
	} catch (uint64_t value) {
		known_spin(value * 10);
	}
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		for (uint64_t n = 1; n < 50; n++)
			catcher(n);
	return known_done();
}
