// SPDX-License-Identifier: Apache-2.0
#include "unwind/tables/space_store.h"

#include <errno.h>

#include "unwind/tables/quarantine.h"
#include "unwind/tables/range_lists.h"

/* So much of the ranges (or of the spaces) is given up at a time, and kept ahead of need. */
#define SPARE_SHARE 16
/*
 * Lists that no space has are kept for children, whose spaces BPF copies: who is not sampled for so many ends of other processes has his
 * mappings read when he is. A list takes 200 bytes beside its ranges.
 */
#define MAX_IDLE_LISTS 2048

struct space_note {
	struct space_identity id;
	uint64_t order; /* of its put, among all */
	struct range_list *list;
};

struct space_age {
	uint64_t used_s; /* 0: BPF has deleted its entry, or it is another process's */
	uint64_t order;
	uint32_t tgid;
};

struct space_store {
	struct table_memory *memory; /* borrowed */
	struct range_lists lists;
	struct hmap by_tgid; /* -> index into notes */
	VEC(struct space_note) notes;
	VEC(struct space_age) ages; /* scratch */
	uint64_t puts, shared, evicted, waits;
};

struct space_store *space_store_new(struct table_memory *memory)
{
	struct space_store *store = xcalloc(1, sizeof(*store));

	store->memory = memory;
	range_lists_init(&store->lists, memory->ranges, memory->range_count);
	return store;
}

void space_store_free(struct space_store *store)
{
	if (!store)
		return;
	range_lists_release(&store->lists);
	hmap_release(&store->by_tgid);
	vec_release(&store->notes);
	vec_release(&store->ages);
	free(store);
}

/* --- notes ------------------------------------------------------------------------------------ */

static struct space_note *find_note(const struct space_store *store, uint32_t tgid)
{
	uint64_t at;

	return hmap_get(&store->by_tgid, tgid, &at) ? &store->notes.items[at] : NULL;
}

static struct space_note *take_note(struct space_store *store, uint32_t tgid)
{
	struct space_note *note = find_note(store, tgid);

	if (note)
		return note;
	vec_push(&store->notes, (struct space_note){ .id.tgid = tgid });
	hmap_put(&store->by_tgid, tgid, store->notes.len - 1);
	return &store->notes.items[store->notes.len - 1];
}

static void remove_note(struct space_store *store, struct space_note *note)
{
	const struct space_note *last = &store->notes.items[store->notes.len - 1];

	hmap_put(&store->by_tgid, last->id.tgid, (uint64_t)(note - store->notes.items));
	hmap_remove(&store->by_tgid, note->id.tgid);
	*note = *last;
	store->notes.len--;
}

/* --- giving up -------------------------------------------------------------------------------- */

static void give_back(struct space_store *store, struct range_list *list, uint64_t now_ns)
{
	struct range_lists *lists = &store->lists;

	range_lists_unref(lists, list, quarantine_begin(now_ns));
	while (lists->idle_lists > MAX_IDLE_LISTS &&
	       quarantine_is_over(lists->idle_first->idle_ns, now_ns))
		range_lists_reclaim(lists);
}

void space_store_drop(struct space_store *store, uint32_t tgid, uint64_t now_ns)
{
	struct space_note *note = find_note(store, tgid);

	/* Also what BPF made of a parent's. That it is not there is what is wanted. */
	store->memory->set_space(tgid, NULL, store->memory->data);
	if (!note)
		return;
	give_back(store, note->list, now_ns);
	remove_note(store, note);
}

