/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_AGENT_FUTEX_H
#define HOSTPROF_AGENT_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Not the PRIVATE forms: hostprof wakes us through its own mapping of the word. */
static inline void futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	struct timespec ts = { (time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000) };

	syscall(SYS_futex, word, FUTEX_WAIT, expected, &ts, NULL, 0);
}

static inline void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
