// SPDX-License-Identifier: Apache-2.0
/*
 * Readers may hold any space, of any age: a forked child's is made by BPF and not known here. So a
 * place is written in three steps, serials to 0, ranges, serials to the new one: a reader who
 * copied a range and finds its own serial at the end has a range of its own list.
 */
#include "unwind/tables/range_lists.h"

#include "base/alloc.h"

void range_lists_init(struct range_lists *lists, struct wire_range *ranges, uint32_t range_count)
{
	memset(lists, 0, sizeof(*lists));
	lists->ranges = ranges;
	lists->range_count = lists->free = range_count;
	if (range_count)
		vec_push(&lists->gaps, ((struct range_gap){ 0, range_count }));
}

void range_lists_release(struct range_lists *lists)
{
	uint64_t serial, list;

	for (size_t at = 0; hmap_next(&lists->by_serial, &at, &serial, &list);)
		free((void *)(uintptr_t)list);
	hmap_release(&lists->by_serial);
	hmap_release(&lists->by_hash);
	vec_release(&lists->gaps);
	vec_release(&lists->scratch);
}

/* --- gaps ------------------------------------------------------------------------------------- */

/* First fit. */
static bool gaps_take(struct range_lists *lists, uint32_t count, uint32_t *ret_first)
{
	for (size_t i = 0; i < lists->gaps.len; i++) {
		struct range_gap *gap = &lists->gaps.items[i];

		if (gap->count < count)
			continue;
		*ret_first = gap->first;
		gap->first += count;
		gap->count -= count;
		if (!gap->count)
			vec_remove(&lists->gaps, i, 1);
		lists->free -= count;
		return true;
	}
	return false;
}

