// SPDX-License-Identifier: Apache-2.0
/*
 * The format is that of Linux tools/perf/Documentation/jit-interface.txt. The file is any user's
 * in a world-writable directory: it counts only when it is no link and the process's user or root
 * owns it, and its text may hold anything.
 */
#include "symbolize/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "process/proc.h"
#include "process/proc_text.h"
#include "wall/wall.h"

#define READ_SIZE (256UL * 1024)
/* A Node.js server under load writes some ten thousand; past this, lines are not read. */
#define MAX_ENTRIES (1U << 20)
#define MAX_NAME    512
/* Of a line before it is looked at: it may never end. */
#define MAX_LINE READ_SIZE
/* Of the file at a time, not to hold up the recording, and in all: it may be a hole of a terabyte. */
#define MAX_STEP_BYTES (16U << 20)
#define MAX_FILE_BYTES (256U << 20)
/* Growth is looked for at most this often, and takes no more than a tenth of the time. */
#define MIN_PAUSE_NS (10 * NSEC_PER_MSEC)
#define PAUSE_FACTOR 10
/* Code that was overwritten by later code leaves entries of other starts behind. */
#define MAX_OVERLAP 16

struct perf_map_entry {
	uint64_t start, end;
	uint32_t name;	   /* offset into names */
	uint32_t sequence; /* line number: of two that overlap the later one is valid */
};

struct perf_map {
	VEC(struct perf_map_entry) entries; /* sorted by start, then sequence */
	struct strbuf names;
	struct strbuf tail; /* an unfinished last line */
	uint32_t lines;
	uint64_t bytes;	  /* read so far */
	uint64_t counted; /* in the budget */
	uint32_t pid;	  /* 0: text */
	int fd;		  /* owned, -1 for text */
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

static bool parse_hex(struct text_cursor *line, uint64_t *ret_value)
{
	if (!text_take_prefix(line, "0x"))
		text_take_prefix(line, "0X");
	return text_take_number(line, 16, ret_value);
}

static void add_line(struct perf_map *map, struct text_cursor line)
{
	struct perf_map_entry entry = { .sequence = map->lines++ };
	uint64_t size;
	size_t len;

	if (!parse_hex(&line, &entry.start))
		return;
	text_skip_blanks(&line);
	if (!parse_hex(&line, &size) || size == 0 ||
	    __builtin_add_overflow(entry.start, size, &entry.end))
		return;
	text_skip_blanks(&line);
	len = MIN((size_t)(line.end - line.at), MAX_NAME);
	if (len == 0 || !has_room(map, len))
		return;
	entry.name = (uint32_t)map->names.len;
	strbuf_add(&map->names, line.at, len);
	strbuf_addch(&map->names, '\0');
	vec_push(&map->entries, entry);
	count_bytes(map);
}

static void add_text(struct perf_map *map, const char *text, size_t len)
{
	struct text_cursor cursor, line;
	const char *last;

	strbuf_add(&map->tail, text, len);
	last = memrchr(strbuf_str(&map->tail), '\n', map->tail.len);
	if (!last) {
		if (map->tail.len > MAX_LINE) /* no text file */
			strbuf_reset(&map->tail);
		return;
	}
	cursor = (struct text_cursor){ map->tail.buf, last + 1 };
	while (text_next_line(&cursor, &line))
		add_line(map, line);
	map->tail.len -= (size_t)(last + 1 - map->tail.buf);
	memmove(map->tail.buf, last + 1, map->tail.len);
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
	if (before - map->entries.len > map->entries.len / 4)
		drop_names(map);
	count_bytes(map);
	if (!map->tail.len)
		strbuf_release(&map->tail);
}

static struct perf_map *map_new(int fd)
{
	struct perf_map *map = xcalloc(1, sizeof(*map));

	map->fd = fd;
	return map;
}

struct perf_map *perf_map_parse(const char *text, size_t len)
{
	struct perf_map *map = map_new(-1);

	add_text(map, text, len);
	settle(map);
	return map;
}

static void read_growth(struct perf_map *map)
{
	_cleanup_free_ char *buffer = NULL;
	uint64_t stop = MIN(map->bytes + MAX_STEP_BYTES, MAX_FILE_BYTES);
	size_t before = map->entries.len;
	ssize_t n;

	if (map->entries.len >= MAX_ENTRIES || map->bytes >= MAX_FILE_BYTES)
		return;
	buffer = xmalloc(READ_SIZE);
	while (map->bytes < stop && map->entries.len < MAX_ENTRIES &&
	       (n = read(map->fd, buffer, READ_SIZE)) > 0) {
		map->bytes += (uint64_t)n;
		add_text(map, buffer, (size_t)n);
	}
	if (map->entries.len != before)
		settle(map);
}

static void check_growth(struct perf_map *map)
{
	uint64_t now = clock_now_ns(), cost;

	if (map->fd < 0 || now < map->next_check_ns)
		return;
	read_growth(map);
	cost = clock_now_ns() - now;
	map->next_check_ns = now + MAX(MIN_PAUSE_NS, PAUSE_FACTOR * cost);
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
	struct perf_map *map;
	char path[64];

	if (proc_read_status(pid, &status) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", status.ns_pid ? status.ns_pid : pid);
	fd = wall_open_in_root(pid, path, O_NOFOLLOW);
	if (fd < 0 || !is_trusted(fd, status.uid))
		return NULL;
	map = map_new(TAKE_FD(fd));
	map->pid = pid;
	check_growth(map);
	return map;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	budget_note(&budget, map->counted, 0);
	vec_release(&map->entries);
	strbuf_release(&map->names);
	strbuf_release(&map->tail);
	if (map->fd >= 0)
		close(map->fd);
	free(map);
}

const char *perf_map_find(struct perf_map *map, uint64_t address)
{
	const struct perf_map_entry *best = NULL, *entries;
	size_t low = 0, high;

	check_growth(map);
	entries = map->entries.items;
	high = map->entries.len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 1; back <= MIN(low, MAX_OVERLAP); back++) {
		const struct perf_map_entry *entry = &entries[low - back];

		if (address < entry->end && (!best || entry->sequence > best->sequence))
			best = entry;
	}
	return best ? strbuf_str(&map->names) + best->name : NULL;
}
