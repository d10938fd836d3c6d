// SPDX-License-Identifier: Apache-2.0
/*
 * The surest way to a mapped file is /proc/PID/map_files: the kernel gives the very file, deleted
 * or replaced or not. It needs CAP_CHECKPOINT_RESTORE, a live process and the exact range, so
 * there are others, and what they find must prove to be the same file.
 */
#include "elf/image_open.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/file.h"
#include "elf/reader/reader_file.h"
#include "wall/wall.h"

#define DELETED " (deleted)"
/* Own uprobes put one-byte breakpoints into text. */
#define MAX_PATCHED_BYTES 16
#define PAGE		  4096ULL

/* --- is it the same file? --- */

enum match { MATCH_NONE, MATCH_INODE, MATCH_FULL };

/* On overlayfs and btrfs fstat() gives another device than the kernel's records do. */
static enum match match_key(const struct file_id *id, const struct file_key *key)
{
	if (id->inode != key->inode)
		return MATCH_NONE;
	return id->major == key->major && id->minor == key->minor ? MATCH_FULL : MATCH_INODE;
}

/* 65,530 mappings (vm.max_map_count), as in those of others. */
#define MAX_OWN_MAPS_BYTES (16U << 20)

/* The line of our own mappings that begins at START. */
static const char *find_own_line(const struct strbuf *maps, const void *start)
{
	char text[32];
	const char *at;

	snprintf(text, sizeof(text), "\n%" PRIxPTR "-", (uintptr_t)start);
	at = strstr(strbuf_str(maps), text);
	return at ? at + 1 : NULL;
}

/* The kernel names a mapped file in our mappings as it does in everybody's. */
bool image_file_has_key(int fd, const struct file_key *key)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	void *start = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned int device_major, device_minor;
	const char *line = NULL;
	uint64_t inode;

	if (start == MAP_FAILED)
		return false;
	if (file_read("/proc/self/maps", MAX_OWN_MAPS_BYTES, &maps) == 0)
		line = find_own_line(&maps, start);
	munmap(start, PAGE);
	return line &&
	       sscanf(line, "%*x-%*x %*s %*x %x:%x %" SCNu64, &device_major, &device_minor,
		      &inode) == 3 &&
	       device_major == key->major && device_minor == key->minor && inode == key->inode;
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

/* Is the text of SEGMENT what is mapped? */
static bool is_mapped(int fd, const struct elf_segment *segment, uint32_t pid, uint64_t start,
		      uint64_t end)
{
	uint64_t first = segment->offset & ~(PAGE - 1);
	uint64_t pages = (segment->offset + segment->file_size - first) / PAGE;

	/* the last page may be shared with data that differs: leave it out */
	if (!(segment->flags & 1) || pages == 0 || pages > (end - start) / PAGE ||
	    pages + 1 < (end - start) / PAGE)
		return false;
	return same_page(fd, first, pid, start) &&
	       same_page(fd, first + pages / 2 * PAGE, pid, start + pages / 2 * PAGE) &&
	       same_page(fd, first + (pages - 1) * PAGE, pid, start + (pages - 1) * PAGE);
}

/* Does an executable segment of the file fit the mapping, and is its text what is mapped? */
static bool same_text(int fd, uint32_t pid, uint64_t start, uint64_t end)
{
	const struct elf_segment *segment;
	struct reader_file file;
	struct err err;
	bool same = false;

	if (reader_file_read(fd, &file, &err) < 0)
		return false;
	vec_for_each (segment, &file.segments)
		same = same || is_mapped(fd, segment, pid, start, end);
	reader_file_release(&file);
	return same;
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

/* What R says was found for REQUEST. */
static int take_found(int r, const struct request *request, struct image_file *file,
		      enum match *ret_match)
{
	if (r < 0)
		return r;
	*ret_match = match_key(&file->found.id, request->key);
	file->certain = *ret_match == MATCH_FULL;
	return 0;
}

static int refuse(struct image_file *file, int error)
{
	closep(&file->found.fd);
	file->found.fd = -1;
	return error;
}

static int find_map_file(const struct request *request, struct image_file *file)
{
	char link[WALL_LINK_BYTES];
	enum match match;
	int r;

	wall_link(request->pid, request->start, request->end, link);
	r = take_found(wall_find(request->pid, link, &file->found), request, file, &match);
	if (r == 0 && match == MATCH_NONE && !link_names_path(link, request->path))
		return refuse(file, -ESTALE);
	return r;
}

static bool has_text(const struct image_file *file, const struct request *request)
{
	_cleanup_close_ int fd = wall_reopen(request->pid, &file->found);

	return fd >= 0 && same_text(fd, request->pid, request->start, request->end);
}

static int find_in_root(const struct request *request, struct image_file *file)
{
	enum match match;
	int r = take_found(wall_find_in_root(request->pid, request->path, 0, &file->found), request,
			   file, &match);

	if (r == 0 && match == MATCH_NONE && !has_text(file, request))
		return refuse(file, -ESTALE);
	return r;
}

static int find_exe(const struct request *request, struct image_file *file)
{
	enum match match;
	char link[64];
	int r;

	snprintf(link, sizeof(link), "/proc/%u/exe", request->pid);
	r = take_found(wall_find(request->pid, link, &file->found), request, file, &match);
	return r == 0 && match == MATCH_NONE ? refuse(file, -ENOENT) : r;
}

/* The process is gone; its file may still be there. */
static int find_by_path(const struct request *request, struct image_file *file)
{
	enum match match;
	int r = take_found(wall_find_in_root(0, request->path, 0, &file->found), request, file,
			   &match);

	return r == 0 && match != MATCH_FULL ? refuse(file, -ESTALE) : r;
}

static size_t length_without_deleted(const char *path)
{
	size_t len = strlen(path), suffix = strlen(DELETED);

	return len > suffix && strcmp(path + len - suffix, DELETED) == 0 ? len - suffix : len;
}

int image_find_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path, struct image_file *ret_file)
{
	static int (*const ways[])(const struct request *request,
				   struct image_file *file) = { find_map_file, find_in_root,
								find_exe, find_by_path };
	_cleanup_free_ char *plain = xstrndup(path, length_without_deleted(path));
	struct request request = { key, plain, start, end, pid };
	struct image_file file = { .found.fd = -1 };
	int r = -ENOENT, first_error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ways) && r < 0; i++) {
		r = ways[i](&request, &file);
		/* "another file is there now" and "not permitted" say more than "not found" */
		if (r < 0 && (first_error == 0 || first_error == -ENOENT))
			first_error = r;
	}
	if (r < 0)
		return first_error;
	*ret_file = file;
	return 0;
}

int image_look(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
	       const char *path, struct file_id *ret_id)
{
	_cleanup_free_ char *plain = xstrndup(path, length_without_deleted(path));

	return wall_look(pid, key, start, end, plain, ret_id);
}

int image_open_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path)
{
	_cleanup_close_ int path_fd = -1;
	struct image_file file;
	int r = image_find_file(key, pid, start, end, path, &file);

	if (r < 0)
		return r;
	path_fd = file.found.fd;
	return wall_reopen(pid, &file.found);
}

const char *image_open_failure(int error)
{
	switch (error) {
	case -ESTALE: return "another file has its name now";
	case -ENOENT:
	case -ESRCH: return "it was gone before it could be opened";
	case -EINVAL: return "it is no regular file";
	case -EDQUOT: return "its process maps more files than are looked at";
	default: return strerror(-error);
	}
}
