// SPDX-License-Identifier: Apache-2.0
/*
 * The file is any user's in a world-writable directory: it counts only when it is no link and the process's user or root
 * owns it. A reader takes it apart (elf/reader/reader_serve_perf_map.c, elf/reader/reader_serve_jit_dump.c). A jitdump is what the process
 * itself has mapped to say that it writes one.
 */
#include "symbolize/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/reader/reader_perf_map.h"
#include "process/proc.h"
#include "wall/wall.h"

/* A Node.js server under load writes some ten thousand; past this, lines are not read. */
#define MAX_ENTRIES (1U << 20)
/* Of the file at a time, not to hold up the recording, and in all: it may be a hole of a terabyte. */
#define MAX_STEP_BYTES (16U << 20)
#define MAX_STEP_NS    (200 * NSEC_PER_MSEC)
#define MAX_FILE_BYTES (256U << 20)
/* Of a jitdump, most of which is machine code that is skipped. */
#define MAX_DUMP_BYTES (1U << 30)
/* Growth is looked for at most this often, and takes no more than a tenth of the time. */
#define MIN_PAUSE_NS (10 * NSEC_PER_MSEC)
#define PAUSE_FACTOR 10
/* Code that was overwritten by later code leaves entries of other starts behind. */
#define MAX_OVERLAP 16
/* Of code that has moved the name is looked for in so many of the last lines, and in what was read before. */
#define MAX_MOVED 1024
/* Readers that come to their end with it, a late one counted twice; one that died may have been ended by somebody. */
#define MAX_ENDS 3

/* Of code that has moved, when it is not known what it was. */
#define NO_NAME UINT32_MAX

struct perf_map_entry {
	uint64_t start, end;
	uint32_t name;	   /* offset into names */
	uint32_t sequence; /* line number: of two that overlap the later one is valid */
};

struct perf_map {
	VEC(struct perf_map_entry) entries; /* sorted by start, then sequence */
	size_t sorted; /* so many of them are; more only while lines are read */
	struct strbuf names;
	uint32_t lines;
	uint64_t bytes;	  /* read so far, up to the end of a line */
	uint64_t counted; /* in the budget */
	uint64_t owner;	  /* reader_owner() */
	unsigned int ends;
	uint32_t pid; /* 0: of no process */
	bool is_dump;
	int fd; /* owned */
	uint64_t next_check_ns;
};

static struct budget budget = { .limit_bytes = PERF_MAP_BYTES };
static uint64_t left_out;
static uint32_t left_out_pid;

struct budget *perf_map_budget(void)
{
	return &budget;
}

uint64_t perf_map_left_out(uint32_t *ret_pid)
{
	*ret_pid = left_out_pid;
	return left_out;
}

/* Both arrays have room for twice what is in them at most. */
static void count_bytes(struct perf_map *map)
{
	uint64_t bytes = map->entries.len * sizeof(map->entries.items[0]) + map->names.len;

	budget_note(&budget, map->counted, bytes);
	map->counted = bytes;
}

static bool has_room(struct perf_map *map, size_t name_len)
{
	if (map->entries.len < MAX_ENTRIES &&
	    budget_fits(&budget, map->counted, sizeof(struct perf_map_entry) + name_len + 1))
		return true;
	if (!left_out++)
		left_out_pid = map->pid;
	return false;
}

