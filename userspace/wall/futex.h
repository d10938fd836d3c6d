/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a word of memory that two processes share: futex(2). */
#ifndef HOSTPROF_WALL_FUTEX_H
#define HOSTPROF_WALL_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* While *WORD is VALUE, at most TIMEOUT (NULL: for ever). 0, or -EAGAIN, -EINTR, -ETIMEDOUT. */
static inline int futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0) < 0 ? -errno : 0;
}

static inline void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
