// SPDX-License-Identifier: Apache-2.0
/*
 * Thousands of random operations on small tables, where pages are evicted all the time, against a
 * plain array: what is found is what was put last, and the store's figures fit.
 */
#include "row_page.h"
#include "rows_fixture.h"

#include <inttypes.h>

#define MODEL_FILES 4
#define MODEL_PAGES 24
#define SEED	    0x2545f4914f6cdd1dULL

/* The rows of a page: COUNT of STEP bytes, with the rules from FIRST on. */
struct model_page {
	uint32_t count, step, first; /* count 0: never put */
};

struct model {
	struct rows_view view;
	struct model_page pages[MODEL_FILES + 1][MODEL_PAGES];
	uint64_t random;
	uint64_t found, absent;
};

static uint32_t random_below(struct model *m, uint32_t limit)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (uint32_t)((m->random >> 16) % limit);
}

static void check_offset(struct model *m, uint32_t file, uint32_t page, uint32_t offset)
{
	const struct model_page *expected = &m->pages[file][page];
	struct wire_page_key key = { file, page };
	struct wire_rule rule;
	enum unwind_found found =
		view_find(&m->view, file, (uint64_t)page << WIRE_PAGE_SHIFT | offset, &rule);
	uint32_t row;

	assert_int_equal(row_page_is_there(m->view.store, &key), found == UNWIND_FOUND);
	if (found != UNWIND_FOUND) {
		assert_int_equal(found, UNWIND_ABSENT);
		m->absent++;
		return;
	}
	m->found++;
	assert_int_not_equal(expected->count, 0);
	row = MIN(offset / expected->step, expected->count - 1);
	expect_rule(&rule, expected->first + row);
}

static void put_random(struct model *m, uint32_t file, uint32_t page)
{
	struct model_page *p = &m->pages[file][page];
	struct wire_page_key key = { file, page };

	p->step = 1 + random_below(m, 8);
	p->count = 1 + random_below(m, random_below(m, 8) ? 60 : 500);
	p->first = random_below(m, 6 * m->view.memory->rule_count);
	assert_int_equal(put_page(&m->view, file, page, p->count, p->step, p->first), 0);
	assert_true(row_page_is_there(m->view.store, &key));
}

static void act(struct model *m)
{
	uint32_t file = 1 + random_below(m, MODEL_FILES), page = random_below(m, MODEL_PAGES);
	uint32_t what = random_below(m, 100);

	/* Now and then so soon that the store has to wait. */
	m->view.now_ns += random_below(m, 256) ? 8 * READERS_NS : READERS_NS / 8;
	if (what < 40)
		put_random(m, file, page);
	else if (what < 41)
		row_store_drop_file(m->view.store, file, m->view.now_ns);
	else
		check_offset(m, file, page, random_below(m, WIRE_PAGE_BYTES));
}

/* Every block is on one page's chain or free, whatever the store counts. */
static void check_figures(struct model *m)
{
	const struct table_memory *memory = m->view.memory;
	bool seen[128] = { false };
	struct row_store_stats stats;
	uint32_t pages = 0, blocks = 0;

	for (uint32_t file = 1; file <= MODEL_FILES; file++) {
		for (uint32_t page = 0; page < MODEL_PAGES; page++) {
			uint32_t block = m->view.pages[file][page].block;

			pages += block != 0;
			for (; block && !seen[block]; block = memory->blocks[block].next) {
				seen[block] = true;
				blocks++;
			}
		}
	}
	row_store_get_stats(m->view.store, &stats);
	assert_int_equal(stats.pages, pages);
	assert_int_equal(stats.blocks_used, blocks);
	assert_int_equal(stats.blocks_free, memory->block_count - 1 - blocks);
	for (uint32_t block = 1; block < memory->block_count; block++)
		assert_int_equal(memory->blocks[block].generation != 0, seen[block]);
}

static void run_model(uint32_t blocks, uint32_t rules, uint32_t page_limit)
{
	static struct model m;
	struct row_store_stats stats;

	memset(&m, 0, sizeof(m));
	view_init(&m.view, blocks, rules);
	m.view.page_limit = page_limit;
	m.random = SEED;
	for (int turn = 0; turn < 8000; turn++) {
		act(&m);
		if (turn % 16 == 0)
			check_figures(&m);
	}
	row_store_get_stats(m.view.store, &stats);
	printf("seed %#" PRIx64 ", %u blocks, %u rules: found %" PRIu64 ", absent %" PRIu64
	       ", evicted %" PRIu64 ", rules exhausted %" PRIu64 ", waits %" PRIu64 "\n",
	       (uint64_t)SEED, blocks, rules, m.found, m.absent, stats.pages_evicted,
	       stats.rules_exhausted, stats.waits);
	assert_true(m.found > 400);
	assert_true(stats.pages_evicted > 500);
	view_release(&m.view);
}

static void test_few_blocks(void **state)
{
	(void)state;
	run_model(48, 16384, UINT32_MAX);
}

static void test_few_rules(void **state)
{
	(void)state;
	run_model(128, 3000, UINT32_MAX);
}

static void test_few_entries(void **state)
{
	(void)state;
	run_model(64, 16384, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_blocks),
		cmocka_unit_test(test_few_rules),
		cmocka_unit_test(test_few_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