static int compare_ages(const void *a, const void *b)
{
	const struct space_age *x = a, *y = b;

	if (x->used_s != y->used_s)
		return x->used_s < y->used_s ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void list_ages(struct space_store *store)
{
	const struct space_note *note;

	store->ages.len = 0;
	vec_for_each (note, &store->notes) {
		struct space_age age = { .order = note->order, .tgid = note->id.tgid };
		struct wire_space space;

		if (store->memory->get_space(age.tgid, &space, store->memory->data) == 0 &&
		    space.start_ns == note->id.start_ns)
			age.used_s = space.used_s;
		vec_push(&store->ages, age);
	}
	if (store->ages.len)
		qsort(store->ages.items, store->ages.len, sizeof(*store->ages.items), compare_ages);
}

/* Give up the spaces that were not used for longest: at least one, and RANGES ranges of them. */
static bool evict(struct space_store *store, uint32_t ranges, uint64_t now_ns)
{
	size_t least = store->notes.len / SPARE_SHARE + 1;
	uint32_t before = store->lists.idle;

	list_ages(store);
	for (size_t i = 0; i < store->ages.len; i++) {
		if (i >= least && store->lists.idle - before >= ranges)
			break;
		space_store_drop(store, store->ages.items[i].tgid, now_ns);
		store->evicted++;
	}
	return store->ages.len > 0;
}

/* --- putting ---------------------------------------------------------------------------------- */

/*
 * One idle list less, when its readers are through. Spaces are given up ahead of need, so that this
 * rarely waits.
 */
static void make_gap(struct space_store *store, uint32_t ranges, uint64_t *now_ns)
{
	struct range_lists *lists = &store->lists;
	uint32_t spare = lists->range_count / SPARE_SHARE;

	if (lists->idle < ranges + spare)
		evict(store, ranges + spare, *now_ns);
	if (!quarantine_is_over(lists->idle_first->idle_ns, *now_ns)) {
		*now_ns = quarantine_wait(lists->idle_first->idle_ns, *now_ns);
		store->waits++;
	}
	range_lists_reclaim(lists);
}

/* COUNT ranges are not more than fit, so there is a gap at the latest when all lists are gone. */
static struct range_list *ref_list(struct space_store *store, const struct wire_range *ranges,
				   uint32_t count, uint64_t *now_ns)
{
	struct range_list *list;
	bool found;

	while (!(list = range_lists_ref(&store->lists, ranges, count, &found)))
		make_gap(store, count, now_ns);
	store->shared += found;
	return list;
}

static int set_space(struct space_store *store, uint32_t tgid, const struct wire_space *space,
		     uint64_t now_ns)
{
	struct table_memory *memory = store->memory;
	int ret;

	while ((ret = memory->set_space(tgid, space, memory->data)) == -E2BIG)
		if (!evict(store, 0, now_ns))
			break;
	return ret;
}

static bool is_sorted(const struct wire_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].start >= ranges[i].end ||
		    (i > 0 && ranges[i].start < ranges[i - 1].end))
			return false;
	return true;
}

static void note_space(struct space_store *store, const struct space_identity *id,
		       struct range_list *list, uint64_t now_ns)
{
	struct space_note *note = take_note(store, id->tgid);

	if (note->list)
		give_back(store, note->list, now_ns);
	*note = (struct space_note){ *id, ++store->puts, list };
}

int space_store_put(struct space_store *store, const struct space_identity *id,
		    const struct space_content *content, uint64_t now_ns)
{
	struct range_list *list;
	struct wire_space space;
	int ret;

	if (content->count > MIN(store->lists.range_count, RANGE_LIST_MAX))
		return -ENOSPC;
	if (!is_sorted(content->ranges, content->count))
		return -EINVAL;
	list = ref_list(store, content->ranges, (uint32_t)content->count, &now_ns);
	space = (struct wire_space){
		.start_ns = id->start_ns,
		.exec_id = id->exec_id,
		.serial = list->serial,
		.first = list->first,
		.count = list->count,
		.exec_pages = content->exec_pages,
		.used_s = (uint32_t)(now_ns / NSEC_PER_SEC),
		.jvm = content->jvm,
	};
	ret = set_space(store, id->tgid, &space, now_ns);
	if (ret < 0)
		give_back(store, list, now_ns);
	else
		note_space(store, id, list, now_ns);
	return ret;
}

/* What BPF writes meanwhile (used_s, strays) may be lost: it is written again. */
int space_store_set_jvm(struct space_store *store, const struct space_identity *id, uint32_t jvm)
{
	struct table_memory *memory = store->memory;
	struct wire_space space;

	if (memory->get_space(id->tgid, &space, memory->data) < 0 ||
	    space.start_ns != id->start_ns || space.exec_id != id->exec_id)
		return -ENOENT;
	if (space.jvm == jvm)
		return 0;
	space.jvm = jvm;
	return memory->set_space(id->tgid, &space, memory->data);
}

/* --- reading ---------------------------------------------------------------------------------- */

int space_store_get(const struct space_store *store, uint32_t tgid, struct wire_space *ret_space,
		    const struct wire_range **ret_ranges)
{
	const struct range_list *list;
	struct wire_space space;

	if (store->memory->get_space(tgid, &space, store->memory->data) < 0)
		return -ENOENT;
	list = range_lists_find(&store->lists, space.serial);
	if (!list || list->first != space.first || list->count != space.count)
		return -ENOENT;
	*ret_space = space;
	*ret_ranges = &store->lists.ranges[list->first];
	return 0;
}

void space_store_for_each_range(const struct space_store *store,
				void (*fn)(const struct wire_range *range, void *data), void *data)
{
	range_lists_for_each_held(&store->lists, fn, data);
}

void space_store_get_stats(const struct space_store *store, struct space_store_stats *ret_stats)
{
	*ret_stats = (struct space_store_stats){
		.spaces = (uint32_t)store->notes.len,
		.lists = store->lists.held,
		.idle_lists = store->lists.idle_lists,
		.ranges_used = store->lists.used,
		.ranges_free = store->lists.free + store->lists.idle,
		.puts = store->puts,
		.shared = store->shared,
		.evicted = store->evicted,
		.waits = store->waits,
	};
}
