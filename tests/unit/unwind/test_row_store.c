// SPDX-License-Identifier: Apache-2.0
/* Rows that are put are found by the step functions' own look-up; what was given up is not. */
#include "row_page.h"
#include "rows_fixture.h"

static struct row_store_stats stats_of(const struct rows_view *view)
{
	struct row_store_stats stats;

	row_store_get_stats(view->store, &stats);
	return stats;
}

static bool has_page(const struct rows_view *view, uint32_t file, uint32_t page)
{
	struct wire_page_key key = { file, page };
	bool seen = view_find_page(&key, view) != NULL;

	assert_int_equal(row_page_is_there(view->store, &key), seen);
	return seen;
}

static void expect_every_offset(const struct rows_view *view, uint32_t page, size_t count,
				uint32_t step, uint32_t first)
{
	struct unwind_tables own = {};
	struct wire_rule rule;

	row_store_tables(view->store, &own);
	assert_null(own.hots);
	for (uint32_t offset = 0; offset < WIRE_PAGE_BYTES; offset++) {
		uint32_t row = offset / step < count ? offset / step : (uint32_t)count - 1;
		uint64_t address = (uint64_t)page << WIRE_PAGE_SHIFT | offset;

		assert_int_equal(view_find(view, 1, address, &rule), UNWIND_FOUND);
		expect_rule(&rule, first + row);
		assert_int_equal(view_find_in(&own, 7, 1, address, &rule), UNWIND_FOUND);
		expect_rule(&rule, first + row);
	}
}

static void test_every_offset(void **state)
{
	static const struct {
		size_t count;
		uint32_t step;
	} shapes[] = { { 1, 1 },    { 2, 4095 }, { 123, 33 }, { 124, 33 },
		       { 125, 32 }, { 248, 16 }, { 249, 16 }, { 4096, 1 } };
	struct rows_view view;

	(void)state;
	view_init(&view, 64, 65536);
	for (uint32_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		assert_int_equal(put_page(&view, 1, i, shapes[i].count, shapes[i].step, i * 5000),
				 0);
		expect_every_offset(&view, i, shapes[i].count, shapes[i].step, i * 5000);
	}
	/* 1 + 1 + 1 + 1 + 2 + 2 + 3 + 34 */
	assert_int_equal(stats_of(&view).blocks_used, 45);
	assert_int_equal(stats_of(&view).blocks_free, 63 - 45);
	assert_int_equal(stats_of(&view).pages, 8);
	for (uint32_t i = 0; i < ARRAY_SIZE(shapes); i++)
		expect_every_offset(&view, i, shapes[i].count, shapes[i].step, i * 5000);
	view_release(&view);
}

static void test_refused(void **state)
{
	static struct cfi_row rows[WIRE_PAGE_BYTES + 1];
	struct wire_page_key key = { 1, 1 }, none = { 0, 1 };
	struct rows_view view;

	(void)state;
	view_init(&view, 8, 4096);
	fill_rows(rows, WIRE_PAGE_BYTES + 1, 1, 0);
	assert_int_equal(row_store_put(view.store, &key, rows, 0, view.now_ns), -EINVAL);
	assert_int_equal(row_store_put(view.store, &none, rows, 1, view.now_ns), -EINVAL);
	assert_int_equal(row_store_put(view.store, &key, rows + 1, 2, view.now_ns), -EINVAL);
	assert_int_equal(row_store_put(view.store, &key, rows, 4097, view.now_ns), -EINVAL);
	rows[2].offset = 1;
	assert_int_equal(row_store_put(view.store, &key, rows, 3, view.now_ns), -EINVAL);
	rows[2].offset = 4096;
	assert_int_equal(row_store_put(view.store, &key, rows, 3, view.now_ns), -EINVAL);
	/* 7 blocks have 868 rows. */
	fill_rows(rows, 869, 1, 0);
	assert_int_equal(row_store_put(view.store, &key, rows, 869, view.now_ns), -ENOSPC);
	assert_int_equal(stats_of(&view).blocks_free, 7);
	assert_int_equal(row_store_put(view.store, &key, rows, 868, view.now_ns), 0);
	view_release(&view);
}

/* More rules than the table has: nothing stays behind. */
static void test_page_with_too_many_rules(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 64, 100);
	assert_int_equal(put_page(&view, 1, 1, 50, 1, 0), 0);
	assert_int_equal(put_page(&view, 1, 2, 100, 1, 1000), -ENOSPC);
	assert_int_equal(stats_of(&view).blocks_used, 0);
	assert_int_equal(stats_of(&view).rules_used, 0);
	view.now_ns += READERS_NS;
	assert_int_equal(put_page(&view, 1, 2, 99, 1, 1000), 0);
	assert_int_equal(stats_of(&view).rules_used, 99);
	view_release(&view);
}

