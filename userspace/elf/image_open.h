/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the file behind a mapping of a process. */
#ifndef HOSTPROF_ELF_IMAGE_OPEN_H
#define HOSTPROF_ELF_IMAGE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_key.h"
#include "wall/foreign_file.h"

struct image_file {
	struct foreign_file found; /* its descriptor is owned */
	bool certain;		   /* its device and inode are those of the key */
};

/*
 * The file that is mapped at start..end of PID, found but not opened; 0 or a negative errno. Who is not
 * `certain` is the file for that process alone: it is what the process shows under that name.
 */
int image_find_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path, struct image_file *ret_file);

/*
 * The same file, looked at only. -ESTALE: who finds it may be able to tell; any other errno: nobody finds it.
 */
int image_look(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
	       const char *path, struct file_id *ret_id);

/* The same opened; a descriptor, or a negative errno. */
int image_open_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path);

/*
 * Where device numbers of stat() are others than the kernel's records have (overlayfs, btrfs), a mapping
 * of our own tells which they are. FD is open for reading.
 */
bool image_file_has_key(int fd, const struct file_key *key);

/* What such an errno means for who reads of it. */
const char *image_open_failure(int error);

#endif
