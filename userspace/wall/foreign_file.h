/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and opening files that other people put where they are, in place: brokers do that. Others ask for it
 * through wall/wall.h.
 */
#ifndef HOSTPROF_WALL_FOREIGN_FILE_H
#define HOSTPROF_WALL_FOREIGN_FILE_H

#include <stdint.h>

#include "wall/file_id.h"

enum foreign_kind {
	FOREIGN_LOCAL, /* of a disk or of memory: who opens it and reads it comes back */
	FOREIGN_SERVED, /* of a server (FUSE, a network), which may never answer: only copies are read */
};

struct foreign_file {
	int fd; /* owned; O_PATH */
	enum foreign_kind kind;
	struct file_id id;
};

/*
 * What PATH leads to is looked at before it is opened, since opening a device or a pipe has effects: only a
 * regular file is found, on a file system that is known to have such; never one that the kernel makes up (/proc,
 * /sys, …), whose reads may wait for ever. 0 or a negative errno; -EINVAL: there is something, but no such file.
 *
 * Of process PID (0: ours); follows links, also the kernel's own: /proc/PID/exe, /proc/PID/map_files/….
 */
int foreign_file_find(uint32_t pid, const char *path, struct foreign_file *ret_file);

/*
 * PATH (absolute) as process PID sees it, 0: we ourselves. Symbolic links stay within its root.
 * FLAGS: 0, or O_NOFOLLOW for a file that must not be a link itself.
 */
int foreign_file_find_in_root(uint32_t pid, const char *path, int flags,
			      struct foreign_file *ret_file);

/* Which file PATH leads to, whatever it is; as the two above. Never asks who serves it. */
int foreign_file_look(const char *path, struct file_id *ret_id);
int foreign_file_look_in_root(uint32_t pid, const char *path, struct file_id *ret_id);

/* The very file that was found, opened for reading, never blocking. A descriptor or a negative errno. */
int foreign_file_reopen(int path_fd);

/* The size of a browser with its symbols, which no server has. */
#define FOREIGN_FILE_MAX_COPY (64ULL << 20)

/* Its bytes in a memory file that nobody changes any more; -E2BIG. */
int foreign_file_copy(int path_fd);

/*
 * The newest descriptor of process PID that is the memory file NAME (memfd_create(2)), for reading and
 * writing. -ENODATA: it has none.
 */
int foreign_file_open_memfd(uint32_t pid, const char *name);

#endif