static void test_replaced(void **state)
{
	struct rows_view view;
	struct wire_rule rule;

	(void)state;
	view_init(&view, 8, 64);
	assert_int_equal(put_page(&view, 1, 3, 20, 10, 0), 0);
	assert_int_equal(put_page(&view, 1, 3, 1, 10, 500), 0);
	assert_int_equal(view_find(&view, 1, 0x3000 + 150, &rule), UNWIND_FOUND);
	expect_rule(&rule, 500);
	assert_int_equal(stats_of(&view).pages, 1);
	assert_int_equal(stats_of(&view).pages_put, 2);
	assert_int_equal(stats_of(&view).pages_evicted, 0);
	assert_int_equal(stats_of(&view).blocks_used, 1);
	assert_int_equal(stats_of(&view).rules_used, 1);
	view_release(&view);
}

/* Equal rules have one index; pages without rules take none. */
static void test_rules_are_shared_and_released(void **state)
{
	struct cfi_row rows[3] = { { 0, { .kind = WIRE_RULE_NONE, .cfa_offset = 9 } },
				   { 5, numbered_rule(1) },
				   { 9, numbered_rule(1) } };
	struct wire_page_key key = { 1, 0 };
	struct rows_view view;
	struct wire_rule rule;

	(void)state;
	view_init(&view, 32, 64);
	for (key.page = 0; key.page < 10; key.page++)
		assert_int_equal(row_store_put(view.store, &key, rows, 3, view.now_ns), 0);
	assert_int_equal(stats_of(&view).rules_used, 1);
	assert_int_equal(view_find(&view, 1, 4, &rule), UNWIND_FOUND);
	assert_int_equal(rule.kind, WIRE_RULE_NONE);
	assert_int_equal(rule.cfa_offset, 0);
	assert_int_equal(view_find(&view, 1, 0x9005, &rule), UNWIND_FOUND);
	expect_rule(&rule, 1);
	assert_int_equal(put_page(&view, 2, 0, 3, 1, 1), 0);
	assert_int_equal(stats_of(&view).rules_used, 3);
	row_store_drop_file(view.store, 1, view.now_ns);
	assert_int_equal(stats_of(&view).rules_used, 3);
	row_store_drop_file(view.store, 2, view.now_ns);
	assert_int_equal(stats_of(&view).rules_used, 0);
	assert_int_equal(stats_of(&view).blocks_used, 0);
	view_release(&view);
}

static void test_full_rules_evict_pages(void **state)
{
	struct rows_view view;
	struct wire_rule rule;

	(void)state;
	view_init(&view, 1024, 101);
	for (uint32_t page = 0; page < VIEW_PAGES; page++) {
		view.now_ns += READERS_NS;
		assert_int_equal(put_page(&view, 1, page, 10, 7, page * 10), 0);
		assert_int_equal(view_find(&view, 1, (uint64_t)page << 12 | 65, &rule),
				 UNWIND_FOUND);
		expect_rule(&rule, page * 10 + 9);
		assert_true(stats_of(&view).rules_used <= 100);
	}
	assert_true(stats_of(&view).rules_exhausted > 0);
	assert_true(stats_of(&view).pages_evicted > 100);
	view_release(&view);
}

/* As a reader in BPF marks them. */
static void read_page(const struct rows_view *view, uint32_t page)
{
	struct wire_rule rule;

	assert_int_equal(view_find(view, 1, (uint64_t)page << 12, &rule), UNWIND_FOUND);
}

static void test_least_recently_read_goes_first(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 11, 1024);
	for (uint32_t page = 0; page < 10; page++)
		assert_int_equal(put_page(&view, 1, page, 3, 7, page * 10), 0);
	view.now_ns += NSEC_PER_SEC;
	for (uint32_t page = 0; page < 10; page++)
		if (page != 4 && page != 7)
			read_page(&view, page);
	view.now_ns += NSEC_PER_SEC;
	assert_int_equal(put_page(&view, 1, 20, 3, 7, 0), 0);
	assert_false(has_page(&view, 1, 4));
	assert_true(has_page(&view, 1, 7));
	view.now_ns += READERS_NS;
	assert_int_equal(put_page(&view, 1, 21, 3, 7, 0), 0);
	assert_false(has_page(&view, 1, 7));
	for (uint32_t page = 0; page < 10; page++)
		assert_int_equal(has_page(&view, 1, page), page != 4 && page != 7);
	assert_true(has_page(&view, 1, 20) && has_page(&view, 1, 21));
	assert_int_equal(stats_of(&view).pages_evicted, 2);
	view_release(&view);
}

