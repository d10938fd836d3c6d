// SPDX-License-Identifier: Apache-2.0
#include "process/mappings.h"

#include <string.h>

#include "process/exec_maps.h"

/* The first mapping that ends after ADDRESS. */
static size_t lower_bound(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->mappings.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->mappings.items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mapping *process_find_mapping(struct process *process, uint64_t address)
{
	size_t i = lower_bound(process, address);

	if (i < process->mappings.len && process->mappings.items[i].start <= address)
		return &process->mappings.items[i];
	return NULL;
}

/* Cut M down to what lies from ADDRESS on. */
static void cut_head(struct mapping *m, uint64_t address)
{
	m->pgoff += address - m->start;
	m->start = address;
}

/* The mapping at AT begins before START and goes on after END: its rest becomes one of its own. */
static void split(struct process *process, size_t at, uint64_t start, uint64_t end)
{
	struct mapping tail = process->mappings.items[at];

	tail.path = xstrdup(tail.path);
	cut_head(&tail, end);
	process->mappings.items[at].end = start;
	vec_insert(&process->mappings, at + 1, tail);
}

/* Make room: nothing of start..end is mapped afterwards. Returns the index to insert at. */
static size_t punch_hole(struct process *process, uint64_t start, uint64_t end)
{
	size_t at = lower_bound(process, start), covered = 0;
	struct mapping *m = process->mappings.items + at;

	if (at < process->mappings.len && m->start < start && m->end > end) {
		split(process, at, start, end);
		return at + 1;
	}
	if (at < process->mappings.len && m->start < start) {
		m->end = start;
		at++;
	}
	while (at + covered < process->mappings.len &&
	       process->mappings.items[at + covered].end <= end)
		free(process->mappings.items[at + covered++].path);
	if (covered > 0)
		vec_remove(&process->mappings, at, covered);
	if (at < process->mappings.len && process->mappings.items[at].start < end)
		cut_head(&process->mappings.items[at], end);
	return at;
}

static bool is_anonymous(const struct mapping *m)
{
	return m->key.inode == 0 && m->path[0] == '\0';
}

/* A growing code cache comes as many adjacent pieces; one mapping is enough for them. */
static bool extend_left_neighbour(struct process *process, size_t at, const struct mapping *m)
{
	struct mapping *left;

	if (at == 0 || !is_anonymous(m))
		return false;
	left = &process->mappings.items[at - 1];
	if (left->end != m->start || !is_anonymous(left))
		return false;
	left->end = m->end;
	return true;
}

void mappings_add(struct process *process, const struct mapping *m)
{
	struct mapping copy = *m;
	size_t at;

	if (m->start >= m->end || process->mappings.len >= MAPPINGS_MAX)
		return;
	/* perf calls anonymous memory so (kernel/events/core.c, perf_event_mmap_event()) */
	copy.path = xstrdup(m->path && strcmp(m->path, "//anon") != 0 ? m->path : "");
	process->mappings_serial++;
	at = punch_hole(process, m->start, m->end);
	if (extend_left_neighbour(process, at, &copy))
		free(copy.path);
	else
		vec_insert(&process->mappings, at, copy);
}

void mappings_clear(struct process *process)
{
	struct mapping *m;

	vec_for_each (m, &process->mappings)
		free(m->path);
	vec_release(&process->mappings);
	process->mappings_serial++;
}

void mappings_copy(struct process *to, const struct process *from)
{
	struct mapping *m;

	mappings_clear(to);
	vec_reserve(&to->mappings, from->mappings.len);
	if (from->mappings.len == 0)
		return;
	memcpy(to->mappings.items, from->mappings.items,
	       from->mappings.len * sizeof(struct mapping));
	to->mappings.len = from->mappings.len;
	vec_for_each (m, &to->mappings)
		m->path = xstrdup(m->path);
}

static void add_one(const struct mapping *m, bool writable, void *data)
{
	(void)writable;
	mappings_add(data, m);
}

int mappings_read(struct process *process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	return exec_maps_read(process->pid, path, add_one, process);
}
