// SPDX-License-Identifier: Apache-2.0
#include "symbolize/probe_find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/debug_file.h"
#include "elf/elf_file.h"
#include "process/exec_maps.h"
#include "process/proc.h"
#include "wall/wall.h"

/* Named in an error at most. */
#define MAX_TOLD 4
/* Of the one file that the user named, before anything is recorded: the symbols of a browser. */
#define MAX_READ_BYTES (1ULL << 30)

/* --- the library ------------------------------------------------------------------------------ */

/* A file that processes map as code. */
struct probe_file {
	struct file_key key;
	uint32_t pid;	     /* one of those that map it: */
	uint64_t start, end; /* there */
	char *path;	     /* owned; as that process sees it */
};

struct file_search {
	const char *name;
	uint32_t pid; /* that is looked at */
	VEC(struct probe_file) files;
};

static void file_search_release(struct file_search *search)
{
	for (size_t i = 0; i < search->files.len; i++)
		free(search->files.items[i].path);
	vec_release(&search->files);
}

static bool file_is_known(const struct file_search *search, const struct file_key *key)
{
	for (size_t i = 0; i < search->files.len; i++) {
		const struct file_key *known = &search->files.items[i].key;

		if (known->inode == key->inode && known->major == key->major &&
		    known->minor == key->minor)
			return true;
	}
	return false;
}

static void note_mapping(const struct exec_map *map, void *data)
{
	const struct mapping *m = &map->m;
	struct file_search *search = data;
	struct probe_file file = { m->key, search->pid, m->start, m->end, NULL };

	if (!m->key.inode || m->path[0] != '/' || file_is_known(search, &m->key))
		return;
	file.path = xstrdup(m->path);
	vec_push(&search->files, file);
}

static int note_process(uint32_t pid, void *data)
{
	struct file_search *search = data;
	char path[64];

	search->pid = pid;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	(void)exec_maps_read(pid, path, note_mapping, search); /* it may be gone */
	return 0;
}

/* The mapped file itself, whatever is at its path now, and in whatever mount namespace that is. */
static void file_own_path(const struct probe_file *file, char *ret_path, size_t size)
{
	char link[WALL_LINK_BYTES];
	struct stat st;

	wall_link(file->pid, file->start, file->end, link);
	if (stat(file->path, &st) == 0 && st.st_ino == file->key.inode &&
	    major(st.st_dev) == file->key.major && minor(st.st_dev) == file->key.minor)
		snprintf(ret_path, size, "%s", file->path);
	else
		snprintf(ret_path, size, "%s", link);
}

static bool has_file_name(const struct probe_file *file, const char *name)
{
	const char *slash = strrchr(file->path, '/');

	return slash && strcmp(slash + 1, name) == 0;
}

static bool has_soname(const struct probe_file *file, const char *name)
{
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], soname[NAME_MAX + 1];
	struct err err;

	file_own_path(file, path, sizeof(path));
	fd = wall_open(file->pid, path);
	return fd >= 0 && elf_file_open(fd, &elf, &err) == 0 &&
	       elf_file_soname(elf, soname, sizeof(soname)) == 0 && strcmp(soname, name) == 0;
}

/* Only those stay that FITS says yes to. */
static size_t keep_files(struct file_search *search, struct probe_file **ret_kept,
			 bool (*fits)(const struct probe_file *file, const char *name))
{
	size_t kept = 0;

	*ret_kept = xcalloc(search->files.len + 1, sizeof(**ret_kept));
	for (size_t i = 0; i < search->files.len; i++)
		if (fits(&search->files.items[i], search->name))
			(*ret_kept)[kept++] = search->files.items[i];
	return kept;
}

static int library_is_ambiguous(const char *name, const struct probe_file *files, size_t count,
				struct err *err)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; i < MIN(count, MAX_TOLD); i++)
		strbuf_addf(&list, "%s%s of process %u", i ? ", " : "", files[i].path,
			    files[i].pid);
	err_set(err, -EINVAL, "'%s' is %zu different files: %s%s", name, count, strbuf_str(&list),
		count > MAX_TOLD ? ", …" : "");
	return err_hint(err, "give a path, or choose processes with -p");
}

static int find_library(const struct probe_request *request, char *ret_path, size_t size,
			struct err *err)
{
	_cleanup_(file_search_release) struct file_search search = { .name = request->library };
	_cleanup_free_ struct probe_file *kept = NULL;
	size_t count;

	for (unsigned int i = 0; i < request->pid_count; i++)
		note_process(request->pids[i], &search);
	if (!request->pid_count)
		(void)proc_for_each_pid(note_process, &search);
	count = keep_files(&search, &kept, has_file_name);
	if (!count) {
		free(kept);
		count = keep_files(&search, &kept, has_soname);
	}
	if (count > 1)
		return library_is_ambiguous(request->library, kept, count, err);
	if (!count) {
		err_set(err, -ENOENT, "no %s maps a library or program '%s'",
			request->pid_count ? "chosen process" : "process", request->library);
		return err_hint(err, "give the file's path, as in uprobe:/usr/lib/…/%s:%s",
				request->library, request->function);
	}
	file_own_path(kept, ret_path, size);
	return 0;
}

