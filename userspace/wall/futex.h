/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a word of memory that two processes share: futex(2). */
#ifndef HOSTPROF_WALL_FUTEX_H
#define HOSTPROF_WALL_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* While *WORD is VALUE, at most TIMEOUT (NULL: for ever). 0, or -EAGAIN, -EINTR, -ETIMEDOUT. */
static inline int futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0) < 0 ? -errno : 0;
}

/*
 * For SPIN_NS, without sleeping: who answers on another cpu does so sooner than one can be woken. False: *WORD is still
 * VALUE. *IN_VAIN (NULL: nobody) says that it will be for a while.
 */
static inline bool futex_spin(_Atomic uint32_t *word, uint32_t value, uint64_t spin_ns,
			      const _Atomic uint32_t *in_vain)
{
	uint64_t end_ns = clock_now_ns() + spin_ns;

	while (spin_ns && clock_now_ns() < end_ns && !(in_vain && atomic_load(in_vain))) {
		for (int i = 0; i < 16; i++)
			__builtin_ia32_pause();
		if (atomic_load(word) != value)
			return true;
	}
	return false;
}

/* As futex_wait(); SLEEPS says that one has to be woken. */
static inline int futex_sleep(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleeps,
			      const struct timespec *timeout)
{
	int r = 0;

	atomic_store(sleeps, 1);
	if (atomic_load(word) == value)
		r = futex_wait(word, value, timeout);
	atomic_store(sleeps, 0);
	return r;
}

/*
 * For who has waited so long in turns of up to MOST_NS, of which SPIN_NS was the last: how long to wait awake the next time. Calls come in
 * rows or alone; after one that came alone it is a while to the next.
 */
static inline uint64_t futex_next_spin_ns(uint64_t spin_ns, uint64_t waited_ns, uint64_t most_ns)
{
	uint64_t least_ns = most_ns / 8;

	if (waited_ns <= most_ns)
		return most_ns;
	return spin_ns / 2 > least_ns ? spin_ns / 2 : least_ns;
}

static inline void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
