// SPDX-License-Identifier: Apache-2.0
/*
 * The surest way to a mapped file is /proc/PID/map_files: the kernel gives the very file, deleted
 * or replaced or not. It needs CAP_CHECKPOINT_RESTORE, a live process and the exact range, so
 * there are others, and what they find must prove to be the same file.
 */
#include "elf/image_open.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "base/file.h"
#include "wall/wall.h"
#include "elf/elf_file.h"

#define DELETED " (deleted)"
/* Own uprobes put one-byte breakpoints into text. */
#define MAX_PATCHED_BYTES 16
#define PAGE		  4096ULL

/* --- is it the same file? --- */

enum match { MATCH_NONE, MATCH_INODE, MATCH_FULL };

/* On overlayfs and btrfs fstat() gives another device than the kernel's records do. */
static enum match match_key(int fd, const struct file_key *key)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_ino != key->inode)
		return MATCH_NONE;
	return major(st.st_dev) == key->major && minor(st.st_dev) == key->minor ? MATCH_FULL
										: MATCH_INODE;
}

/* Compares one page of the process with one of the file. */
static bool same_page(int fd, uint64_t offset, uint32_t pid, uint64_t address)
{
	unsigned char in_file[PAGE], in_memory[PAGE];
	const struct wall_piece piece = { address, PAGE };
	unsigned int differing = 0;

	if (file_pread_full(fd, in_file, PAGE, (off_t)offset) < 0 ||
	    wall_read_memory(pid, &piece, 1, in_memory) != (int64_t)PAGE)
		return false;
	for (size_t i = 0; i < PAGE; i++)
		differing += in_file[i] != in_memory[i];
	return differing <= MAX_PATCHED_BYTES;
}

/* Does an executable segment of the file fit the mapping, and is its text what is mapped? */
static bool same_text(int fd, uint32_t pid, uint64_t start, uint64_t end)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_segment *segments;
	struct err err;
	int count;

	if (elf_file_open(fd, &file, &err) < 0)
		return false;
	count = elf_file_segments(file, &segments);
	for (int i = 0; i < count; i++) {
		uint64_t first = segments[i].offset & ~(PAGE - 1);
		uint64_t pages = (segments[i].offset + segments[i].file_size - first) / PAGE;

		/* the last page may be shared with data that differs: leave it out */
		if (!(segments[i].flags & 1) || pages == 0 || pages > (end - start) / PAGE ||
		    pages + 1 < (end - start) / PAGE)
			continue;
		if (same_page(fd, first, pid, start) &&
		    same_page(fd, first + pages / 2 * PAGE, pid, start + pages / 2 * PAGE) &&
		    same_page(fd, first + (pages - 1) * PAGE, pid, start + (pages - 1) * PAGE))
			return true;
	}
	return false;
}

/* --- the ways --- */

struct request {
	const struct file_key *key;
	const char *path; /* without " (deleted)" */
	uint64_t start, end;
	uint32_t pid;
};

static bool link_names_path(const char *link, const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	size_t path_len = strlen(path);

	if (len < 0)
		return false;
	target[len] = '\0';
	return strncmp(target, path, path_len) == 0 &&
	       (target[path_len] == '\0' || strcmp(target + path_len, DELETED) == 0);
}

static int open_map_file(const struct request *request)
{
	_cleanup_close_ int fd = -1;
	char link[WALL_LINK_BYTES];

	wall_link(request->pid, request->start, request->end, link);
	fd = wall_open(request->pid, link);
	if (fd < 0)
		return fd;
	if (match_key(fd, request->key) == MATCH_NONE && !link_names_path(link, request->path))
		return -ESTALE;
	return TAKE_FD(fd);
}

static int open_in_root(const struct request *request)
{
	_cleanup_close_ int fd = wall_open_in_root(request->pid, request->path, 0);

	if (fd < 0)
		return fd;
	if (match_key(fd, request->key) == MATCH_NONE &&
	    !same_text(fd, request->pid, request->start, request->end))
		return -ESTALE;
	return TAKE_FD(fd);
}

static int open_exe(const struct request *request)
{
	_cleanup_close_ int fd = -1;
	char link[64];

	snprintf(link, sizeof(link), "/proc/%u/exe", request->pid);
	fd = wall_open(request->pid, link);
	if (fd < 0)
		return fd;
	return match_key(fd, request->key) == MATCH_NONE ? -ENOENT : TAKE_FD(fd);
}

/* The process is gone; its file may still be there. */
static int open_by_path(const struct request *request)
{
	_cleanup_close_ int fd = wall_open_in_root(0, request->path, 0);

	if (fd < 0)
		return fd;
	return match_key(fd, request->key) == MATCH_FULL ? TAKE_FD(fd) : -ESTALE;
}

static size_t length_without_deleted(const char *path)
{
	size_t len = strlen(path), suffix = strlen(DELETED);

	return len > suffix && strcmp(path + len - suffix, DELETED) == 0 ? len - suffix : len;
}

int image_open_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path)
{
	static int (*const ways[])(const struct request *request) = { open_map_file, open_in_root,
								      open_exe, open_by_path };
	_cleanup_free_ char *plain = xstrndup(path, length_without_deleted(path));
	struct request request = { key, plain, start, end, pid };
	int fd = -ENOENT, first_error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ways) && fd < 0; i++) {
		fd = ways[i](&request);
		/* "another file is there now" and "not permitted" say more than "not found" */
		if (fd < 0 && (first_error == 0 || first_error == -ENOENT))
			first_error = fd;
	}
	return fd < 0 ? first_error : fd;
}