/* Of pages with the same second the one that was put last stays longest. */
static void test_pages_just_put_stay(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 33, 1024);
	for (uint32_t page = 0; page < VIEW_PAGES; page++) {
		view.now_ns += READERS_NS / 5;
		assert_int_equal(put_page(&view, 1, page, 3, 7, 0), 0);
		for (uint32_t last = page < 16 ? 0 : page - 16; last <= page; last++)
			assert_true(has_page(&view, 1, last));
	}
	view_release(&view);
}

static void test_full_page_map_evicts(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 256, 1024);
	view.page_limit = 40;
	for (uint32_t page = 0; page < 100; page++) {
		view.now_ns += READERS_NS;
		assert_int_equal(put_page(&view, 1, page, 2, 2, 0), 0);
		assert_true(has_page(&view, 1, page));
		assert_true(page == 0 || has_page(&view, 1, page - 1));
	}
	assert_true(view.page_count > 30);
	while (view.page_count < view.page_limit)
		assert_int_equal(put_page(&view, 3, view.page_count, 2, 2, 0), 0);
	/* A map that takes nothing at all. */
	view.page_limit = 0;
	assert_int_equal(put_page(&view, 4, 0, 2, 2, 0), -E2BIG);
	assert_int_equal(view.page_count, 0);
	assert_int_equal(stats_of(&view).blocks_used, 0);
	assert_int_equal(stats_of(&view).rules_used, 0);
	view_release(&view);
}

static bool is_second(uint32_t file, const void *data)
{
	assert_ptr_equal(data, &is_second);
	return file == 2;
}

/* Files that nobody knows any more leave no rows behind. */
static void test_pages_of_files_that_are_gone(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 64, 1024);
	for (uint32_t page = 0; page < 10; page++)
		for (uint32_t file = 1; file < 4; file++)
			assert_int_equal(put_page(&view, file, page, 2, 2, 10 * file), 0);
	row_store_drop_others(view.store, is_second, &is_second, view.now_ns);
	for (uint32_t page = 0; page < 10; page++)
		for (uint32_t file = 1; file < 4; file++)
			assert_int_equal(has_page(&view, file, page), file == 2);
	assert_int_equal(stats_of(&view).blocks_used, 10);
	assert_int_equal(stats_of(&view).rules_used, 2);
	assert_int_equal(stats_of(&view).pages_evicted, 0);
	view_release(&view);
}

/* --- readers ---------------------------------------------------------------------------------- */

static const struct wire_page *held_page(const struct wire_page_key *key, const void *data)
{
	(void)key;
	return data;
}

/*
 * A reader that took the page's entry before the page was evicted, and reads after. This is what
 * find_rule()'s generation check is for.
 */
static void test_generation_check(void **state)
{
	struct unwind_tables tables = {};
	struct wire_page held;
	struct rows_view view;
	struct wire_rule rule;
	uint32_t block;

	(void)state;
	view_init(&view, 2, 64);
	row_store_tables(view.store, &tables);
	tables.page = held_page;
	tables.data = &held;
	assert_int_equal(put_page(&view, 1, 0, 2, 2, 10), 0);
	held = view.pages[1][0];
	block = held.block;
	assert_int_equal(view_find_in(&tables, 9, 1, 0, &rule), UNWIND_FOUND);
	row_store_drop_file(view.store, 1, view.now_ns);
	assert_int_equal(view_find_in(&tables, 9, 1, 0, &rule), UNWIND_ABSENT);
	assert_int_equal(view.memory->blocks[block].generation, 0);
	for (int i = 0; i < 1000; i++) {
		view.now_ns += READERS_NS;
		assert_int_equal(put_page(&view, 1, 0, 2, 2, 30), 0);
		assert_int_equal(view.pages[1][0].block, block);
		assert_int_equal(view_find_in(&tables, 9, 1, 0, &rule), UNWIND_ABSENT);
		/* Nor does it mark the page that is there now as read. */
		assert_int_not_equal(view.memory->blocks[block].used_s, 9);
		row_store_drop_file(view.store, 1, view.now_ns);
	}
	view_release(&view);
}

/*
 * The page is evicted while its rule is copied: the copy goes where the generation is, so that this
 * happens at the very moment.
 */
