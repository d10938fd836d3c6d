// SPDX-License-Identifier: Apache-2.0
#include "symbolize/watch_find.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/reader/reader_file.h"
#include "elf/reader/reader_probe.h"
#include "process/exec_maps.h"
#include "symbolize/probe_find.h"
#include "wall/wall.h"

/* Files of a process that are looked at. */
#define MAX_FILES 1024
/* Places that are kept, and that an error names. */
#define MAX_FOUND 16
#define MAX_TOLD  3

/* The first executable mapping of a file. */
struct watched_file {
	struct file_key key;
	uint64_t start, end, pgoff;
	char *path; /* owned */
};

struct found {
	uint64_t address; /* the process's */
	struct elf_object object;
	const char *path; /* borrowed */
	bool in_program;
};

struct watch {
	uint32_t pid;
	const char *symbol;
	VEC(struct watched_file) files;
	struct found found[MAX_FOUND];
	unsigned int count; /* may be more than are kept */
};

static void note_mapping(const struct exec_map *map, void *data)
{
	const struct mapping *m = &map->m;
	struct watch *watch = data;
	const struct watched_file *known;
	struct watched_file file = { m->key, m->start, m->end, m->pgoff, NULL };

	if (!m->key.inode || m->path[0] != '/' || watch->files.len == MAX_FILES)
		return;
	vec_for_each (known, &watch->files)
		if (file_key_same(&known->key, &m->key))
			return;
	file.path = xstrdup(m->path);
	vec_push(&watch->files, file);
}

static void watch_release(struct watch *watch)
{
	struct watched_file *file;

	vec_for_each (file, &watch->files)
		free(file->path);
	vec_release(&watch->files);
}

static bool is_program(uint32_t pid, const struct file_key *key)
{
	struct foreign_file found;
	char path[64];
	bool same;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (wall_find(pid, path, &found) < 0)
		return false;
	same = file_id_has_key(&found.id, key);
	close(found.fd);
	return same;
}

/* What is added to the file's own addresses, by the segment that holds the mapping's first page. */
static bool find_bias(const struct reader_file *file, const struct watched_file *mapped,
		      uint64_t *ret_bias)
{
	const struct elf_segment *s;

	vec_for_each (s, &file->segments) {
		uint64_t first = s->offset & ~(WIRE_PAGE_BYTES - 1ULL);

		if (!(s->flags & PF_X) || mapped->pgoff < first ||
		    mapped->pgoff - first >= s->file_size + (s->offset - first))
			continue;
		*ret_bias = mapped->start - mapped->pgoff + s->offset - s->address;
		return true;
	}
	return false;
}

static void add_found(struct watch *watch, const struct watched_file *mapped, uint64_t bias,
		      const struct reader_objects *objects)
{
	bool in_program = objects->count && is_program(watch->pid, &mapped->key);

	for (uint32_t i = 0; i < objects->count; i++) {
		struct found found = { bias + objects->object[i].address, objects->object[i],
				       mapped->path, in_program };

		if (watch->count < MAX_FOUND)
			watch->found[watch->count] = found;
		watch->count++;
	}
}

static void look_in_file(struct watch *watch, const struct watched_file *mapped)
{
	_cleanup_free_ struct reader_objects *objects = xmalloc(sizeof(*objects));
	_cleanup_close_ int fd = -1;
	char link[WALL_LINK_BYTES];
	struct reader_file file;
	struct err ignored;
	uint64_t bias;

	wall_link(watch->pid, mapped->start, mapped->end, link);
	fd = wall_open(watch->pid, link);
	if (fd < 0 || reader_objects(fd, watch->symbol, PROBE_READ_BYTES, objects, &ignored) < 0 ||
	    !objects->count || reader_file_read(fd, &file, &ignored) < 0)
		return;
	if (find_bias(&file, mapped, &bias))
		add_found(watch, mapped, bias, objects);
	reader_file_release(&file);
}

/* The one that the program itself has for all to see. */
static const struct found *find_own(const struct watch *watch)
{
	for (unsigned int i = 0; i < MIN(watch->count, (unsigned int)MAX_FOUND); i++)
		if (watch->found[i].in_program && watch->found[i].object.is_global)
			return &watch->found[i];
	return watch->count == 1 ? &watch->found[0] : NULL;
}

static int is_ambiguous(const struct watch *watch, struct err *err)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;

	for (unsigned int i = 0; i < MIN(watch->count, (unsigned int)MAX_TOLD); i++)
		strbuf_addf(&list, "%s0x%llx (%s)", i ? ", " : "",
			    (unsigned long long)watch->found[i].address, watch->found[i].path);
	err_set(err, -EINVAL, "process %u has '%s' at %u places: %s", watch->pid, watch->symbol,
		watch->count, strbuf_str(&list));
	return err_hint(err, "choose one by its address, as in mem:0x%llx",
			(unsigned long long)watch->found[0].address);
}

static int choose(const struct watch *watch, uint64_t *ret_address, struct err *err)
{
	const struct found *own = find_own(watch);

	if (!watch->count) {
		err_set(err, -ENOENT, "process %u has no symbol '%s'", watch->pid, watch->symbol);
		return err_hint(err, "names are those of the symbol tables of what it maps (C++: "
				     "mangled); an address is mem:0x…");
	}
	if (!own)
		return is_ambiguous(watch, err);
	if (own->object.type == STT_TLS || own->object.type == STT_GNU_IFUNC)
		return err_set(err, -EINVAL, "'%s' of process %u %s", watch->symbol, watch->pid,
			       own->object.type == STT_TLS
				       ? "is another variable in each thread"
				       : "is chosen among several functions when it is loaded");
	*ret_address = own->address;
	return 0;
}

int watch_find(uint32_t pid, const char *symbol, uint64_t *ret_address, struct err *err)
{
	_cleanup_(watch_release) struct watch watch = { .pid = pid, .symbol = symbol };
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	r = exec_maps_read(pid, path, note_mapping, &watch);
	if (r < 0)
		return err_sys(err, r, "cannot read what process %u maps", pid);
	for (size_t i = 0; i < watch.files.len; i++)
		look_in_file(&watch, &watch.files.items[i]);
	return choose(&watch, ret_address, err);
}
