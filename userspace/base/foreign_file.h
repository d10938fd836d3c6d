/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files that other people put where they are. */
#ifndef HOSTPROF_BASE_FOREIGN_FILE_H
#define HOSTPROF_BASE_FOREIGN_FILE_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

/*
 * For reading, never blocking. What PATH leads to is looked at before it is opened, since opening a
 * device or a pipe has effects: only a regular file is opened, and none that the kernel makes up
 * (/proc, /sys, …), whose reads may wait for ever. Returns a descriptor or a negative errno; -EINVAL:
 * there is something, but no such file.
 */

/* Follows links, also the kernel's own: /proc/PID/exe, /proc/PID/map_files/…. */
int foreign_file_open(const char *path);

/*
 * PATH (absolute) as process PID sees it, 0: we ourselves. Symbolic links stay within its root.
 * FLAGS: 0, or O_NOFOLLOW for a file that must not be a link itself.
 */
int foreign_file_open_in_root(uint32_t pid, const char *path, int flags);

/*
 * The same in two steps: what is there, found without opening it (O_PATH), to be looked at and closed by the
 * caller; and that very file opened. -EINVAL as above comes from either.
 */
int foreign_file_find(const char *path);
int foreign_file_find_in_root(uint32_t pid, const char *path, int flags);
int foreign_file_reopen(int path_fd);

#define FOREIGN_FILE_LINK_BYTES 96

/*
 * By this link the kernel gives the very file behind a mapping, whatever is at its path now and in which
 * mount namespace; to follow it takes a capability (proc_map_files_get_link() in fs/proc/base.c).
 */
static inline void foreign_file_link(uint32_t pid, uint64_t start, uint64_t end,
				     char ret_link[FOREIGN_FILE_LINK_BYTES])
{
	snprintf(ret_link, FOREIGN_FILE_LINK_BYTES, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid,
		 start, end);
}

#endif
