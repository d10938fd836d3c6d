/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's sources, compiled into the test, with a clock and a kernel of the test's, and what their probes were told. Included by
 * fake_jvmti.h.
 */
#ifndef HOSTPROF_TESTS_FAKE_AGENT_H
#define HOSTPROF_TESTS_FAKE_AGENT_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The agent's clock is the test's: ours, and what a test lets pass. */
static uint64_t fake_passed_ns;

static int fake_clock(clockid_t id, struct timespec *ret)
{
	uint64_t ns;

	clock_gettime(id, ret);
	ns = (uint64_t)ret->tv_sec * 1000000000 + (uint64_t)ret->tv_nsec + fake_passed_ns;
	ret->tv_sec = (time_t)(ns / 1000000000);
	ret->tv_nsec = (long)(ns % 1000000000);
	return 0;
}

/* Who sleeps lets time pass. */
static int fake_nanosleep(const struct timespec *time, struct timespec *rest)
{
	const struct timespec moment = { 0, 100000 };

	(void)rest;
	__atomic_fetch_add(&fake_passed_ns,
			   (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec,
			   __ATOMIC_SEQ_CST);
	return nanosleep(&moment, NULL);
}

#include "fake_agent_os.h"
#define clock_gettime fake_clock
#define nanosleep     fake_nanosleep
#include "agent.c"
#include "alloc.c"
#include "classes.c"
#undef clock_gettime
#undef nanosleep
#include "code.c"
#define nanosleep fake_control_sleep
#include "control.c"
#undef nanosleep
#include "events.c"
#include "live.c"
#include "locks.c"
#include "methods.c"
#include "ring.c"
#include "threads.c"
#undef mmap
#undef madvise
#undef ftruncate
#undef fallocate
#undef syscall

/* What the agent's probe was told last, and how often it was hit. */
static struct {
	uint64_t class_id, size, interval, object_id;
	uint32_t hits;
} fake_hit;

void hostprof_alloc(uint64_t class_id, uint64_t size, uint64_t interval, uint64_t object_id)
{
	fake_hit.class_id = class_id;
	fake_hit.size = size;
	fake_hit.interval = interval;
	fake_hit.object_id = object_id;
	fake_hit.hits++;
}

static struct {
	uint64_t class_id, length_ns, chance, identity, kind, begin_ns;
	uint64_t sum_ns; /* of lengths times chances */
	uint32_t hits;
	/* hostprof_lock_begin() */
	uint64_t begun_ns;
	uint32_t begins;
} fake_lock;

void hostprof_lock_begin(uint64_t begin_ns)
{
	fake_lock.begun_ns = begin_ns;
	fake_lock.begins++;
}

void hostprof_lock(uint64_t class_id, uint64_t length_ns, uint64_t chance, uint64_t identity,
		   uint64_t kind, uint64_t begin_ns)
{
	fake_lock.begin_ns = begin_ns;
	fake_lock.class_id = class_id;
	fake_lock.length_ns = length_ns;
	fake_lock.chance = chance;
	fake_lock.identity = identity;
	fake_lock.kind = kind;
	fake_lock.sum_ns += length_ns * chance;
	fake_lock.hits++;
}

#endif
