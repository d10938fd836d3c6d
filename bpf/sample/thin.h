/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Fewer samples than calls. What stands for at least the interval is kept; of the others each is kept with the
 * chance that its weight has in the interval, and stands for all of it then. So sums are, on the average,
 * what they were. The interval doubles while there are more samples than a budget allows, of a JVM, or of native memory on a cpu.
 */
#ifndef HOSTPROF_BPF_SAMPLE_THIN_H
#define HOSTPROF_BPF_SAMPLE_THIN_H

#include "wire.h"

/* The budget is looked at this often. */
#define THIN_WINDOW_NS	 100000000ULL
#define THIN_WINDOW_MOST (WIRE_TLAB_BUDGET / 10)
/* Intervals are up to 2^30 bytes (capture/event.h); that times this is more than a heap. */
#define THIN_MOST_DOUBLED 12

/* The weight that a sample of WEIGHT has when it is kept, 0: it is not. RANDOM: any 32 bits. */
static inline wire_u64 thin_weight(wire_u64 weight, wire_u64 interval, wire_u32 random)
{
	wire_u64 of = interval, share = weight;

	if (weight >= interval)
		return weight;
	/* Both sides of the comparison stay below 2^64. */
	if (of >> 32) {
		of >>= THIN_MOST_DOUBLED;
		share >>= THIN_MOST_DOUBLED;
	}
	return random * of < share << 32 ? interval : 0;
}

/* A sample was kept: is that too many, of MOST in a window? */
static inline void thin_count_of(struct wire_pace *pace, wire_u64 now_ns, wire_u32 most)
{
	if (now_ns - pace->window_ns >= THIN_WINDOW_NS) {
		if (pace->taken < most / 4 && pace->doubled)
			pace->doubled--;
		pace->window_ns = now_ns;
		pace->taken = 0;
	}
	if (++pace->taken < most)
		return;
	if (pace->doubled < THIN_MOST_DOUBLED)
		pace->doubled++;
	pace->taken = 0;
}

static inline void thin_count(struct wire_pace *pace, wire_u64 now_ns)
{
	thin_count_of(pace, now_ns, THIN_WINDOW_MOST);
}

#endif