/* --- the function ----------------------------------------------------------------------------- */

struct function_search {
	VEC(uint64_t) addresses;
	bool is_ifunc; /* one of them */
};

static void note_function(uint64_t address, bool is_ifunc, void *data)
{
	struct function_search *search = data;

	search->is_ifunc |= is_ifunc;
	for (size_t i = 0; i < search->addresses.len; i++)
		if (search->addresses.items[i] == address)
			return;
	vec_push(&search->addresses, address);
}

static void look_in_debugdata(struct elf_file *file, const char *name,
			      struct function_search *search)
{
	_cleanup_(elf_file_closep) struct elf_file *inner = NULL;
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	struct err err;

	if (elf_file_debugdata(file, MAX_READ_BYTES, &data, &err) < 0 ||
	    elf_file_open_memory(data.buf, data.len, &inner, &err) < 0)
		return;
	elf_file_limit_reads(inner, MAX_READ_BYTES);
	elf_file_for_each_named(inner, name, note_function, search);
}

static void look_in_debug_file(struct elf_file *file, const char *path, const char *name,
			       struct function_search *search)
{
	_cleanup_(elf_file_closep) struct elf_file *debug = NULL;
	_cleanup_close_ int fd = -1;
	struct debug_link link;
	struct err err;

	elf_file_find_debug(file, &link);
	fd = debug_file_open(&link, NULL, 0, path);
	if (fd < 0 || elf_file_open(fd, &debug, &err) < 0)
		return;
	elf_file_limit_reads(debug, MAX_READ_BYTES);
	elf_file_for_each_named(debug, name, note_function, search);
}

static int function_is_ambiguous(const struct probe_request *request,
				 const struct function_search *search, struct err *err)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; i < MIN(search->addresses.len, MAX_TOLD); i++)
		strbuf_addf(&list, "%s0x%llx", i ? ", " : "",
			    (unsigned long long)search->addresses.items[i]);
	err_set(err, -EINVAL, "%s has %zu functions '%s', at %s%s", request->library,
		search->addresses.len, request->function, strbuf_str(&list),
		search->addresses.len > MAX_TOLD ? ", …" : "");
	return err_hint(err, "probe one that has its name alone, or a caller");
}

static int check_function(const struct probe_request *request, const struct function_search *search,
			  struct err *err)
{
	if (!search->addresses.len) {
		err_set(err, -ENOENT, "%s has no function '%s'", request->library,
			request->function);
		return err_hint(err,
				"names are those of the symbol tables (C++: mangled); a stripped "
				"file needs its debug file");
	}
	if (search->is_ifunc) {
		err_set(err, -EINVAL, "%s chooses among several functions '%s' when it is loaded",
			request->library, request->function);
		return err_hint(err, "probe the one that is called; a profile of -e cpu names it");
	}
	if (search->addresses.len > 1)
		return function_is_ambiguous(request, search, err);
	return 0;
}

/* Where in the file is ADDRESS? Only code that is in it can be probed. */
static int file_offset(struct elf_file *file, const struct probe_request *request, uint64_t address,
		       uint64_t *ret_offset, struct err *err)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(file, &segments);

	for (int i = 0; i < count; i++) {
		const struct elf_segment *s = &segments[i];

		if (!(s->flags & PF_X) || address < s->address ||
		    address - s->address >= s->file_size)
			continue;
		*ret_offset = address - s->address + s->offset;
		return 0;
	}
	return err_set(err, -EINVAL, "%s: '%s' is not in its code", request->library,
		       request->function);
}

static int find_function(const struct probe_request *request, const char *path,
			 uint64_t *ret_offset, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct function_search search = { 0 };
	int r;

	if (fd < 0)
		return err_sys(err, -errno, "cannot open '%s'", request->library);
	r = elf_file_open(fd, &file, err);
	if (r < 0)
		return err_set(err, r, "'%s' is no ELF file", request->library);
	elf_file_limit_reads(file, MAX_READ_BYTES);
	elf_file_for_each_named(file, request->function, note_function, &search);
	if (!search.addresses.len)
		look_in_debugdata(file, request->function, &search);
	if (!search.addresses.len)
		look_in_debug_file(file, path, request->function, &search);
	r = check_function(request, &search, err);
	if (r == 0)
		r = file_offset(file, request, search.addresses.items[0] + request->plus,
				ret_offset, err);
	vec_release(&search.addresses);
	return r;
}

int probe_find(const struct probe_request *request, struct probe_place *ret_place, struct err *err)
{
	int r = 0;

	if (strchr(request->library, '/'))
		snprintf(ret_place->path, sizeof(ret_place->path), "%s", request->library);
	else
		r = find_library(request, ret_place->path, sizeof(ret_place->path), err);
	return r < 0 ? r : find_function(request, ret_place->path, &ret_place->offset, err);
}
