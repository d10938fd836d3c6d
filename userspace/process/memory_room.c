// SPDX-License-Identifier: Apache-2.0
/*
 * Files: Linux mm/memcontrol.c (memory.max, memory.current and memory.stat of v2; mem_cgroup_legacy_files
 * of v1, in mm/memcontrol-v1.c since 6.11).
 */
#include "process/memory_room.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text/text_cursor.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"
/* memory.stat of a host with many nodes; the text of /proc/PID/cgroup with long paths. */
#define FILE_LIMIT (64UL * 1024)

/* What a level of a tree tells. */
struct cgroup_files {
	const char *tree; /* below the mount */
	const char *limit, *usage;
	const char *cache; /* the row of memory.stat */
};

static const struct cgroup_files unified = { "", "memory.max", "memory.current",
					     "\ninactive_file " };
static const struct cgroup_files legacy = { "/memory", "memory.limit_in_bytes",
					    "memory.usage_in_bytes", "\ntotal_inactive_file " };

static bool read_text(const char *directory, const char *name, struct strbuf *text)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return file_read(path, FILE_LIMIT, text) == 0;
}

/* "max" is no number. */
static bool read_number(const char *directory, const char *name, uint64_t *ret_value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct text_cursor cursor;

	if (!read_text(directory, name, &text))
		return false;
	cursor = (struct text_cursor){ text.buf, text.buf + text.len };
	return text_take_number(&cursor, 10, ret_value);
}

static uint64_t cached_bytes(const char *directory, const char *row)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct text_cursor cursor;
	const char *found;
	uint64_t bytes;

	if (!read_text(directory, "memory.stat", &text))
		return 0;
	found = strstr(strbuf_str(&text), row);
	if (!found)
		return 0;
	cursor = (struct text_cursor){ found + strlen(row), text.buf + text.len };
	return text_take_number(&cursor, 10, &bytes) ? bytes : 0;
}

static uint64_t room_of_level(const char *directory, const struct cgroup_files *files)
{
	uint64_t limit, usage, cached;

	if (!read_number(directory, files->limit, &limit) ||
	    !read_number(directory, files->usage, &usage))
		return MEMORY_ROOM_UNLIMITED;
	cached = cached_bytes(directory, files->cache);
	usage -= MIN(usage, cached);
	return limit > usage ? limit - usage : 0;
}

/* PATH and those above it, as far as MOUNT shows them: in a container the paths may be the host's. */
static uint64_t room_of_tree(const char *mount, const struct cgroup_files *files,
			     struct text_cursor path)
{
	uint64_t room = MEMORY_ROOM_UNLIMITED;
	char directory[PATH_MAX];
	size_t top;
	char *slash;

	snprintf(directory, sizeof(directory), "%s%s", mount, files->tree);
	top = strlen(directory);
	/* A process outside of our cgroup namespace: its path leads out of the mount. */
	if ((size_t)(path.end - path.at) < sizeof(directory) - top &&
	    !memmem(path.at, (size_t)(path.end - path.at), "/..", 3))
		snprintf(directory + top, sizeof(directory) - top, "%.*s",
			 (int)(path.end - path.at), path.at);
	for (;;) {
		room = MIN(room, room_of_level(directory, files));
		slash = strrchr(directory + top, '/');
		if (!slash)
			return room;
		*slash = '\0';
	}
}

/* Is "memory" in the list CONTROLLERS, which a colon ends? Then its path is what follows. */
static bool take_memory(struct text_cursor *line)
{
	while (line->at < line->end) {
		struct text_cursor name = *line;

		if (text_take_prefix(&name, "memory") && name.at < name.end &&
		    (*name.at == ',' || *name.at == ':')) {
			const char *colon = memchr(name.at, ':', (size_t)(name.end - name.at));

			line->at = colon ? colon + 1 : line->end;
			return colon != NULL;
		}
		while (line->at < line->end && *line->at != ',' && *line->at != ':')
			line->at++;
		if (line->at == line->end || *line->at == ':')
			return false;
		line->at++;
	}
	return false;
}

uint64_t memory_room_find(const char *mount, const char *cgroups, size_t len)
{
	struct text_cursor text = { cgroups, cgroups + len }, line;
	uint64_t room = MEMORY_ROOM_UNLIMITED, id;

	/* "ID:CONTROLLERS:PATH"; v2's has the id 0 and names none. */
	while (text_next_line(&text, &line)) {
		struct text_cursor v2 = line;

		if (text_take_prefix(&v2, "0::"))
			room = MIN(room, room_of_tree(mount, &unified, v2));
		else if (text_take_number(&line, 10, &id) && text_take_char(&line, ':') &&
			 take_memory(&line))
			room = MIN(room, room_of_tree(mount, &legacy, line));
	}
	return room;
}

uint64_t memory_room_of(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char directory[32];

	snprintf(directory, sizeof(directory), "/proc/%u", pid);
	if (!read_text(directory, "cgroup", &text))
		return MEMORY_ROOM_UNLIMITED;
	return memory_room_find(CGROUP_MOUNT, strbuf_str(&text), text.len);
}
