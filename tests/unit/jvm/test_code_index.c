/* SPDX-License-Identifier: Apache-2.0 */
/* The index of entries against a list that is searched from end to end. */
#include "test.h"

#include "base/alloc.h"
#include "jvm/codemap/code_index.h"

#define ENTRIES 400
#define PLACES	200 /* starts are below this */
#define LONGEST 24

static uint32_t seed;

static uint32_t draw(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static struct code_entry *make(uint64_t start, uint32_t bytes, uint64_t end_ns)
{
	struct code_entry *entry = xcalloc(1, sizeof(*entry));

	entry->start = start;
	entry->code_bytes = bytes;
	entry->end_ns = end_ns;
	return entry;
}

/* Every second one is a stub, whose name counts, every third one has ended. */
static struct code_entry *make_any(void)
{
	struct code_entry *entry = make(1 + draw(PLACES), 1 + draw(LONGEST), draw(100));

	if (draw(2))
		entry->stub = xstrdup("stub");
	if (!draw(3))
		entry->end = CODE_UNLOADED;
	return entry;
}

/* The same entries as a list, lowest start first, equal ones as they came. */
struct list {
	struct code_entry *items[2 * ENTRIES];
	size_t len;
};

static void append(struct code_entry *entry, void *data)
{
	struct list *list = data;

	assert_true(list->len < ARRAY_SIZE(list->items));
	list->items[list->len++] = entry;
}

struct stops {
	uint64_t all, live;
};

/* Its height, when it is balanced and knows of what is below it. */
static unsigned int expect_balanced(const struct code_entry *top, struct stops *ret_stops)
{
	struct stops b, a;
	unsigned int before, after;

	*ret_stops = (struct stops){ 0, 0 };
	if (!top)
		return 0;
	before = expect_balanced(top->before, &b);
	after = expect_balanced(top->after, &a);
	assert_true(before <= after + 1 && after <= before + 1);
	assert_int_equal(top->height, 1 + MAX(before, after));
	ret_stops->all = MAX(code_entry_stop(top), MAX(b.all, a.all));
	ret_stops->live = MAX(top->end ? 0 : code_entry_stop(top), MAX(b.live, a.live));
	assert_true(top->max_stop == ret_stops->all);
	assert_true(top->max_live_stop == ret_stops->live);
	return top->height;
}

static void expect_sorted(const struct code_index *index, struct list *ret_list)
{
	struct stops stops;
	size_t bytes = 0;

	ret_list->len = 0;
	code_index_for_each(index, append, ret_list);
	assert_int_equal(ret_list->len, index->len);
	for (size_t i = 0; i < ret_list->len; i++) {
		const struct code_entry *entry = ret_list->items[i];
		const struct code_entry *last = i ? ret_list->items[i - 1] : NULL;

		assert_true(!last || last->start < entry->start ||
			    (last->start == entry->start && last->order < entry->order));
		bytes += code_entry_bytes(entry);
	}
	assert_int_equal(index->bytes, bytes);
	expect_balanced(index->root, &stops);
}

/* What overlaps [START, STOP), the highest start first; none is left out and none is more. */
static void expect_walk(const struct code_index *index, const struct list *list, uint64_t start,
			uint64_t stop)
{
	struct code_walk at = code_index_seek(stop), live = at;

	for (size_t i = list->len; i-- > 0;) {
		struct code_entry *entry = list->items[i];

		if (entry->start >= stop || code_entry_stop(entry) <= start)
			continue;
		assert_ptr_equal(code_index_prev(index, &at, start), entry);
		if (entry->end == CODE_LIVE)
			assert_ptr_equal(code_index_prev_live(index, &live, start), entry);
	}
	assert_null(code_index_prev(index, &at, start));
	assert_null(code_index_prev_live(index, &live, start));
}

static void entries_at_random(void **state)
{
	(void)state;
	for (seed = 1; seed < 4; seed++) {
		struct code_index index = { .bytes = 0 };
		struct list list;

		for (unsigned int i = 0; i < ENTRIES; i++) {
			code_index_add(&index, make_any());
			expect_sorted(&index, &list);
		}
		assert_int_equal(index.len, ENTRIES);
		for (uint64_t start = 0; start < PLACES + LONGEST + 2; start += 3) {
			expect_walk(&index, &list, start, start + 1);
			expect_walk(&index, &list, start, start + 1 + draw(40));
		}
		for (unsigned int i = 0; i < ENTRIES; i += 7) {
			list.items[i]->end = CODE_UNLOADED;
			code_index_note_end(&index, list.items[i]);
			expect_sorted(&index, &list);
		}
		expect_walk(&index, &list, 40, 90);
		code_index_release(&index);
		assert_int_equal(index.len, 0);
		assert_int_equal(index.bytes, 0);
	}
}

static void what_ended_before_the_horizon_goes(void **state)
{
	struct code_index index = { .bytes = 0 };
	size_t left = ENTRIES;
	struct list list;

	(void)state;
	seed = 7;
	for (unsigned int i = 0; i < ENTRIES; i++)
		code_index_add(&index, make_any());
	for (uint64_t horizon = 0; horizon <= 100; horizon += 10) {
		size_t kept = 0;

		expect_sorted(&index, &list);
		for (size_t i = 0; i < list.len; i++)
			kept += list.items[i]->end_ns >= horizon;
		code_index_expire(&index, horizon);
		assert_int_equal(index.len, kept);
		expect_sorted(&index, &list);
		for (size_t i = 0; i < list.len; i++)
			assert_true(list.items[i]->end_ns >= horizon);
		expect_walk(&index, &list, 40, 90);
		left = kept;
	}
	assert_int_equal(left, 0);
	assert_int_equal(index.bytes, 0);
	code_index_release(&index);
}

/* Of equal starts the last that came is met first. */
static void the_newest_comes_first(void **state)
{
	struct code_index index = { .bytes = 0 };
	struct code_entry *first = make(10, 5, 1), *second = make(10, 5, 2);
	struct code_walk at;

	(void)state;
	code_index_add(&index, first);
	code_index_add(&index, second);
	at = code_index_seek(11);
	assert_ptr_equal(code_index_prev(&index, &at, 10), second);
	assert_ptr_equal(code_index_prev(&index, &at, 10), first);
	assert_null(code_index_prev(&index, &at, 10));
	/* Its end is no part of it. */
	at = code_index_seek(11);
	assert_ptr_equal(code_index_prev(&index, &at, 14), second);
	at = code_index_seek(11);
	assert_null(code_index_prev(&index, &at, 15));
	code_index_release(&index);
}

/*
 * In whatever order they come, each takes a few steps: as many as the tree is high. A list of 440,000
 * at falling addresses took a minute.
 */
static void no_order_is_slow(void **state)
{
	enum { MANY = 100000 };

	(void)state;
	for (unsigned int order = 0; order < 3; order++) {
		struct code_index index = { .bytes = 0 };
		struct stops stops;

		for (uint64_t i = 0; i < MANY; i++) {
			const uint64_t at[] = { MANY - i, i, i % 2 ? MANY + i : MANY - i };

			code_index_add(&index, make(64 * at[order], (uint32_t)(64 * i + 1), 1));
		}
		assert_int_equal(index.len, MANY);
		/* 1.44 times the logarithm */
		assert_in_range(expect_balanced(index.root, &stops), 17, 24);
		code_index_release(&index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_at_random),
		cmocka_unit_test(what_ended_before_the_horizon_goes),
		cmocka_unit_test(the_newest_comes_first),
		cmocka_unit_test(no_order_is_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
