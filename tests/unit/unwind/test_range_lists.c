// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <string.h>

#include "unwind/tables/range_lists.h"

#define PLACES 16

static struct wire_range places[PLACES];

/* COUNT ranges that differ from those of another NUMBER. */
static struct range_list *ref_ranges(struct range_lists *lists, uint32_t number, uint32_t count,
				     bool *ret_found)
{
	struct wire_range ranges[PLACES] = {};

	for (uint32_t i = 0; i < count; i++)
		ranges[i] = (struct wire_range){ .start = 0x1000 * (i + 1),
						 .end = 0x1000 * (i + 2),
						 .bias = number,
						 .file = i,
						 .serial = 0xdead };
	return range_lists_ref(lists, ranges, count, ret_found);
}

static void expect_ranges(const struct range_list *list, uint32_t number)
{
	for (uint32_t i = 0; i < list->count; i++) {
		assert_int_equal(places[list->first + i].start, 0x1000 * (i + 1));
		assert_int_equal(places[list->first + i].bias, number);
		assert_int_equal(places[list->first + i].file, i);
		assert_int_equal(places[list->first + i].serial, list->serial);
	}
}

static void test_equal_lists_are_one(void **state)
{
	struct range_lists lists;
	struct range_list *a, *b, *c;
	bool found;

	(void)state;
	range_lists_init(&lists, places, PLACES);
	a = ref_ranges(&lists, 1, 5, &found);
	assert_false(found);
	b = ref_ranges(&lists, 1, 5, &found);
	assert_true(found);
	assert_ptr_equal(a, b);
	c = ref_ranges(&lists, 1, 4, &found);
	assert_false(found);
	assert_int_not_equal(a->serial, c->serial);
	assert_int_equal(lists.used, 9);
	assert_int_equal(lists.held, 2);
	range_lists_unref(&lists, a, 10);
	assert_int_equal(lists.used, 9);
	range_lists_unref(&lists, b, 20);
	assert_int_equal(lists.used, 4);
	assert_int_equal(lists.held, 1);
	assert_int_equal(lists.idle, 5);
	assert_int_equal(a->idle_ns, 20);
	/* It is still there, under its serial, and comes back. */
	expect_ranges(a, 1);
	assert_ptr_equal(range_lists_find(&lists, a->serial), a);
	assert_ptr_equal(ref_ranges(&lists, 1, 5, &found), a);
	assert_int_equal(lists.held, 2);
	assert_int_equal(lists.idle, 0);
	assert_null(lists.idle_first);
	range_lists_release(&lists);
}

static void test_reclaimed_oldest_first(void **state)
{
	struct range_lists lists;
	struct range_list *list[4];
	uint32_t serial;
	bool found;

	(void)state;
	range_lists_init(&lists, places, PLACES);
	for (uint32_t i = 0; i < 4; i++)
		list[i] = ref_ranges(&lists, i, 4, &found);
	assert_null(ref_ranges(&lists, 9, 1, &found));
	assert_int_equal(lists.gaps.len, 0);
	serial = list[2]->serial;
	range_lists_unref(&lists, list[2], 1);
	range_lists_unref(&lists, list[0], 2);
	range_lists_unref(&lists, list[1], 3);
	assert_null(ref_ranges(&lists, 9, 1, &found));
	range_lists_reclaim(&lists);
	assert_null(range_lists_find(&lists, serial));
	assert_int_equal(lists.gaps.items[0].first, 8);
	assert_null(ref_ranges(&lists, 9, 8, &found));
	range_lists_reclaim(&lists);
	assert_int_equal(lists.gaps.len, 2);
	assert_null(ref_ranges(&lists, 9, 8, &found));
	/* The one between: all three places meet. */
	range_lists_reclaim(&lists);
	assert_int_equal(lists.gaps.len, 1);
	assert_int_equal(lists.free, 12);
	assert_non_null(ref_ranges(&lists, 9, 12, &found));
	assert_int_equal(lists.gaps.len, 0);
	expect_ranges(list[3], 3);
	range_lists_release(&lists);
}

static void test_serials_wrap(void **state)
{
	struct range_lists lists;
	struct range_list *list[4];
	bool found;

	(void)state;
	range_lists_init(&lists, places, PLACES);
	list[0] = ref_ranges(&lists, 0, 1, &found);
	list[1] = ref_ranges(&lists, 1, 1, &found);
	assert_int_equal(list[0]->serial, 1);
	lists.last_serial = UINT32_MAX - 1;
	list[2] = ref_ranges(&lists, 2, 1, &found);
	list[3] = ref_ranges(&lists, 3, 1, &found);
	assert_int_equal(list[2]->serial, UINT32_MAX);
	/* 0 is none; 1 and 2 are in use. */
	assert_int_equal(list[3]->serial, 3);
	for (uint32_t i = 0; i < 4; i++)
		expect_ranges(list[i], i);
	range_lists_release(&lists);
}

/* A list without ranges is one too, also in a full array. */
static void test_empty_list(void **state)
{
	struct range_lists lists;
	struct range_list *list;
	bool found;

	(void)state;
	range_lists_init(&lists, places, PLACES);
	assert_non_null(ref_ranges(&lists, 1, PLACES, &found));
	list = ref_ranges(&lists, 2, 0, &found);
	assert_non_null(list);
	assert_ptr_equal(ref_ranges(&lists, 3, 0, &found), list);
	range_lists_unref(&lists, list, 1);
	range_lists_unref(&lists, list, 1);
	range_lists_reclaim(&lists);
	assert_int_equal(lists.gaps.len, 0);
	assert_int_equal(lists.used, PLACES);
	range_lists_release(&lists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_lists_are_one),
		cmocka_unit_test(test_reclaimed_oldest_first),
		cmocka_unit_test(test_serials_wrap),
		cmocka_unit_test(test_empty_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
