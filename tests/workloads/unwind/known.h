/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of this directory share. They are compiled without frame pointers and know the
 * exact list of frames that a profile of them must show; tests/root/known_stacks.py has these lists.
 * Every function that burns CPU is KNOWN, so that it is a frame of its own under its own name.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "../busy.h"

#include <stdio.h>
#include <stdlib.h>

#define KNOWN __attribute__((noipa))

static volatile uint64_t known_sink;

/* A leaf that calls nothing: some 100 us for 100,000 rounds. */
static inline void known_spin(uint64_t rounds)
{
	known_sink += xorshift(rounds);
}

/* SECONDS is the first argument of most programs: of this clock. */
static inline uint64_t known_end_of_ns(clockid_t id, int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	return clock_ns(id) + (uint64_t)(seconds * 1e9);
}

static inline uint64_t known_end_ns(int argc, char **argv)
{
	return known_end_of_ns(CLOCK_MONOTONIC, argc, argv);
}

static inline int known_goes_on(uint64_t end_ns)
{
	return clock_ns(CLOCK_MONOTONIC) < end_ns;
}

/* The program's own CPU clock: what a profile of it must add up to. */
static inline int known_done(void)
{
	printf("cpu_ns %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

#endif
