/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal to write to, and what was written to it. Included once per test. */
#ifndef HOSTPROF_TESTS_TERMINAL_H
#define HOSTPROF_TESTS_TERMINAL_H

#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int terminal_master = -1;

/* The side that programs write to; the other one stays open until the process ends. */
static inline int terminal_open(void)
{
	int fd;

	terminal_master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(terminal_master >= 0);
	assert_int_equal(grantpt(terminal_master), 0);
	assert_int_equal(unlockpt(terminal_master), 0);
	fd = open(ptsname(terminal_master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

#endif
