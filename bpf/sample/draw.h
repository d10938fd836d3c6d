/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Chance. Sample points that lie at random on a thread's way of bytes, INTERVAL of them apart on average: the distance to the next
 * one is exponential, so that it does not matter what went before. There are no floating-point numbers here.
 */
#ifndef HOSTPROF_BPF_SAMPLE_DRAW_H
#define HOSTPROF_BPF_SAMPLE_DRAW_H

#include "wire.h"

/* With a chance of 2^-HALVED. RANDOM: any 32 bits. */
static inline bool draw_is_taken(wire_u32 halved, wire_u32 random)
{
	return !(random & ((1U << (halved & 31)) - 1));
}

/* Intervals are up to 2^30 (capture/event.h), doubled THIN_MOST_DOUBLED times. */
#define DRAW_MOST_INTERVAL (1ULL << 42)
/* Of the logarithm: its bits behind the point. */
#define DRAW_LOG_BITS 20
#define DRAW_LN_2     726817ULL /* of 2^20 */
/* A number of 32 bits is one in [1, 2) with so many behind the point. */
#define DRAW_ONE_BITS 31

/* The logarithm of VALUE to base 2, in 2^-DRAW_LOG_BITS. VALUE: 1 to 2^32. Digit by digit: squaring doubles it. */
static inline wire_u64 draw_log2(wire_u64 value)
{
	wire_u64 whole = 0, part = 0, x;

	if (value >> 32)
		return 32ULL << DRAW_LOG_BITS;
	for (wire_u32 bit = 16; bit; bit >>= 1)
		if (value >> (whole + bit))
			whole += bit;
	x = value << (DRAW_ONE_BITS - whole);
	for (wire_u32 i = 0; i < DRAW_LOG_BITS; i++) {
		x = x * x >> DRAW_ONE_BITS;
		part <<= 1;
		if (x >> (DRAW_ONE_BITS + 1)) {
			x >>= 1;
			part |= 1;
		}
	}
	return (whole << DRAW_LOG_BITS) + part;
}

/*
 * Whole bytes before the next sample point: -ln(u) times INTERVAL, rounded down, u in (0, 1] by RANDOM, any 32 bits. An
 * object of SIZE bytes holds the point when this is less than SIZE, and then what is behind the object begins anew.
 */
static inline wire_u64 draw_distance(wire_u64 interval, wire_u32 random)
{
	wire_u64 log = (32ULL << DRAW_LOG_BITS) - draw_log2((wire_u64)random + 1);
	/* Up to 22.2, with DRAW_LOG_BITS behind the point: 25 bits. */
	wire_u64 nats = log * DRAW_LN_2 >> DRAW_LOG_BITS;

	if (interval > DRAW_MOST_INTERVAL)
		interval = DRAW_MOST_INTERVAL;
	/* What has more than 38 bits loses those that do not matter. */
	if (interval >> 38)
		return (interval >> DRAW_LOG_BITS) * nats;
	return interval * nats >> DRAW_LOG_BITS;
}

#endif
