/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a thread that are read and told; times are in milliseconds here. Included once per test. */
#ifndef HOSTPROF_TESTS_NAMES_BY_TIME_H
#define HOSTPROF_TESTS_NAMES_BY_TIME_H

#include "test.h"

#include "base/clock.h"
#include "jvm/heap/thread_names.h"

#define TID	7
#define JAVA_ID 70

static inline uint64_t at(uint64_t ms)
{
	return ms * NSEC_PER_MSEC;
}

/* A reading takes half a millisecond. */
static inline void read_of(struct thread_names *names, uint32_t tid, uint64_t ms, const char *name)
{
	const struct thread_reading reading = { at(ms), at(ms) + at(1) / 2, name, JAVA_ID };

	thread_names_add(names, tid, &reading);
}

static inline void read_at(struct thread_names *names, uint64_t ms, const char *name)
{
	read_of(names, TID, ms, name);
}

static inline void comm_at(struct thread_names *names, uint64_t ms)
{
	thread_names_mark(names, TID, THREAD_COMM, at(ms));
}

static inline void begin_at(struct thread_names *names, uint64_t ms)
{
	thread_names_mark(names, TID, THREAD_BEGINS, at(ms));
}

static inline void expect_name(const struct thread_names *names, uint64_t ms, const char *name)
{
	uint64_t id = 0;
	const char *found = thread_names_find(names, TID, at(ms), &id);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(id, JAVA_ID);
}

#endif
