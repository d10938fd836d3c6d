// SPDX-License-Identifier: Apache-2.0
#include "wall/file_id.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/clock.h"
#include "base/hmap.h"

static uint64_t to_ns(const struct statx_timestamp *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + time->tv_nsec;
}

static int read_at(int dir, const char *path, int flags, struct file_id *ret_id)
{
	struct statx sx;

	if (statx(dir, path, flags | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  STATX_BASIC_STATS | STATX_BTIME, &sx) < 0)
		return -errno;
	*ret_id = (struct file_id){
		.major = sx.stx_dev_major,
		.minor = sx.stx_dev_minor,
		.inode = sx.stx_ino,
		.size = sx.stx_size,
		.born_ns = sx.stx_mask & STATX_BTIME ? to_ns(&sx.stx_btime) : 0,
		.changed_ns = to_ns(&sx.stx_ctime),
		.written_ns = to_ns(&sx.stx_mtime),
		.owner = sx.stx_uid,
		.shared = sx.stx_mode & (S_IWGRP | S_IWOTH),
	};
	return 0;
}

int file_id_read(int fd, struct file_id *ret_id)
{
	return read_at(fd, "", AT_EMPTY_PATH, ret_id);
}

int file_id_read_at(int dir, const char *path, struct file_id *ret_id)
{
	return read_at(dir, path, 0, ret_id);
}

bool file_id_same_file(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
	       a->size == b->size && a->born_ns == b->born_ns && a->written_ns == b->written_ns;
}

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return file_id_same_file(a, b) && a->changed_ns == b->changed_ns;
}

bool file_id_is_served(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC;
}

uint64_t file_id_hash(const struct file_id *id)
{
	const uint64_t parts[] = { (uint64_t)id->major << 32 | id->minor, id->inode };

	return hash_bytes(parts, sizeof(parts));
}
