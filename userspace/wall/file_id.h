/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a descriptor leads to, and whether its content is what it was. A path says neither, nor
 * does an inode number alone: other file systems have the same ones, and the next file gets it anew.
 */
#ifndef HOSTPROF_WALL_FILE_ID_H
#define HOSTPROF_WALL_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_key.h"

struct file_id {
	uint32_t major, minor; /* of the file system, as stat() tells it */
	uint64_t inode;
	uint64_t size;
	/*
	 * Nanoseconds since 1970. `born_ns` is 0 where the file system does not keep it. Its owner can
	 * set `written_ns` to whatever he likes, but neither of the others.
	 */
	uint64_t born_ns, changed_ns, written_ns;
	uint32_t owner; /* user id */
	bool shared;	/* others than its owner may write it */
};

/*
 * Of FD, which may be opened with O_PATH. Attributes that a file system's server keeps (FUSE, NFS) are
 * not asked for again where the kernel has them. 0 or a negative errno.
 */
int file_id_read(int fd, struct file_id *ret_id);
/* Of what PATH leads to from the directory DIR, links followed; nothing is opened. */
int file_id_read_at(int dir, const char *path, struct file_id *ret_id);

/* One file whose content has not been touched in between: what was read of the one holds for the other. */
bool file_id_equal(const struct file_id *a, const struct file_id *b);

/*
 * One file that may have got another name, more links, or none: its inode has changed, and its content
 * has not, if its owner does not deceive. For those who only read on in what is theirs.
 */
bool file_id_same_file(const struct file_id *a, const struct file_id *b);

/* Is it the file that the kernel tells of a mapping by KEY? */
static inline bool file_id_has_key(const struct file_id *id, const struct file_key *key)
{
	return id->inode == key->inode && id->major == key->major && id->minor == key->minor;
}

/* A program serves the file (FUSE): attributes and bytes are what it says, each time that it is asked. */
bool file_id_is_served(int fd);

uint64_t file_id_hash(const struct file_id *id);

#endif
