/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_index.h"

#include "base/alloc.h"
#include "base/vec.h"

/*
 * Functions that call themselves go down one level each time: an AVL tree of all entries that fit
 * into memory has less than 40.
 */

static unsigned int height(const struct code_entry *entry)
{
	return entry ? entry->height : 0;
}

/* Where the code of ENTRY ends, 0 when what is asked for lives and it does not. */
static uint64_t own_stop(const struct code_entry *entry, bool live)
{
	return live && entry->end != CODE_LIVE ? 0 : code_entry_stop(entry);
}

static uint64_t max_stop(const struct code_entry *top, bool live)
{
	if (!top)
		return 0;
	return live ? top->max_live_stop : top->max_stop;
}

static uint64_t sum_stops(const struct code_entry *entry, bool live)
{
	uint64_t below = MAX(max_stop(entry->before, live), max_stop(entry->after, live));

	return MAX(below, own_stop(entry, live));
}

/* What ENTRY says of all below it follows from its two children. */
static void sum_up(struct code_entry *entry)
{
	entry->max_stop = sum_stops(entry, false);
	entry->max_live_stop = sum_stops(entry, true);
	entry->height = (uint8_t)(1 + MAX(height(entry->before), height(entry->after)));
}

static struct code_entry *rotate_back(struct code_entry *entry)
{
	struct code_entry *top = entry->before;

	entry->before = top->after;
	top->after = entry;
	sum_up(entry);
	sum_up(top);
	return top;
}

static struct code_entry *rotate_forth(struct code_entry *entry)
{
	struct code_entry *top = entry->after;

	entry->after = top->before;
	top->before = entry;
	sum_up(entry);
	sum_up(top);
	return top;
}

/* The top of the same subtree, neither of whose sides is deeper by two. */
static struct code_entry *balance(struct code_entry *entry)
{
	if (height(entry->before) > height(entry->after) + 1) {
		if (height(entry->before->after) > height(entry->before->before))
			entry->before = rotate_forth(entry->before);
		return rotate_back(entry);
	}
	if (height(entry->after) > height(entry->before) + 1) {
		if (height(entry->after->before) > height(entry->after->after))
			entry->after = rotate_back(entry->after);
		return rotate_forth(entry);
	}
	sum_up(entry);
	return entry;
}

static struct code_entry *insert(struct code_entry *top, struct code_entry *entry)
{
	if (!top)
		return entry;
	if (entry->start < top->start)
		top->before = insert(top->before, entry);
	else
		top->after = insert(top->after, entry);
	return balance(top);
}

void code_index_add(struct code_index *index, struct code_entry *entry)
{
	entry->before = entry->after = NULL;
	entry->order = ++index->orders;
	sum_up(entry);
	index->root = insert(index->root, entry);
	index->len++;
	index->bytes += code_entry_bytes(entry);
}

static void for_each(struct code_entry *top, void (*fn)(struct code_entry *entry, void *data),
		     void *data)
{
	if (!top)
		return;
	for_each(top->before, fn, data);
	fn(top, data);
	for_each(top->after, fn, data);
}

void code_index_for_each(const struct code_index *index,
			 void (*fn)(struct code_entry *entry, void *data), void *data)
{
	for_each(index->root, fn, data);
}

/* --- walking ---------------------------------------------------------------------------------- */

static bool is_before(const struct code_entry *entry, uint64_t start, uint64_t order)
{
	return entry->start != start ? entry->start < start : entry->order < order;
}

/* The last one below TOP that ends after START: there is one. */
static struct code_entry *last_below(struct code_entry *top, uint64_t start, bool live)
{
	for (;;) {
		if (max_stop(top->after, live) > start)
			top = top->after;
		else if (own_stop(top, live) > start)
			return top;
		else
			top = top->before;
	}
}

/*
 * On the way down to the place AT each entry that is passed on its right side, with all that lies
 * before it, comes into question; the last one with an answer is the nearest.
 */
static struct code_entry *prev(const struct code_index *index, struct code_walk *at, uint64_t start,
			       bool live)
{
	struct code_entry *top = index->root, *found = NULL;

	while (max_stop(top, live) > start) {
		if (!is_before(top, at->start, at->order)) {
			top = top->before;
			continue;
		}
		if (own_stop(top, live) > start || max_stop(top->before, live) > start)
			found = top;
		top = top->after;
	}
	if (found && own_stop(found, live) <= start)
		found = last_below(found->before, start, live);
	if (found)
		*at = (struct code_walk){ found->start, found->order };
	return found;
}

struct code_entry *code_index_prev(const struct code_index *index, struct code_walk *at,
				   uint64_t start)
{
	return prev(index, at, start, false);
}

struct code_entry *code_index_prev_live(const struct code_index *index, struct code_walk *at,
					uint64_t start)
{
	return prev(index, at, start, true);
}

static void sum_up_to(struct code_entry *top, const struct code_entry *entry)
{
	if (top != entry)
		sum_up_to(is_before(top, entry->start, entry->order) ? top->after : top->before,
			  entry);
	sum_up(top);
}

void code_index_note_end(struct code_index *index, const struct code_entry *entry)
{
	sum_up_to(index->root, entry);
}

/* --- giving up -------------------------------------------------------------------------------- */

static void free_below(struct code_entry *top)
{
	if (!top)
		return;
	free_below(top->before);
	free_below(top->after);
	code_entry_free(top);
}

void code_index_release(struct code_index *index)
{
	free_below(index->root);
	*index = (struct code_index){ NULL, 0, 0, 0 };
}

struct sweep {
	VEC(struct code_entry *) kept;
	size_t ended;
	uint64_t horizon_ns;
	struct code_index *index;
};

static void count_ended(struct code_entry *entry, void *data)
{
	struct sweep *sweep = data;

	sweep->ended += entry->end_ns < sweep->horizon_ns;
}

static void keep(struct code_entry *entry, void *data)
{
	struct sweep *sweep = data;

	if (entry->end_ns >= sweep->horizon_ns)
		vec_push(&sweep->kept, entry);
}

static void free_ended(struct code_entry *top, struct sweep *sweep)
{
	if (!top)
		return;
	free_ended(top->before, sweep);
	free_ended(top->after, sweep);
	if (top->end_ns >= sweep->horizon_ns)
		return;
	sweep->index->bytes -= code_entry_bytes(top);
	code_entry_free(top);
}

/* A tree of COUNT entries in their order, as flat as can be. */
static struct code_entry *build(struct code_entry **entries, size_t count)
{
	struct code_entry *top;

	if (!count)
		return NULL;
	top = entries[count / 2];
	top->before = build(entries, count / 2);
	top->after = build(entries + count / 2 + 1, count - count / 2 - 1);
	sum_up(top);
	return top;
}

void code_index_expire(struct code_index *index, uint64_t horizon_ns)
{
	struct sweep sweep = { VEC_INIT, 0, horizon_ns, index };

	code_index_for_each(index, count_ended, &sweep);
	if (!sweep.ended)
		return;
	vec_reserve(&sweep.kept, index->len - sweep.ended);
	code_index_for_each(index, keep, &sweep);
	free_ended(index->root, &sweep);
	index->len = sweep.kept.len;
	index->root = build(sweep.kept.items, sweep.kept.len);
	vec_release(&sweep.kept);
}
