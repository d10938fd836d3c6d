/* SPDX-License-Identifier: Apache-2.0 */
/* What the records of one wait have in common. */
#ifndef HOSTPROF_SESSION_SPAN_KEY_H
#define HOSTPROF_SESSION_SPAN_KEY_H

#include <stdint.h>

/* Tids are below 2^22, and no thread leaves twice in a nanosecond. */
static inline uint64_t span_key(uint32_t tid, uint64_t time_ns)
{
	return time_ns ^ (uint64_t)tid << 42;
}

#endif
