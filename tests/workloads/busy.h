/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that compute share: clocks, and what they compute. */
#ifndef BUSY_H
#define BUSY_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Calls nothing, and is no frame of its own: some 100 us for 100,000 rounds. What it returns must be used. */
static inline __attribute__((always_inline)) uint64_t xorshift(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

#endif
