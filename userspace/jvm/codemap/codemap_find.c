/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/codemap_find.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "codemap.h"
#include "process/proc.h"
#include "wall/wall.h"

/* A child that the JVM forked holds the descriptor, too, until it closes it or execs. */
static bool is_owner(int fd, uint32_t pid)
{
	struct proc_status status;
	uint32_t ns_pid;

	if (file_pread_full(fd, &ns_pid, sizeof(ns_pid), offsetof(struct codemap_header, ns_pid)))
		return true; /* the reader says what is wrong with it */
	return proc_read_status(pid, &status) < 0 || status.ns_pid == ns_pid;
}

int codemap_find_fd(uint32_t pid, struct err *err)
{
	int fd = wall_open_memfd(pid, CODEMAP_MEMFD_NAME);

	if (fd >= 0 && !is_owner(fd, pid)) {
		close(fd);
		fd = -ENODATA;
	}
	if (fd == -ENODATA)
		return err_set(err, fd, "no hostprof agent is loaded in process %u", pid);
	if (fd < 0)
		return err_sys(err, fd, "cannot open the code map of process %u", pid);
	return fd;
}

int64_t codemap_parse_timens(const char *text, size_t len)
{
	char copy[256];
	const char *line;
	char *end;
	long sec, nsec;

	len = MIN(len, sizeof(copy) - 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	line = strstr(copy, "monotonic");
	if (!line)
		return 0;
	sec = strtol(line + strlen("monotonic"), &end, 10);
	nsec = strtol(end, NULL, 10);
	/* The kernel refuses more than 146 years, kernel/time/namespace.c; so nothing overflows. */
	if (sec > INT32_MAX || sec < INT32_MIN || nsec < 0 || nsec > 999999999)
		return 0;
	return sec * 1000000000 + nsec;
}

static bool same_time_namespace(uint32_t pid)
{
	char path[40], theirs[64], ours[64] = "";

	/* "time:[4026531834]" */
	snprintf(path, sizeof(path), "/proc/%u/ns/time", pid);
	if (wall_read_link(pid, path, theirs, sizeof(theirs)) < 0 ||
	    readlink("/proc/self/ns/time", ours, sizeof(ours) - 1) < 0)
		return true;
	return strcmp(theirs, ours) == 0;
}

static int64_t read_offset(const char *pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", pid);
	if (file_read(path, 4096, &text))
		return 0;
	return codemap_parse_timens(strbuf_str(&text), text.len);
}

int64_t codemap_clock_offset_ns(uint32_t pid)
{
	char name[16];

	if (same_time_namespace(pid))
		return 0;
	snprintf(name, sizeof(name), "%u", pid);
	return read_offset(name) - read_offset("self");
}
