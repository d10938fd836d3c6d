/* SPDX-License-Identifier: Apache-2.0 */
/* One clock everywhere: CLOCK_MONOTONIC, in nanoseconds. */
#ifndef HOSTPROF_BASE_CLOCK_H
#define HOSTPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/* How long the host has been suspended since it was booted. */
static inline uint64_t clock_suspended_ns(void)
{
	uint64_t now_ns, boot_ns;
	unsigned int tries = 0;

	/* Who loses the cpu between the clocks sees no suspend. */
	do {
		now_ns = clock_now_ns();
		boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	} while (clock_now_ns() - now_ns > NSEC_PER_MSEC && ++tries < 10);
	return boot_ns - now_ns;
}

#endif
