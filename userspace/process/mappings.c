// SPDX-License-Identifier: Apache-2.0
#include "process/mappings.h"

#include <string.h>

#include "process/exec_maps.h"
#include "process/process_memory.h"

struct mapping_share {
	uint32_t refs;	    /* processes */
	uint64_t own_bytes; /* the list, and the paths that came with it */
	size_t counted;	    /* entries in the budget */
};

static struct mappings_stats stats;

void mappings_get_stats(struct mappings_stats *ret_stats)
{
	*ret_stats = stats;
}

static void leave_out(const struct process *process)
{
	if (!stats.left_out++) {
		stats.pid = process->pid;
		memcpy(stats.comm, process->comm, sizeof(stats.comm));
	}
}

/* The list has another length now. */
static void count_entries(const struct process *process)
{
	struct mapping_share *share = process->share;
	uint64_t before = share->counted * sizeof(struct mapping);
	uint64_t after = process->mappings.len * sizeof(struct mapping);

	budget_note(process_budget(), before, after);
	share->own_bytes += after - before;
	share->counted = process->mappings.len;
}

static void release_list(struct process *process)
{
	struct mapping *m;

	vec_for_each (m, &process->mappings)
		process_text_unref(m->path);
	process->mappings.len = 0;
	count_entries(process);
	free(process->share);
	vec_release(&process->mappings);
}

/* The list is this process's alone from now on. */
static bool make_own(struct process *process)
{
	struct mapping_share *before = process->share;
	size_t bytes = process->mappings.len * sizeof(struct mapping);
	struct mapping *m;

	if (before && before->refs == 1)
		return true;
	if (before && !budget_fits(process_budget(), 0, bytes))
		return false;
	process->share = xcalloc(1, sizeof(*process->share));
	process->share->refs = 1;
	if (!before)
		return true;
	before->refs--;
	process->mappings.items = xmemdup(process->mappings.items, bytes);
	process->mappings.cap = process->mappings.len;
	vec_for_each (m, &process->mappings)
		process_text_again(m->path);
	count_entries(process);
	return true;
}

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

	process_text_again(tail.path);
	cut_head(&tail, end);
	process->mappings.items[at].end = start;
	vec_insert(&process->mappings, at + 1, tail);
}

/*
 * Make room: nothing of start..end is mapped afterwards. Returns the index to insert at; *RET_FREE: what is there has gone, and its place
 * is to be taken, so that who maps one thing over the other does not have all that is behind move twice.
 */
static size_t punch_hole(struct process *process, uint64_t start, uint64_t end, bool *ret_free)
{
	size_t at = lower_bound(process, start), covered = 0;
	struct mapping *m = process->mappings.items + at;

	*ret_free = false;
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
		process_text_unref(process->mappings.items[at + covered++].path);
	if (covered > 1)
		vec_remove(&process->mappings, at + 1, covered - 1);
	*ret_free = covered > 0;
	if (at + *ret_free < process->mappings.len &&
	    process->mappings.items[at + *ret_free].start < end)
		cut_head(&process->mappings.items[at + *ret_free], end);
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

static bool has_equal(struct process *process, const struct mapping *m, const char *path)
{
	const struct mapping *have = process_find_mapping(process, m->start);

	return have && have->start == m->start && have->end == m->end && have->pgoff == m->pgoff &&
	       memcmp(&have->key, &m->key, sizeof(m->key)) == 0 && strcmp(have->path, path) == 0;
}

static char *keep_path(struct process *process, const char *path)
{
	char *kept = process_text_ref(path, &process->share->own_bytes);

	if (kept)
		return kept;
	leave_out(process);
	return process_text_ref(PROCESS_PATH_LEFT_OUT, &process->share->own_bytes);
}

void mappings_add(struct process *process, const struct mapping *m)
{
	/* perf calls anonymous memory so (kernel/events/core.c, perf_event_mmap_event()) */
	const char *path = m->path && strcmp(m->path, "//anon") != 0 ? m->path : "";
	struct mapping copy = *m;
	bool has_place;
	size_t at;

	if (m->start >= m->end || has_equal(process, m, path))
		return;
	if (process->mappings.len >= MAPPINGS_MAX || !make_own(process) ||
	    !budget_fits(process_budget(), process->share->own_bytes, sizeof(copy))) {
		leave_out(process);
		return;
	}
	copy.path = keep_path(process, path);
	if (!copy.path)
		return;
	process->mappings_serial++;
	at = punch_hole(process, m->start, m->end, &has_place);
	if (extend_left_neighbour(process, at, &copy)) {
		process_text_unref(copy.path);
		if (has_place)
			vec_remove(&process->mappings, at, 1);
	} else if (has_place) {
		process->mappings.items[at] = copy;
	} else {
		vec_insert(&process->mappings, at, copy);
	}
	count_entries(process);
}

void mappings_clear(struct process *process)
{
	struct mapping_share *share = process->share;

	if (share && share->refs > 1) {
		share->refs--;
		memset(&process->mappings, 0, sizeof(process->mappings));
	} else if (share) {
		release_list(process);
	} else {
		vec_release(&process->mappings);
	}
	process->share = NULL;
	process->mappings_serial++;
}

void mappings_copy(struct process *to, const struct process *from)
{
	mappings_clear(to);
	if (!from->share)
		return;
	from->share->refs++;
	to->share = from->share;
	to->mappings = from->mappings;
}

static void add_one(const struct exec_map *map, void *data)
{
	mappings_add(data, &map->m);
}

int mappings_read(struct process *process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	return exec_maps_read(process->pid, path, add_one, process);
}
