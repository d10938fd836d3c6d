/* SPDX-License-Identifier: Apache-2.0 */
/* A wall of this process's own, and its brokers. */
#ifndef HOSTPROF_TESTS_WALL_WORLD_H
#define HOSTPROF_TESTS_WALL_WORLD_H

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/rights.h"
#include "process_status.h"
#include "wall/wall.h"

#define NEVER_NS (4 * NSEC_PER_SEC)

static inline int with_wall(void **state)
{
	struct err err;

	(void)state;
	return wall_begin(NULL, NULL, &err);
}

static inline int without(void **state)
{
	(void)state;
	wall_end();
	return 0;
}

static inline pid_t find_parent(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read(path, 4096, &text) == 0)
		sscanf(strrchr(strbuf_str(&text), ')'), ") %*c %d", &parent);
	return parent;
}

static inline bool is_broker(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return file_read(path, 64, &text) == 0 &&
	       strcmp(strbuf_str(&text), "hostprof-broker\n") == 0;
}

/* Those of this process, at most MAX. */
static inline unsigned int find_brokers(pid_t *pids, unsigned int max)
{
	unsigned int count = 0;
	DIR *dir = opendir("/proc");

	for (struct dirent *d; (d = readdir(dir)) && count < max;) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		/* Between them are its nursery and that one's keeper. */
		if (pid && is_broker(pid) && find_parent(find_parent(find_parent(pid))) == getpid())
			pids[count++] = pid;
	}
	closedir(dir);
	return count;
}

/* So many, at last: on a busy host some take their time to come or to go. */
static inline void expect_brokers(pid_t *pids, unsigned int count)
{
	uint64_t end_ns = clock_now_ns() + 20 * NSEC_PER_SEC;

	while (find_brokers(pids, 4) != count && clock_now_ns() < end_ns)
		usleep(2000);
	assert_int_equal(find_brokers(pids, 4), count);
}

static inline int read_own(const void *from, void *to, size_t len)
{
	const struct wall_piece piece = { (uintptr_t)from, len };

	return (int)wall_read_memory((uint32_t)getpid(), &piece, 1, to);
}

#endif
