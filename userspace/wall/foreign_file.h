/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files that other people put where they are, in place: brokers do that. Others ask for it, wall/wall.h.
 */
#ifndef HOSTPROF_WALL_FOREIGN_FILE_H
#define HOSTPROF_WALL_FOREIGN_FILE_H

#include <stdint.h>

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
 * The newest descriptor of process PID that is the memory file NAME (memfd_create(2)), for reading and writing. -ENODATA:
 * it has none.
 */
int foreign_file_open_memfd(uint32_t pid, const char *name);

#endif
