// SPDX-License-Identifier: Apache-2.0
#include "symbolize/probe_find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/debug/debug_file.h"
#include "elf/reader/reader_file.h"
#include "elf/reader/reader_probe.h"
#include "process/exec_maps.h"
#include "process/proc.h"
#include "wall/wall.h"

/* Named in an error at most. */
#define MAX_TOLD 4
/* While it is recorded: what is read of any file. */
#define QUICK_READ_BYTES ELF_MAX_READ_BYTES

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
	for (size_t i = 0; i < search->files.len; i++)
		if (file_key_same(&search->files.items[i].key, key))
			return true;
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
	struct foreign_file found;
	bool same = false;

	wall_link(file->pid, file->start, file->end, link);
	if (wall_find(0, file->path, &found) >= 0) {
		same = file_id_has_key(&found.id, &file->key);
		close(found.fd);
	}
	snprintf(ret_path, size, "%s", same ? file->path : link);
}

static bool has_file_name(const struct probe_file *file, const char *name)
{
	const char *slash = strrchr(file->path, '/');

	return slash && strcmp(slash + 1, name) == 0;
}

static bool has_soname(const struct probe_file *file, const char *name)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], soname[NAME_MAX + 1];
	struct err err;

	file_own_path(file, path, sizeof(path));
	fd = wall_open(file->pid, path);
	return fd >= 0 && reader_soname(fd, soname, &err) == 0 && strcmp(soname, name) == 0;
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

static void look_in_debug_file(const struct debug_link *link, const struct probe_request *request,
			       struct reader_places *places)
{
	_cleanup_close_ int fd = debug_file_open(link, NULL, 0, request->library);
	struct err ignored;

	if (fd < 0 ||
	    reader_places(fd, request->function, PROBE_READ_BYTES, true, places, &ignored) < 0)
		places->count = 0;
}

static int function_is_ambiguous(const struct probe_request *request,
				 const struct reader_places *places, struct err *err)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; i < MIN(places->count, MAX_TOLD); i++)
		strbuf_addf(&list, "%s0x%llx", i ? ", " : "",
			    (unsigned long long)places->address[i]);
	err_set(err, -EINVAL, "%s has %u functions '%s', at %s%s", request->library, places->count,
		request->function, strbuf_str(&list), places->count > MAX_TOLD ? ", …" : "");
	return err_hint(err, "probe one that has its name alone, or a caller");
}

static int check_function(const struct probe_request *request, const struct reader_places *places,
			  struct err *err)
{
	if (!places->count) {
		err_set(err, -ENOENT, "%s has no function '%s'", request->library,
			request->function);
		return err_hint(err,
				"names are those of the symbol tables (C++: mangled); a stripped "
				"file needs its debug file");
	}
	if (places->is_ifunc) {
		err_set(err, -EINVAL, "%s chooses among several functions '%s' when it is loaded",
			request->library, request->function);
		return err_hint(err, "probe the one that is called; a profile of -e cpu names it");
	}
	if (places->count > 1)
		return function_is_ambiguous(request, places, err);
	return 0;
}

/* Where in the file is ADDRESS, which is in a segment with FLAG? */
static bool segment_offset(const struct reader_file *file, uint32_t flag, uint64_t address,
			   uint64_t *ret_offset)
{
	const struct elf_segment *segment =
		elf_segment_find(file->segments.items, file->segments.len, flag, address);

	if (segment)
		*ret_offset = elf_segment_offset(segment, address);
	return segment != NULL;
}

/* Only code that is in the file can be probed. */
static int file_offset(const struct reader_file *file, const struct probe_request *request,
		       uint64_t address, uint64_t *ret_offset, struct err *err)
{
	if (segment_offset(file, PF_X, address, ret_offset))
		return 0;
	return err_set(err, -EINVAL, "%s: '%s' is not in its code", request->library,
		       request->function);
}

static int find_in_file(int fd, const struct reader_file *file, const struct probe_request *request,
			bool patient, uint64_t *ret_offset, struct err *err)
{
	_cleanup_free_ struct reader_places *places = xmalloc(sizeof(*places));
	int r = reader_places(fd, request->function, patient ? PROBE_READ_BYTES : QUICK_READ_BYTES,
			      patient, places, err);

	if (r < 0)
		return r;
	if (!places->count && patient)
		look_in_debug_file(&file->link, request, places);
	r = check_function(request, places, err);
	return r < 0 ? r
		     : file_offset(file, request, places->address[0] + request->plus, ret_offset,
				   err);
}

