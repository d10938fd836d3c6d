// SPDX-License-Identifier: Apache-2.0
/* Pages that are published, found by their key and by the block that their rows begin in. */
#include "test.h"

#include "unwind/tables/page_index.h"

static struct page_index pages;

static int set_up(void **state)
{
	(void)state;
	page_index_init(&pages, 10);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	page_index_release(&pages);
	return 0;
}

static void add(uint32_t file, uint32_t page, uint32_t block)
{
	struct wire_page_key key = { file, page };
	struct wire_page value = { block, 100 + block };

	page_index_add(&pages, &key, &value);
}

/* BLOCK 0: it is not there. */
static void expect(uint32_t file, uint32_t page, uint32_t block)
{
	struct wire_page_key key = { file, page };
	const struct page_entry *entry = page_index_find(&pages, &key);

	if (!block) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_true(entry->key.file == file && entry->key.page == page);
	assert_true(entry->page.block == block && entry->page.generation == 100 + block);
	assert_ptr_equal(page_index_of_block(&pages, block), entry);
}

static void by_key_and_by_block(void **state)
{
	(void)state;
	expect(1, 2, 0);
	assert_null(page_index_of_block(&pages, 5));
	add(1, 2, 5);
	add(2, 1, 9);
	add(1, 3, 1);
	assert_int_equal(page_index_len(&pages), 3);
	expect(1, 2, 5);
	expect(2, 1, 9);
	expect(1, 3, 1);
	expect(2, 2, 0);
	expect(0, 2, 0);
	assert_null(page_index_of_block(&pages, 2));
}

/* Its place goes to the next one. */
static void what_is_removed(void **state)
{
	(void)state;
	add(1, 2, 5);
	add(2, 1, 9);
	page_index_remove(&pages, &(struct wire_page_key){ 1, 2 });
	page_index_remove(&pages, &(struct wire_page_key){ 7, 7 });
	assert_int_equal(page_index_len(&pages), 1);
	expect(1, 2, 0);
	expect(2, 1, 9);
	assert_null(page_index_of_block(&pages, 5));
	assert_int_equal(pages.entries.items[0].key.file, 0);
	add(3, 3, 7);
	assert_int_equal(pages.entries.len, 2);
	expect(3, 3, 7);
	expect(2, 1, 9);
	add(4, 4, 8);
	assert_int_equal(pages.entries.len, 3);
	expect(3, 3, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_key_and_by_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_removed, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("page_index", tests, NULL, NULL);
}
