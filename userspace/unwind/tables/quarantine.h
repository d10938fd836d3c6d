/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers may be in the middle of is written again only READERS_NS after it was given up. The
 * times that callers pass may be a little old (the beginning of their turn), the times of giving
 * up must not be.
 */
#ifndef HOSTPROF_UNWIND_TABLES_QUARANTINE_H
#define HOSTPROF_UNWIND_TABLES_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/macros.h"
#include "unwind/tables/table_memory.h"

/* When something begins to wait that is given up now. */
static inline uint64_t quarantine_begin(uint64_t now_ns)
{
	uint64_t clock_ns = clock_now_ns();

	return MAX(now_ns, clock_ns);
}

static inline bool quarantine_is_over(uint64_t begin_ns, uint64_t now_ns)
{
	return now_ns >= begin_ns + READERS_NS;
}

/* Sleep until it is over; the time it is then, on the caller's clock. */
static inline uint64_t quarantine_wait(uint64_t begin_ns, uint64_t now_ns)
{
	uint64_t end_ns = begin_ns + READERS_NS;
	struct timespec left;

	if (now_ns >= end_ns)
		return now_ns;
	left.tv_sec = 0;
	left.tv_nsec = (long)MIN(end_ns - now_ns, READERS_NS);
	while (nanosleep(&left, &left) < 0)
		;
	return end_ns;
}

#endif