static void test_generation_check_after_the_copy(void **state)
{
	struct rows_view view;
	struct wire_block *block;
	void *rule;

	(void)state;
	view_init(&view, 2, 64);
	assert_int_equal(put_page(&view, 1, 0, 2, 2, 10), 0);
	block = rule = &view.memory->blocks[view.pages[1][0].block];
	block->generation = 0xeeeeeeee; /* what view_find_in() fills a rule with */
	view.pages[1][0].generation = 0xeeeeeeee;
	assert_int_equal(view_find(&view, 1, 0, rule), UNWIND_ABSENT);
	assert_int_not_equal(block->generation, 0xeeeeeeee);
	view_release(&view);
}

static uint64_t real_ns_of_put(struct rows_view *view, uint32_t page)
{
	uint64_t begin_ns = clock_now_ns();

	assert_int_equal(put_page(view, 1, page, 2, 2, 100), 0);
	return clock_now_ns() - begin_ns;
}

static void test_blocks_rest_before_they_are_written(void **state)
{
	struct wire_block before, *block;
	struct rows_view view;

	(void)state;
	view_init(&view, 3, 64);
	assert_int_equal(put_page(&view, 1, 0, 20, 3, 0), 0);
	block = &view.memory->blocks[view.pages[1][0].block];
	before = *block;
	row_store_drop_file(view.store, 1, view.now_ns);
	before.generation = 0;
	/* The other block is taken, this one is as readers may still see it. */
	assert_int_equal(put_page(&view, 1, 1, 2, 2, 100), 0);
	assert_memory_equal(block, &before, sizeof(before));
	/* A nanosecond too early, on the caller's clock. */
	view.now_ns += READERS_NS - 1;
	assert_true(real_ns_of_put(&view, 2) >= 1);
	assert_int_equal(stats_of(&view).waits, 1);
	assert_int_equal(view.pages[1][2].block, block - view.memory->blocks);
	row_store_drop_file(view.store, 1, view.now_ns);
	/* Both rest: it sleeps as long as they do. */
	assert_true(real_ns_of_put(&view, 3) >= READERS_NS);
	assert_int_equal(stats_of(&view).waits, 2);
	view.now_ns += 2 * READERS_NS;
	assert_int_equal(put_page(&view, 1, 4, 2, 2, 100), 0);
	assert_int_equal(stats_of(&view).waits, 2);
	view_release(&view);
}

/* The place of a rule that is given up rests, too: one sleep is enough for all. */
static void test_rules_rest_before_they_are_written(void **state)
{
	struct rows_view view;
	struct wire_rule rule;

	(void)state;
	view_init(&view, 32, 4);
	assert_int_equal(put_page(&view, 1, 0, 3, 7, 0), 0);
	row_store_drop_file(view.store, 1, view.now_ns);
	assert_int_equal(stats_of(&view).waits, 0);
	assert_int_equal(put_page(&view, 1, 1, 3, 7, 100), 0);
	assert_int_equal(stats_of(&view).waits, 1);
	assert_int_equal(view_find(&view, 1, 0x1000 + 14, &rule), UNWIND_FOUND);
	expect_rule(&rule, 102);
	view_release(&view);
}

/* What is needed and a part of all more. */
static void test_how_much_is_given_up(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 1 + 64, 1000);
	for (uint32_t page = 0; page < 64; page++) {
		view.now_ns += NSEC_PER_SEC;
		assert_int_equal(put_page(&view, 1, page, 2, 7, 0), 0);
	}
	assert_int_equal(stats_of(&view).pages_evicted, 5);
	view_release(&view);
}

/* Times of the caller that stand still: what is given up counts from the real time on. */
static void test_callers_clock_may_be_old(void **state)
{
	struct rows_view view;

	(void)state;
	view_init(&view, 2, 64);
	view.now_ns = clock_now_ns() - 10 * NSEC_PER_SEC;
	assert_int_equal(put_page(&view, 1, 0, 2, 2, 0), 0);
	row_store_drop_file(view.store, 1, view.now_ns);
	view.now_ns += READERS_NS;
	assert_true(real_ns_of_put(&view, 1) >= READERS_NS);
	view_release(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_offset),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_page_with_too_many_rules),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_rules_are_shared_and_released),
		cmocka_unit_test(test_full_rules_evict_pages),
		cmocka_unit_test(test_least_recently_read_goes_first),
		cmocka_unit_test(test_pages_just_put_stay),
		cmocka_unit_test(test_full_page_map_evicts),
		cmocka_unit_test(test_pages_of_files_that_are_gone),
		cmocka_unit_test(test_generation_check),
		cmocka_unit_test(test_generation_check_after_the_copy),
		cmocka_unit_test(test_blocks_rest_before_they_are_written),
		cmocka_unit_test(test_rules_rest_before_they_are_written),
		cmocka_unit_test(test_how_much_is_given_up),
		cmocka_unit_test(test_callers_clock_may_be_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
