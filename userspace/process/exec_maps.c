// SPDX-License-Identifier: Apache-2.0
/*
 * Text and query give the same mappings: Linux fs/proc/task_mmu.c show_map_vma() and
 * do_procmap_query() have one get_vma_name() for both.
 */
#include "process/exec_maps.h"

#include <errno.h>

#include "process/proc.h"
#include "wall/wall.h"

/* 65,530 mappings (vm.max_map_count) with usual paths. */
#define MAPS_LIMIT (16UL * 1024 * 1024)
/* The vsyscall page is printed with every process's mappings and is not one of them. */
#define KERNEL_HALF (1ULL << 63)

struct telling {
	exec_map_fn fn;
	void *data;
};

static void tell(const struct wall_mapping *mapping, const char *path, void *data)
{
	const struct telling *telling = data;
	const struct exec_map map = {
		.m = { .start = mapping->start,
		       .end = mapping->end,
		       .pgoff = mapping->file_offset,
		       .key = { mapping->major, mapping->minor, mapping->inode, 0 },
		       .path = (char *)(uintptr_t)path }, /* NOLINT: not written to */
		.writable = mapping->writable,
		.file = mapping->looked_at ? &mapping->file : NULL,
	};

	telling->fn(&map, telling->data);
}

int exec_maps_query(uint32_t pid, const char *path, unsigned int looks, uint64_t *at,
		    exec_map_fn fn, void *data)
{
	struct telling telling = { fn, data };

	return wall_read_maps(pid, path, looks, at, tell, &telling);
}

void exec_maps_parse(uint64_t from, const char *text, size_t len, exec_map_fn fn, void *data)
{
	struct maps_line line;
	ssize_t taken;

	while ((taken = proc_parse_maps_line(text, len, &line)) > 0) {
		text += taken;
		len -= (size_t)taken;
		if (line.perms[2] == 'x' && line.start >= from && line.start < KERNEL_HALF) {
			_cleanup_free_ char *path = maps_line_path(&line);
			const struct exec_map map = { .m = { .start = line.start,
							     .end = line.end,
							     .pgoff = line.pgoff,
							     .key = line.key,
							     .path = path },
						      .writable = line.perms[1] == 'w' };

			fn(&map, data);
		}
	}
}

int exec_maps_read(uint32_t pid, const char *path, exec_map_fn fn, void *data)
{
	return exec_maps_read_files(pid, path, 0, fn, data);
}

int exec_maps_read_files(uint32_t pid, const char *path, unsigned int looks, exec_map_fn fn,
			 void *data)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t at = 0;
	int r = exec_maps_query(pid, path, looks, &at, fn, data);

	if (r != -ENOTTY && r != -ENAMETOOLONG)
		return r == -ESRCH ? 0 : r;
	r = proc_read_file(pid, path, MAPS_LIMIT, &text);
	if (r == 0)
		exec_maps_parse(at, strbuf_str(&text), text.len, fn, data);
	return r;
}
