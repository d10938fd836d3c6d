/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row tables as a reader in the kernel has them: only what the store gave to set_page() is there,
 * and find_at_pc() of bpf/ is asked. The view checks the order of the store's writes as they come.
 */
#ifndef HOSTPROF_TESTS_ROWS_FIXTURE_H
#define HOSTPROF_TESTS_ROWS_FIXTURE_H

#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "heap_tables.h"
#include "unwind/find.h"
#include "unwind/tables/row_store.h"

#define VIEW_FILES 8
#define VIEW_PAGES 128
/* Where the test's only range begins, with the file's address 0. */
#define VIEW_BASE 0x400000ULL

struct rows_view {
	struct table_memory *memory;			/* owned */
	struct row_store *store;			/* owned */
	struct wire_page pages[VIEW_FILES][VIEW_PAGES]; /* block 0: not there */
	uint32_t page_count, page_limit;
	uint64_t now_ns;
};

static inline struct wire_page *view_page(struct rows_view *view, const struct wire_page_key *key)
{
	assert_true(key->file < VIEW_FILES && key->page < VIEW_PAGES);
	return &view->pages[key->file][key->page];
}

/* What leads to rows must be right as long as it is there. */
static inline void view_expect_good(const struct rows_view *view, const struct wire_page *page)
{
	const struct wire_block *block = &view->memory->blocks[page->block];

	assert_int_not_equal(page->block, 0);
	assert_int_not_equal(page->generation, 0);
	if (block->generation != page->generation)
		fail_msg("a page leads to block %u of generation %u, which has %u", page->block,
			 page->generation, block->generation);
	assert_int_not_equal(block->count, 0);
}

static inline int view_set_page(const struct wire_page_key *key, const struct wire_page *value,
				void *data)
{
	struct rows_view *view = data;
	struct wire_page *page = view_page(view, key);

	if (page->block)
		view_expect_good(view, page);
	if (value)
		view_expect_good(view, value);
	if (!value && !page->block)
		return -ENOENT;
	if (value && !page->block && view->page_count >= view->page_limit)
		return -E2BIG;
	view->page_count += (value != NULL) - (page->block != 0);
	*page = value ? *value : (struct wire_page){};
	return 0;
}

/* Times are ahead of the real clock, so that the store has no reason to look at that. */
static inline void view_init(struct rows_view *view, uint32_t blocks, uint32_t rules)
{
	memset(view, 0, sizeof(*view));
	view->memory = table_memory_new_heap(blocks, rules, 1);
	view->memory->set_page = view_set_page;
	view->memory->data = view;
	view->page_limit = UINT32_MAX;
	view->store = row_store_new(view->memory);
	view->now_ns = clock_now_ns() + 3600 * NSEC_PER_SEC;
}

static inline void view_release(struct rows_view *view)
{
	row_store_free(view->store);
	table_memory_free_heap(view->memory);
}

static inline const struct wire_page *view_find_page(const struct wire_page_key *key,
						     const void *data)
{
	const struct rows_view *view = data;
	const struct wire_page *page = &view->pages[key->file][key->page];

	return page->block ? page : NULL;
}

/* find_at_pc() at an offset of a page, through TABLES. */
static inline enum unwind_found view_find_in(const struct unwind_tables *tables, uint32_t now_s,
					     uint32_t file, uint64_t address,
					     struct wire_rule *ret_rule)
{
	struct unwind_memory memory = { .tables = tables };
	static _Thread_local struct unwind_cursor c;

	memset(&c, 0, offsetof(struct unwind_cursor, window));
	c.pc = VIEW_BASE + address;
	c.exact = 1;
	c.serial = 1;
	c.now_s = now_s;
	c.range = (struct wire_range){ .start = VIEW_BASE,
				       .end = VIEW_BASE + (1 << 30),
				       .bias = VIEW_BASE,
				       .file = file,
				       .serial = 1 };
	memset(ret_rule, 0xee, sizeof(*ret_rule));
	return find_at_pc(&c, &memory, ret_rule);
}

/* As BPF finds it. */
static inline enum unwind_found view_find(const struct rows_view *view, uint32_t file,
					  uint64_t address, struct wire_rule *ret_rule)
{
	struct unwind_tables tables = {};

	row_store_tables(view->store, &tables);
	tables.page = view_find_page;
	tables.data = view;
	return view_find_in(&tables, (uint32_t)(view->now_ns / NSEC_PER_SEC), file, address,
			    ret_rule);
}

/* A rule that no other number has. */
static inline struct wire_rule numbered_rule(uint32_t number)
{
	return (struct wire_rule){ .kind = WIRE_RULE_CFA,
				   .cfa_reg = DWARF_RSP,
				   .ra_slot = 1,
				   .cfa_offset = (int32_t)(number * 8),
				   .cfa_add = (int16_t)(number * 31),
				   .rbp_slot = (uint16_t)(number ^ number >> 16),
				   .r15_slot = (uint8_t)number };
}

static inline void expect_rule(const struct wire_rule *rule, uint32_t number)
{
	struct wire_rule expected = numbered_rule(number);

	if (memcmp(rule, &expected, sizeof(expected)) != 0)
		fail_msg("CFA offset %d, expected %d", rule->cfa_offset, expected.cfa_offset);
}

/* COUNT rows of STEP bytes, with the rules FIRST, FIRST + 1, … */
static inline void fill_rows(struct cfi_row *rows, size_t count, uint32_t step, uint32_t first)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct cfi_row){ (uint16_t)(i * step),
					    numbered_rule(first + (uint32_t)i) };
}

static inline int put_page(struct rows_view *view, uint32_t file, uint32_t page, size_t count,
			   uint32_t step, uint32_t first)
{
	static struct cfi_row rows[WIRE_PAGE_BYTES];
	struct wire_page_key key = { file, page };

	fill_rows(rows, count, step, first);
	return row_store_put(view->store, &key, rows, count, view->now_ns);
}

#endif
