/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a file's content, as the kernel tells it in mmap records and fstat(). */
#ifndef HOSTPROF_BASE_FILE_KEY_H
#define HOSTPROF_BASE_FILE_KEY_H

#include <stdint.h>

struct file_key {
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation; /* inode generation; 0 when unknown (from /proc/PID/maps) */
};

#endif
