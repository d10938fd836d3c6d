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

/* Every second one is a stub, whose name counts. */
static struct code_entry *make_any(void)
{
	struct code_entry *entry = make(1 + draw(PLACES), 1 + draw(LONGEST), draw(100));

	if (draw(2))
		entry->stub = xstrdup("stub");
	return entry;
}

/* Slots are sorted by their start, equal ones as they came. */
static void expect_sorted(const struct code_index *index)
{
	uint64_t max_stop = 0;
	size_t bytes = 0;

	for (size_t i = 0; i < index->slots.len; i++) {
		const struct code_slot *slot = &index->slots.items[i];

		assert_true(!i || index->slots.items[i - 1].entry->start <= slot->entry->start);
		max_stop = MAX(max_stop, code_entry_stop(slot->entry));
		assert_true(slot->max_stop == max_stop);
		bytes += code_entry_bytes(slot->entry) + sizeof(*slot);
	}
	assert_int_equal(index->bytes, bytes);
}

/* What overlaps [START, STOP), the highest start first; none is left out and none is more. */
static void expect_walk(const struct code_index *index, uint64_t start, uint64_t stop)
{
	size_t at = code_index_seek(index, stop), i = index->slots.len;
	struct code_entry *entry;

	for (size_t k = 0; k < index->slots.len; k++)
		assert_true((index->slots.items[k].entry->start >= stop) == (k >= at));
	while ((entry = code_index_prev(index, &at, start))) {
		for (;;) {
			const struct code_entry *next;

			assert_true(i > 0);
			next = index->slots.items[--i].entry;
			if (next->start < stop && code_entry_stop(next) > start)
				break;
		}
		assert_ptr_equal(index->slots.items[i].entry, entry);
		assert_int_equal(at, i);
	}
	while (i-- > 0)
		assert_false(index->slots.items[i].entry->start < stop &&
			     code_entry_stop(index->slots.items[i].entry) > start);
	assert_null(code_index_prev(index, &at, start));
}

static void entries_at_random(void **state)
{
	(void)state;
	for (seed = 1; seed < 4; seed++) {
		struct code_index index = { .bytes = 0 };

		for (unsigned int i = 0; i < ENTRIES; i++) {
			code_index_add(&index, make_any());
			expect_sorted(&index);
		}
		assert_int_equal(index.slots.len, ENTRIES);
		for (uint64_t start = 0; start < PLACES + LONGEST + 2; start += 3) {
			expect_walk(&index, start, start + 1);
			expect_walk(&index, start, start + 1 + draw(40));
		}
		code_index_release(&index);
		assert_int_equal(index.slots.len, 0);
		assert_int_equal(index.bytes, 0);
	}
}

static void what_ended_before_the_horizon_goes(void **state)
{
	struct code_index index = { .bytes = 0 };
	size_t left = ENTRIES;

	(void)state;
	seed = 7;
	for (unsigned int i = 0; i < ENTRIES; i++)
		code_index_add(&index, make_any());
	for (uint64_t horizon = 0; horizon <= 100; horizon += 10) {
		size_t kept = 0;

		for (size_t i = 0; i < index.slots.len; i++)
			kept += index.slots.items[i].entry->end_ns >= horizon;
		code_index_expire(&index, horizon);
		assert_int_equal(index.slots.len, kept);
		for (size_t i = 0; i < index.slots.len; i++)
			assert_true(index.slots.items[i].entry->end_ns >= horizon);
		expect_sorted(&index);
		expect_walk(&index, 40, 90);
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
	size_t at;

	(void)state;
	code_index_add(&index, first);
	code_index_add(&index, second);
	at = code_index_seek(&index, 11);
	assert_ptr_equal(code_index_prev(&index, &at, 10), second);
	assert_ptr_equal(code_index_prev(&index, &at, 10), first);
	assert_null(code_index_prev(&index, &at, 10));
	/* Its end is no part of it. */
	at = code_index_seek(&index, 11);
	assert_ptr_equal(code_index_prev(&index, &at, 14), second);
	at = code_index_seek(&index, 11);
	assert_null(code_index_prev(&index, &at, 15));
	code_index_release(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_at_random),
		cmocka_unit_test(what_ended_before_the_horizon_goes),
		cmocka_unit_test(the_newest_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
