// SPDX-License-Identifier: Apache-2.0
#include "elf/debug/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "elf/reader/reader.h"
#include "wall/wall.h"

#define DEBUG_ROOT "/usr/lib/debug"
/* A checksum over more than this costs more time than its symbols are worth. */
#define MAX_CRC_BYTES (1ULL << 30)

static bool may_speak(int fd, const struct file_id *for_all)
{
	struct file_id id;

	if (!for_all)
		return true;
	if (file_id_read(fd, &id) < 0 || file_id_is_served(fd))
		return false;
	return (id.owner == 0 && !id.shared) ||
	       (id.owner == for_all->owner && (!id.shared || for_all->shared));
}

/* The reader of FOR_ALL has it open, and is asked: whoever made the debug file, it will speak for that file only. */
static bool has_build_id(int fd, const struct file_id *for_all, const char *build_id)
{
	char its_id[BUILD_ID_BYTES];
	struct file_id id;

	return file_id_read(fd, &id) == 0 &&
	       reader_build_id(fd, reader_owner(for_all ? for_all : &id), its_id) == 0 &&
	       strcmp(its_id, build_id) == 0;
}

/* The checksum of .gnu_debuglink is zlib's CRC-32 of the whole debug file. */
static bool has_crc(int fd, uint32_t crc)
{
	static const size_t size = 256UL * 1024;
	_cleanup_free_ unsigned char *buffer = xmalloc(size);
	uLong sum = crc32(0, NULL, 0);
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buffer, size, (off_t)at)) > 0 && at < MAX_CRC_BYTES) {
		sum = crc32(sum, buffer, (uInt)n);
		at += (uint64_t)n;
	}
	return n == 0 && sum == crc;
}

static int open_by_build_id(const struct file_id *for_all, uint32_t pid, const char *build_id)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (strlen(build_id) < 4)
		return -ENODATA;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	fd = wall_open_in_root(pid, path, 0);
	return fd >= 0 && may_speak(fd, for_all) && has_build_id(fd, for_all, build_id)
		       ? TAKE_FD(fd)
		       : -ENODATA;
}

/* A process that is gone has no root any more; what is found in ours is checked all the same. */
static int open_in_either_root(uint32_t pid, const char *path)
{
	int fd = wall_open_in_root(pid, path, 0);

	return fd < 0 && pid != 0 ? wall_open_in_root(0, path, 0) : fd;
}

static bool fits(int fd, const struct file_id *for_all, const char *build_id, uint32_t crc)
{
	return (build_id[0] && has_build_id(fd, for_all, build_id)) || has_crc(fd, crc);
}

static int open_by_link(const struct debug_link *link, const struct file_id *for_all, uint32_t pid,
			const char *path)
{
	static const char *const places[] = { "%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s" };
	const char *slash = strrchr(path, '/');
	char candidate[PATH_MAX];

	if (!slash || !link->name[0] || strchr(link->name, '/'))
		return -ENODATA;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_close_ int fd = -1;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(candidate, sizeof(candidate), places[i], (int)(slash - path), path,
			 link->name);
#pragma GCC diagnostic pop
		if (strcmp(candidate, path) == 0)
			continue;
		fd = open_in_either_root(pid, candidate);
		if (fd >= 0 && may_speak(fd, for_all) &&
		    fits(fd, for_all, link->build_id, link->crc))
			return TAKE_FD(fd);
	}
	return -ENODATA;
}

int debug_file_open(const struct debug_link *link, const struct file_id *for_all, uint32_t pid,
		    const char *path)
{
	int fd = open_by_build_id(for_all, 0, link->build_id);

	if (fd < 0 && pid != 0)
		fd = open_by_build_id(for_all, pid, link->build_id);
	return fd < 0 ? open_by_link(link, for_all, pid, path) : fd;
}
