/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of `-p`: who of them has ended, as their pidfds say (man 2 pidfd_open). */
#ifndef HOSTPROF_CMD_DRIVE_TARGETS_H
#define HOSTPROF_CMD_DRIVE_TARGETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct targets {
	int *fds; /* owned; of each a pidfd, -1 when it has ended or cannot be watched */
	size_t count;
	size_t left;  /* that have not ended, as far as is known */
	int epoll_fd; /* owned; readable when one of them has ended */
};

#define TARGETS_INIT            \
	{                       \
		.epoll_fd = -1, \
	}

/* Watch these. One that cannot be watched is one that does not end. */
int targets_watch(struct targets *targets, const uint32_t *pids, size_t count, struct err *err);
/* Call it when `epoll_fd` is readable. How many are left? */
size_t targets_look(struct targets *targets);
void targets_release(struct targets *targets);

#endif
