// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_ranges.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "jvm/layout/libjvm.h"
#include "process/exec_maps.h"
#include "unwind/walk.h"

/* A list that is being read. */
struct reading {
	struct unwind_ranges *ranges;
	struct unwind_files *files;
	uint32_t pid;
};

void unwind_ranges_release(struct unwind_ranges *ranges)
{
	vec_release(&ranges->v);
	free(ranges->libjvm.path);
}

static void clear(struct unwind_ranges *ranges)
{
	ranges->v.len = 0;
	ranges->exec_pages = 0;
	ranges->libjvm.start = ranges->libjvm.end = 0;
}

static void note_libjvm(struct unwind_ranges *ranges, const struct mapping *m)
{
	struct mapping *libjvm = &ranges->libjvm;

	if (libjvm->end || !m->path || !libjvm_is_path(m->path, strlen(m->path)))
		return;
	free(libjvm->path);
	*libjvm = *m;
	libjvm->path = xstrdup(m->path);
}

/*
 * A mapping may come in pieces (mprotect), a code cache in many: one range is enough for them. FILE is behind it; NULL: nobody
 * has looked.
 */
static void add(const struct reading *reading, const struct mapping *m, const struct file_id *file)
{
	struct unwind_ranges *ranges = reading->ranges;
	struct unwind_piece piece = unwind_files_piece(reading->files, reading->pid, m, file);
	struct wire_range range = { m->start, m->end, piece.bias, piece.file, 0 };
	struct wire_range *last = ranges->v.len ? &ranges->v.items[ranges->v.len - 1] : NULL;

	if (last && last->end == range.start && last->file == range.file &&
	    last->bias == range.bias)
		last->end = range.end;
	else if (ranges->v.len < UNWIND_MAX_RANGES)
		vec_push(&ranges->v, range);
	note_libjvm(ranges, m);
}

static void add_read(const struct exec_map *map, void *data)
{
	const struct reading *reading = data;
	const struct mapping *m = &map->m;

	if (m->start >= UNWIND_USER_END)
		return;
	add(reading, m, map->file);
	/* mm/internal.h, is_exec_mapping(): code that is not writable */
	if (!map->writable)
		reading->ranges->exec_pages += (m->end - m->start) >> WIRE_PAGE_SHIFT;
}

/* A process whose first thread has ended has no maps; its other threads have. */
int unwind_ranges_read(struct unwind_ranges *ranges, struct unwind_files *files, uint32_t pid,
		       uint32_t tid)
{
	struct reading reading = { ranges, files, pid };
	char path[64];
	int r;

	clear(ranges);
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	r = exec_maps_read_files(pid, path, IMAGE_MAX_LOOKS, add_read, &reading);
	if (r == 0 && !ranges->v.len && tid && tid != pid) {
		snprintf(path, sizeof(path), "/proc/%u/task/%u/maps", pid, tid);
		r = exec_maps_read_files(pid, path, IMAGE_MAX_LOOKS, add_read, &reading);
	}
	if (r < 0)
		return r;
	return ranges->v.len ? 0 : -ENODATA;
}

void unwind_ranges_of_process(struct unwind_ranges *ranges, struct unwind_files *files,
			      const struct process *process)
{
	const struct reading reading = { ranges, files, process->pid };
	const struct mapping *m;

	clear(ranges);
	vec_for_each (m, &process->mappings)
		if (m->start < UNWIND_USER_END)
			add(&reading, m, NULL);
}

/* A published list has a serial, one just read has not. */
bool unwind_ranges_equal(const struct unwind_ranges *ranges, const struct wire_range *others,
			 size_t count)
{
	if (ranges->v.len != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct wire_range *a = &ranges->v.items[i], *b = &others[i];

		if (a->start != b->start || a->end != b->end || a->bias != b->bias ||
		    a->file != b->file)
			return false;
	}
	return true;
}

const struct wire_range *unwind_ranges_find(const struct unwind_ranges *ranges, uint64_t address)
{
	size_t at = unwind_ranges_first_after(ranges->v.items, ranges->v.len, address);

	if (at < ranges->v.len && ranges->v.items[at].start <= address)
		return &ranges->v.items[at];
	return NULL;
}