static int read_file(int fd, const struct probe_request *request, struct reader_file *ret_file,
		     struct err *err)
{
	int r = reader_file_read(fd, ret_file, err);

	return r == -EBADMSG ? err_set(err, r, "'%s' is no ELF file", request->library) : r;
}

static int find_function(int fd, const struct probe_request *request, bool patient,
			 uint64_t *ret_offset, struct err *err)
{
	struct reader_file file;
	int r = read_file(fd, request, &file, err);

	if (r < 0)
		return r;
	r = find_in_file(fd, &file, request, patient, ret_offset, err);
	reader_file_release(&file);
	return r;
}

int probe_find_quickly(int fd, const struct probe_request *request, uint64_t *ret_offset,
		       struct err *err)
{
	return find_function(fd, request, false, ret_offset, err);
}

/* What the user names he opens; what processes map may be anything. */
static int open_library(const struct probe_request *request, const char *path, bool named,
			struct err *err)
{
	int fd = named ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : wall_open(0, path);

	if (fd >= 0)
		return fd;
	return err_sys(err, named ? -errno : fd, "cannot open '%s'", request->library);
}

/* A descriptor of the library, and by which path it is opened. */
static int find_and_open(const struct probe_request *request, char *ret_path, size_t size,
			 struct err *err)
{
	bool named = strchr(request->library, '/');
	int r = 0;

	if (named)
		snprintf(ret_path, size, "%s", request->library);
	else
		r = find_library(request, ret_path, size, err);
	return r < 0 ? r : open_library(request, ret_path, named, err);
}

int probe_find(const struct probe_request *request, struct probe_place *ret_place, struct err *err)
{
	_cleanup_close_ int fd = -1;

	fd = find_and_open(request, ret_place->path, sizeof(ret_place->path), err);
	return fd < 0 ? fd : find_function(fd, request, true, &ret_place->offset, err);
}

/* --- USDT probes ------------------------------------------------------------------------------ */

static int check_usdt(const struct probe_request *request, const char *provider,
		      const struct reader_usdt *usdt, struct err *err)
{
	if (!usdt->count) {
		err_set(err, -ENOENT, "%s has no probe '%s:%s' in itself", request->library,
			provider, request->function);
		return err_hint(err, "readelf -n shows those that a file has, as 'stapsdt'");
	}
	if (usdt->count > PROBE_USDT_PLACES)
		return err_set(err, -EINVAL,
			       "%s has probe '%s:%s' at %u places, which is more than %d",
			       request->library, provider, request->function, usdt->count,
			       PROBE_USDT_PLACES);
	return 0;
}

static int take_place(const struct reader_file *file, const struct probe_request *request,
		      const struct usdt_note *note, struct probe_usdt_place *ret_place,
		      struct err *err)
{
	int r = file_offset(file, request, note->address, &ret_place->offset, err);

	ret_place->semaphore = 0;
	if (r < 0 || !note->semaphore)
		return r;
	/* The kernel has 32 bits for it. */
	if (segment_offset(file, PF_W, note->semaphore, &ret_place->semaphore) &&
	    ret_place->semaphore <= UINT32_MAX)
		return 0;
	return err_set(err, -EINVAL, "%s: the semaphore of '%s' is not in its data",
		       request->library, request->function);
}

static int take_usdt(int fd, const struct probe_request *request, const char *provider,
		     struct probe_usdt *ret_usdt, struct err *err)
{
	_cleanup_free_ struct reader_usdt *usdt = xmalloc(sizeof(*usdt));
	struct reader_file file;
	int r = read_file(fd, request, &file, err);

	if (r < 0)
		return r;
	r = reader_usdt(fd, provider, request->function, PROBE_READ_BYTES, usdt, err);
	if (r == 0)
		r = check_usdt(request, provider, usdt, err);
	ret_usdt->count = r == 0 ? usdt->count : 0;
	for (unsigned int i = 0; i < ret_usdt->count && r == 0; i++)
		r = take_place(&file, request, &usdt->note[i], &ret_usdt->places[i], err);
	reader_file_release(&file);
	return r;
}

int probe_find_usdt(const struct probe_request *request, const char *provider,
		    struct probe_usdt *ret_usdt, struct err *err)
{
	_cleanup_close_ int fd = -1;

	fd = find_and_open(request, ret_usdt->path, sizeof(ret_usdt->path), err);
	return fd < 0 ? fd : take_usdt(fd, request, provider, ret_usdt, err);
}
