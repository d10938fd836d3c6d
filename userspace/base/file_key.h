/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a file's content, as the kernel tells it in mmap records and fstat(). */
#ifndef HOSTPROF_BASE_FILE_KEY_H
#define HOSTPROF_BASE_FILE_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct file_key {
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation; /* inode generation; 0 when unknown (from /proc/PID/maps) */
};

/* The generation does not count: not every source knows it. */
static inline bool file_key_same(const struct file_key *a, const struct file_key *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

#endif
