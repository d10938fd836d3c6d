/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/libjvm.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "process/proc.h"
#include "wall/wall.h"

/* 65,530 mappings (vm.max_map_count) of some 250 bytes each. */
#define MAX_MAPS_BYTES (16U << 20)
#define PAGE_MASK      4095ULL

static const char name[] = "/libjvm.so", deleted[] = " (deleted)";

bool libjvm_is_path(const char *path, size_t len)
{
	size_t name_len = sizeof(name) - 1, suffix = sizeof(deleted) - 1;

	if (len > suffix && !memcmp(path + len - suffix, deleted, suffix))
		len -= suffix;
	return len >= name_len && !memcmp(path + len - name_len, name, name_len);
}

const struct mapping *libjvm_find_mapping(const struct process *process)
{
	const struct mapping *m;

	vec_for_each (m, &process->mappings)
		if (m->path && libjvm_is_path(m->path, strlen(m->path)))
			return m;
	return NULL;
}

/* Owned copy in *ret_mapping. */
static int maps_find(const struct strbuf *text, struct mapping *ret_mapping)
{
	struct maps_line line;
	size_t at = 0;
	ssize_t n;

	while ((n = proc_parse_maps_line(text->buf + at, text->len - at, &line)) > 0) {
		at += (size_t)n;
		if (!libjvm_is_path(line.path, line.path_len))
			continue;
		*ret_mapping = (struct mapping){
			.start = line.start,
			.end = line.end,
			.pgoff = line.pgoff,
			.key = line.key,
			.path = xstrndup(line.path, line.path_len),
		};
		return 0;
	}
	return n < 0 ? (int)n : -ENODATA;
}

/* Of /proc/PID some files say EACCES and some EPERM for the same want of rights. */
static int as_eperm(int r)
{
	return r == -EACCES ? -EPERM : r;
}

/* It maps nothing at all: a thread of the kernel, or a process that has ended (fs/proc/array.c). */
static int fail_without_maps(uint32_t pid, struct err *err)
{
	struct proc_status status;
	struct proc_stat stat;

	if (proc_read_stat(pid, &stat) < 0)
		return err_set(err, -ESRCH, "there is no process %u", pid);
	if (stat.state != 'Z' && stat.state != 'X')
		return err_set(err, -ENODATA, "process %u is no HotSpot JVM: it maps nothing", pid);
	if (proc_read_status(pid, &status) == 0 && status.threads > 1)
		return err_set(
			err, -ESRCH,
			"the first thread of process %u has ended: the kernel tells nothing of "
			"what the others map",
			pid);
	return err_set(err, -ESRCH,
		       "process %u has ended: it is a zombie, of which its parent has not taken "
		       "notice yet",
		       pid);
}

static int find_mapping(uint32_t pid, struct mapping *ret_mapping, struct err *err)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	r = proc_read_file(pid, path, MAX_MAPS_BYTES, &text);
	if (r == -ENOENT)
		return err_set(err, -ESRCH, "there is no process %u", pid);
	if (r < 0)
		return err_sys(err, as_eperm(r), "cannot read the mappings of process %u", pid);
	if (!text.len)
		return fail_without_maps(pid, err);
	r = maps_find(&text, ret_mapping);
	if (r < 0)
		return err_set(err, r, "process %u is no HotSpot JVM: it maps no libjvm.so", pid);
	return 0;
}

/* By its name it may be another file by now. */
static int open_by_name(uint32_t pid, const struct mapping *mapping)
{
	_cleanup_close_ int fd = wall_open_in_root(pid, mapping->path, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_ino == mapping->key.inode ? TAKE_FD(fd) : -ESTALE;
}

static int open_mapping(uint32_t pid, const struct mapping *mapping)
{
	char path[WALL_LINK_BYTES];
	int fd;

	wall_link(pid, mapping->start, mapping->end, path);
	fd = wall_open(pid, path);
	return fd < 0 ? open_by_name(pid, mapping) : fd;
}

static int find_bias(const struct reader_file *file, const struct mapping *mapping,
		     uint64_t *ret_bias)
{
	const struct elf_segment *segment;

	vec_for_each (segment, &file->segments) {
		uint64_t first = segment->offset & ~PAGE_MASK;

		if (mapping->pgoff < first ||
		    mapping->pgoff >= segment->offset + segment->file_size)
			continue;
		*ret_bias = mapping->start - mapping->pgoff - (segment->address - segment->offset);
		return 0;
	}
	return -EBADMSG;
}

static struct libjvm libjvm_take(struct libjvm *lib)
{
	struct libjvm taken = *lib;

	*lib = (struct libjvm)LIBJVM_INIT;
	return taken;
}

static int open_at(uint32_t pid, const struct mapping *mapping, struct libjvm *ret_lib,
		   struct err *err)
{
	_cleanup_(libjvm_close) struct libjvm lib = LIBJVM_INIT;
	int r;

	lib.fd = open_mapping(pid, mapping);
	if (lib.fd == -ENOENT || lib.fd == -ESTALE)
		return err_set(err, -ESTALE, "%s of process %u was replaced and is out of reach",
			       mapping->path, pid);
	if (lib.fd < 0)
		return err_sys(err, as_eperm(lib.fd), "cannot open %s of process %u", mapping->path,
			       pid);
	r = file_id_read(lib.fd, &lib.id);
	if (r < 0)
		return err_sys(err, r, "cannot look at %s of process %u", mapping->path, pid);
	r = reader_file_read(lib.fd, &lib.file, err);
	if (r < 0)
		return r;
	r = find_bias(&lib.file, mapping, &lib.bias);
	if (r < 0)
		return err_set(err, r, "%s of process %u has no segment at file offset 0x%" PRIx64,
			       mapping->path, pid, mapping->pgoff);
	*ret_lib = libjvm_take(&lib);
	return 0;
}

static void release_path(struct mapping *mapping)
{
	free(mapping->path);
}

int libjvm_open(uint32_t pid, const struct mapping *mapping, struct libjvm *ret_lib,
		struct err *err)
{
	_cleanup_(release_path) struct mapping found = { 0 };
	int r;

	if (mapping && !open_at(pid, mapping, ret_lib, err))
		return 0;
	/* Not given, or a range that is not one mapping any more. */
	r = find_mapping(pid, &found, err);
	return r < 0 ? r : open_at(pid, &found, ret_lib, err);
}

void libjvm_close(struct libjvm *lib)
{
	reader_file_release(&lib->file);
	closep(&lib->fd);
	*lib = (struct libjvm)LIBJVM_INIT;
}

int libjvm_find_symbols(const struct libjvm *lib, const char *const *names, unsigned int count,
			uint64_t *ret_addresses)
{
	struct err ignored;

	return reader_find(lib->fd, READER_FIND_SYMBOL, names, count, ret_addresses, &ignored);
}
