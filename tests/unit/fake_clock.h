/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test is the clock: these take the place of the C library's functions, for the library under
 * test too. Time stands still but for fake_advance() and for who sleeps. Included once per test.
 */
#ifndef HOSTPROF_TESTS_FAKE_CLOCK_H
#define HOSTPROF_TESTS_FAKE_CLOCK_H

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t fake_ahead_ns; /* of the real clock at fake_begin() */
static uint64_t fake_begun_ns;
static uint64_t fake_slept_ns; /* by which CLOCK_BOOTTIME is ahead, more than the real one */

static inline uint64_t fake_real_ns(clockid_t id)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* From now on, so that what the kernel says of times (/proc/PID/stat) lies in the past. */
static inline void fake_begin(void)
{
	fake_begun_ns = fake_real_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&fake_ahead_ns, 0, __ATOMIC_RELAXED);
}

static inline void fake_advance(uint64_t ns)
{
	__atomic_fetch_add(&fake_ahead_ns, ns, __ATOMIC_RELAXED);
}

/* The wall clock is a million seconds ahead, others are as far as the real ones are. */
int clock_gettime(clockid_t id, struct timespec *ret)
{
	uint64_t ns = fake_begun_ns + __atomic_load_n(&fake_ahead_ns, __ATOMIC_RELAXED);
	uint64_t real_ns = fake_real_ns(CLOCK_MONOTONIC);

	if (id == CLOCK_REALTIME)
		ns += 1000000 * NSEC_PER_SEC;
	else if (id != CLOCK_MONOTONIC)
		ns += fake_real_ns(id) - real_ns;
	if (id == CLOCK_BOOTTIME)
		ns += fake_slept_ns;
	ret->tv_sec = (time_t)(ns / NSEC_PER_SEC);
	ret->tv_nsec = (long)(ns % NSEC_PER_SEC);
	return 0;
}

/* Workers go on meanwhile. */
int usleep(useconds_t us)
{
	const struct timespec moment = { .tv_nsec = 100000 };

	fake_advance(us * NSEC_PER_USEC);
	syscall(SYS_nanosleep, &moment, NULL);
	return 0;
}

#endif