/* Of the sorted ones, how many begin at ADDRESS or below. */
static size_t count_up_to(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *entries = map->entries.items;
	size_t low = 0, high = map->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The name of the newest code that begins at ADDRESS, an offset into names; that of none when it is not found. */
static uint32_t name_of_start(const struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *entries = map->entries.items;
	size_t len = map->entries.len, least = map->sorted;

	if (len - least > MAX_MOVED)
		least = len - MAX_MOVED;
	for (size_t i = len; i > least; i--)
		if (entries[i - 1].start == address)
			return entries[i - 1].name;
	len = count_up_to(map, address);
	return len && entries[len - 1].start == address ? entries[len - 1].name : NO_NAME;
}

static void add_line(struct perf_map *map, const struct reader_map_line *line, const char *name)
{
	struct perf_map_entry entry = { .start = line->start,
					.end = line->end,
					.name = (uint32_t)map->names.len,
					.sequence = map->lines++ };
	size_t len = strlen(name);

	if (!has_room(map, len))
		return;
	if (line->from)
		entry.name = name_of_start(map, line->from);
	else
		strbuf_add(&map->names, name, len + 1);
	vec_push(&map->entries, entry);
	count_bytes(map);
}

static int compare_entries(const void *a, const void *b)
{
	const struct perf_map_entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

static void sort_entries(struct perf_map *map)
{
	struct perf_map_entry *entries = map->entries.items;
	size_t kept = 0;

	if (map->entries.len == 0)
		return;
	qsort(entries, map->entries.len, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < map->entries.len; i++) {
		if (kept > 0 && entries[kept - 1].start == entries[i].start)
			kept--;
		entries[kept++] = entries[i];
	}
	map->entries.len = kept;
}

/* Names of code that other code took the place of go. */
static void drop_names(struct perf_map *map)
{
	struct strbuf names = STRBUF_INIT;
	struct perf_map_entry *entry;

	vec_for_each (entry, &map->entries) {
		const char *name = map->names.buf + entry->name;

		if (entry->name == NO_NAME)
			continue;
		entry->name = (uint32_t)names.len;
		strbuf_add(&names, name, strlen(name) + 1);
	}
	strbuf_release(&map->names);
	map->names = names;
}

/* What was read is put in its order; nothing is kept twice. */
static void settle(struct perf_map *map)
{
	size_t before = map->entries.len;

	sort_entries(map);
	map->sorted = map->entries.len;
	if (before - map->entries.len > map->entries.len / 4)
		drop_names(map);
	count_bytes(map);
}

/* A reader came to its end: whoever did that, the third time is the last. */
static void note_end(struct perf_map *map, int r)
{
	char path[64];
	unsigned int before = map->ends;

	map->ends += r == -ETIMEDOUT ? 2 : 1;
	if (before >= MAX_ENDS || map->ends < MAX_ENDS)
		return;
	snprintf(path, sizeof(path), "the %s of process %u", map->is_dump ? "jitdump" : "perf map",
		 map->pid);
	reader_note_refused(path);
}

static uint64_t most_bytes(const struct perf_map *map)
{
	return map->is_dump ? MAX_DUMP_BYTES : MAX_FILE_BYTES;
}

static bool may_read_on(const struct perf_map *map)
{
	return map->bytes < most_bytes(map) && map->ends < MAX_ENDS;
}

static int ask_for_lines(const struct perf_map *map, struct reader_perf_map *lines)
{
	uint64_t left = most_bytes(map) - map->bytes;
	struct err err;

	return map->is_dump ? reader_jit_dump(map->fd, map->owner, map->bytes, left, lines, &err)
			    : reader_perf_map(map->fd, map->owner, map->bytes, left, lines, &err);
}

/* The next lines; false: there are none yet, or none that can be had now, or there was no room for them. */
static bool read_lines(struct perf_map *map, struct reader_perf_map *lines)
{
	bool full = map->entries.len >= MAX_ENTRIES;
	int r = ask_for_lines(map, lines);

	if (reader_has_gone(r))
		note_end(map, r);
	/* A text goes on with its next line, a dump with nothing. */
	if (r == -EBADMSG && map->is_dump)
		map->ends = MAX_ENDS;
	if (r < 0)
		return false;
	map->bytes += lines->taken;
	for (uint32_t i = 0; i < lines->lines; i++)
		add_line(map, &lines->line[i], reader_map_name(lines, &lines->line[i]));
	return lines->taken > 0 && !full;
}

static void read_growth(struct perf_map *map)
{
	_cleanup_free_ struct reader_perf_map *lines = NULL;
	uint64_t stop = map->bytes + MAX_STEP_BYTES, end_ns = clock_now_ns() + MAX_STEP_NS;
	size_t before = map->entries.len;

	if (!may_read_on(map) || map->entries.len >= MAX_ENTRIES)
		return;
	lines = xmalloc(sizeof(*lines));
	while (map->bytes < stop && may_read_on(map) && read_lines(map, lines) &&
	       clock_now_ns() < end_ns)
		;
	if (map->entries.len != before)
		settle(map);
}

static void check_growth(struct perf_map *map)
{
	uint64_t now = clock_now_ns(), cost;

	if (now < map->next_check_ns)
		return;
	read_growth(map);
	cost = clock_now_ns() - now;
	map->next_check_ns = now + MAX(MIN_PAUSE_NS, PAUSE_FACTOR * cost);
}

static struct perf_map *map_of(int fd, uint32_t pid, bool is_dump)
{
	_cleanup_close_ int own_fd = fd;
	struct perf_map *map;
	struct file_id id;

	if (file_id_read(own_fd, &id) < 0)
		return NULL;
	map = xcalloc(1, sizeof(*map));
	map->fd = TAKE_FD(own_fd);
	map->pid = pid;
	map->is_dump = is_dump;
	map->owner = reader_owner(&id);
	check_growth(map);
	return map;
}

struct perf_map *perf_map_of(int fd, uint32_t pid)
{
	return map_of(fd, pid, false);
}

struct perf_map *perf_map_of_dump(int fd, uint32_t pid)
{
	return map_of(fd, pid, true);
}

static bool is_trusted(int fd, uint32_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_uid == uid || st.st_uid == 0);
}

struct perf_map *perf_map_open(uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	struct proc_status status;
	char path[64];

	if (proc_read_status(pid, &status) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", status.ns_pid ? status.ns_pid : pid);
	fd = wall_open_in_root(pid, path, O_NOFOLLOW);
	if (fd < 0 || !is_trusted(fd, status.uid))
		return NULL;
	return perf_map_of(TAKE_FD(fd), pid);
}

bool perf_map_is_dump(const char *path)
{
	static const char deleted[] = " (deleted)", end[] = ".dump";
	const char *name = file_name_of(path);
	size_t len = strlen(name);

	if (len > strlen(deleted) && !strcmp(name + len - strlen(deleted), deleted))
		len -= strlen(deleted);
	return len > strlen(end) && !memcmp(name + len - strlen(end), end, strlen(end)) &&
	       (!strncmp(name, "jit-", 4) || !strncmp(name, "perf-", 5));
}

struct perf_map *perf_map_open_dump(uint32_t pid, const struct mapping *mapping)
{
	_cleanup_close_ int fd = -1;
	struct proc_status status;
	char link[WALL_LINK_BYTES];

	if (proc_read_status(pid, &status) < 0)
		return NULL;
	wall_link(pid, mapping->start, mapping->end, link);
	fd = wall_open(pid, link);
	if (fd < 0)
		fd = wall_open_in_root(pid, mapping->path, O_NOFOLLOW);
	if (fd < 0 || !is_trusted(fd, status.uid))
		return NULL;
	return perf_map_of_dump(TAKE_FD(fd), pid);
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	budget_note(&budget, map->counted, 0);
	vec_release(&map->entries);
	strbuf_release(&map->names);
	close(map->fd);
	free(map);
}

const char *perf_map_find(struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *best = NULL;
	size_t below;

	check_growth(map);
	below = count_up_to(map, address);
	for (size_t back = 1; back <= MIN(below, MAX_OVERLAP); back++) {
		const struct perf_map_entry *entry = &map->entries.items[below - back];

		if (address < entry->end && (!best || entry->sequence > best->sequence))
			best = entry;
	}
	return best && best->name != NO_NAME ? strbuf_str(&map->names) + best->name : NULL;
}