/* The number of gaps that begin below PLACE. */
static size_t gaps_below(const struct range_lists *lists, uint32_t place)
{
	size_t low = 0, high = lists->gaps.len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lists->gaps.items[middle].first < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void gaps_give(struct range_lists *lists, uint32_t first, uint32_t count)
{
	size_t at = gaps_below(lists, first);
	struct range_gap *next;

	lists->free += count;
	if (at < lists->gaps.len && first + count == lists->gaps.items[at].first) {
		lists->gaps.items[at].first = first;
		lists->gaps.items[at].count += count;
	} else {
		vec_insert(&lists->gaps, at, ((struct range_gap){ first, count }));
	}
	next = &lists->gaps.items[at];
	if (at > 0 && next[-1].first + next[-1].count == next->first) {
		next[-1].count += next->count;
		vec_remove(&lists->gaps, at, 1);
	}
}

/* --- equal lists ------------------------------------------------------------------------------ */

/* The serials, which differ, set to 0. */
static uint64_t hash_ranges(struct range_lists *lists, const struct wire_range *ranges,
			    uint32_t count)
{
	vec_reserve(&lists->scratch, count);
	for (uint32_t i = 0; i < count; i++) {
		lists->scratch.items[i] = ranges[i];
		lists->scratch.items[i].serial = 0;
	}
	return hash_bytes(lists->scratch.items, count * sizeof(*ranges));
}

static bool is_equal(const struct range_lists *lists, const struct range_list *list,
		     const struct wire_range *ranges, uint32_t count)
{
	const struct wire_range *have = &lists->ranges[list->first];

	if (list->count != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (memcmp(&have[i], &ranges[i], offsetof(struct wire_range, serial)) != 0)
			return false;
	return true;
}

/* --- idle lists ------------------------------------------------------------------------------- */

static void idle_add(struct range_lists *lists, struct range_list *list)
{
	list->idle_prev = lists->idle_last;
	list->idle_next = NULL;
	if (lists->idle_last)
		lists->idle_last->idle_next = list;
	else
		lists->idle_first = list;
	lists->idle_last = list;
	lists->idle += list->count;
	lists->idle_lists++;
	lists->used -= list->count;
	lists->held--;
}

static void idle_remove(struct range_lists *lists, struct range_list *list)
{
	if (list->idle_prev)
		list->idle_prev->idle_next = list->idle_next;
	else
		lists->idle_first = list->idle_next;
	if (list->idle_next)
		list->idle_next->idle_prev = list->idle_prev;
	else
		lists->idle_last = list->idle_prev;
	lists->idle -= list->count;
	lists->idle_lists--;
}

/* --- lists ------------------------------------------------------------------------------------ */

static uint32_t new_serial(struct range_lists *lists)
{
	do
		lists->last_serial++;
	while (!lists->last_serial || hmap_find_ptr(&lists->by_serial, lists->last_serial));
	return lists->last_serial;
}

static void write_ranges(struct range_lists *lists, const struct range_list *list,
			 const struct wire_range *ranges)
{
	struct wire_range *to = &lists->ranges[list->first];

	for (uint32_t i = 0; i < list->count; i++)
		__atomic_store_n(&to[i].serial, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < list->count; i++) {
		to[i].start = ranges[i].start;
		to[i].end = ranges[i].end;
		to[i].bias = ranges[i].bias;
		to[i].file = ranges[i].file;
	}
	for (uint32_t i = 0; i < list->count; i++)
		__atomic_store_n(&to[i].serial, list->serial, __ATOMIC_RELEASE);
}

static struct range_list *add_list(struct range_lists *lists, const struct wire_range *ranges,
				   uint32_t count, uint64_t hash)
{
	struct range_list *list;
	uint32_t first = 0;

	if (count && !gaps_take(lists, count, &first))
		return NULL;
	list = xcalloc(1, sizeof(*list));
	list->first = first;
	list->count = count;
	list->serial = new_serial(lists);
	list->hash = hash;
	write_ranges(lists, list, ranges);
	hmap_put_ptr(&lists->by_serial, list->serial, list);
	hmap_put_ptr(&lists->by_hash, hash, list);
	return list;
}

struct range_list *range_lists_ref(struct range_lists *lists, const struct wire_range *ranges,
				   uint32_t count, bool *ret_found)
{
	uint64_t hash = hash_ranges(lists, ranges, count);
	struct range_list *list = hmap_find_ptr(&lists->by_hash, hash);

	*ret_found = list && is_equal(lists, list, ranges, count);
	if (*ret_found && list->refs == 0)
		idle_remove(lists, list);
	if (!*ret_found)
		list = add_list(lists, ranges, count, hash);
	if (!list)
		return NULL;
	if (list->refs++ == 0) {
		lists->used += list->count;
		lists->held++;
	}
	return list;
}

void range_lists_unref(struct range_lists *lists, struct range_list *list, uint64_t now_ns)
{
	if (--list->refs > 0)
		return;
	list->idle_ns = now_ns;
	idle_add(lists, list);
}

void range_lists_reclaim(struct range_lists *lists)
{
	struct range_list *list = lists->idle_first;

	idle_remove(lists, list);
	hmap_remove(&lists->by_serial, list->serial);
	if (hmap_find_ptr(&lists->by_hash, list->hash) == list)
		hmap_remove(&lists->by_hash, list->hash);
	if (list->count)
		gaps_give(lists, list->first, list->count);
	free(list);
}

const struct range_list *range_lists_find(const struct range_lists *lists, uint32_t serial)
{
	return hmap_find_ptr(&lists->by_serial, serial);
}

void range_lists_for_each_held(const struct range_lists *lists,
			       void (*fn)(const struct wire_range *range, void *data), void *data)
{
	uint64_t serial, value;

	for (size_t at = 0; hmap_next(&lists->by_serial, &at, &serial, &value);) {
		const struct range_list *list = hmap_find_ptr(&lists->by_serial, serial);

		for (uint32_t i = 0; list->refs && i < list->count; i++)
			fn(&lists->ranges[list->first + i], data);
	}
}
