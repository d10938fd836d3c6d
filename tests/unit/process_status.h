/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of a process that a test has made. */
#ifndef HOSTPROF_TESTS_PROCESS_STATUS_H
#define HOSTPROF_TESTS_PROCESS_STATUS_H

#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/file.h"

/* A line of /proc/PID/status. */
static inline void read_status(pid_t pid, const char *key, char ret_value[128])
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64], line[32];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(line, sizeof(line), "\n%s:\t", key);
	ret_value[0] = '\0';
	if (file_read(path, 8192, &text) < 0)
		return;
	at = strstr(strbuf_str(&text), line);
	if (at)
		snprintf(ret_value, 128, "%.*s", (int)strcspn(at + strlen(line), "\n"),
			 at + strlen(line));
}

/* Its open descriptors; skips the test where they may not be looked at. */
static inline unsigned int count_fds(pid_t pid)
{
	unsigned int count = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		skip();
	for (struct dirent *d; (d = readdir(dir));)
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

#endif
