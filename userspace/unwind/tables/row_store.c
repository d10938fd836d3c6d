// SPDX-License-Identifier: Apache-2.0
/*
 * Readers in BPF may be anywhere in the middle, on any cpu. What holds for them:
 *  - a page entry is set after its rows and rules are written and its first block has the entry's
 *    generation; no generation is given out twice, so that an entry never fits other rows;
 *  - it is deleted before its rows are given up; then the generation changes (to 0), and blocks
 *    and rules are written again READERS_NS later.
 */
#include "unwind/tables/row_store.h"

#include <errno.h>

#include "unwind/tables/block_pool.h"
#include "unwind/tables/page_index.h"
#include "unwind/tables/quarantine.h"
#include "unwind/tables/rule_set.h"

/*
 * So much of the blocks and of the rules is kept free or on its way to be so, and given up at a
 * time: one look at all pages then pays for a thousand, and nobody waits for readers.
 */
#define SPARE_SHARE 16

struct row_age {
	uint64_t rank; /* when it was last read, and of equal ones when it was put */
	uint32_t block;
};

struct row_store {
	struct table_memory *memory; /* borrowed */
	struct block_pool pool;
	struct rule_set rules;
	struct page_index pages;
	uint32_t generation; /* the last that was given out */
	uint64_t pages_put, pages_evicted, rules_exhausted, waits;
	struct row_age *ages;		   /* owned; scratch, one per block */
	uint16_t indexes[WIRE_PAGE_BYTES]; /* scratch: rules of the rows that are being put */
};

struct row_store *row_store_new(struct table_memory *memory)
{
	struct row_store *store = xcalloc(1, sizeof(*store));

	store->memory = memory;
	block_pool_init(&store->pool, memory->block_count);
	rule_set_init(&store->rules, memory->rules, memory->rule_count);
	page_index_init(&store->pages, memory->block_count);
	store->ages = xcalloc(MAX(memory->block_count, 1U), sizeof(*store->ages));
	return store;
}

void row_store_free(struct row_store *store)
{
	if (!store)
		return;
	block_pool_release(&store->pool);
	rule_set_release(&store->rules);
	page_index_release(&store->pages);
	free(store->ages);
	free(store);
}

/* --- giving up -------------------------------------------------------------------------------- */

/* The rows that begin at block FIRST; no entry leads to them any more. */
static void give_up_rows(struct row_store *store, uint32_t first, uint64_t now_ns)
{
	uint32_t next;

	__atomic_store_n(&store->memory->blocks[first].generation, 0, __ATOMIC_SEQ_CST);
	now_ns = quarantine_begin(now_ns);
	for (uint32_t block = first; block; block = next) {
		struct wire_block *b = &store->memory->blocks[block];

		next = b->next;
		for (uint32_t i = 0; i < b->count; i++)
			rule_set_unref(&store->rules, b->rows[i].rule, now_ns);
		__atomic_store_n(&b->generation, 0, __ATOMIC_RELAXED);
		block_pool_give(&store->pool, block, now_ns);
	}
}

static void forget_key(struct row_store *store, const struct wire_page_key *key, uint64_t now_ns)
{
	uint32_t block = page_index_find(&store->pages, key)->page.block;

	page_index_remove(&store->pages, key);
	give_up_rows(store, block, now_ns);
}

static void delete_page(struct row_store *store, struct wire_page_key key, uint64_t now_ns)
{
	/* If this failed, the generation would tell. */
	store->memory->set_page(&key, NULL, store->memory->data);
	forget_key(store, &key, now_ns);
}

static int compare_ages(const void *a, const void *b)
{
	const struct row_age *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint32_t list_ages(struct row_store *store)
{
	uint32_t count = 0;

	for (uint32_t block = 1; block < store->memory->block_count; block++) {
		const struct wire_block *b = &store->memory->blocks[block];

		if (!page_index_of_block(&store->pages, block))
			continue;
		store->ages[count++] = (struct row_age){
			.rank = (uint64_t)__atomic_load_n(&b->used_s, __ATOMIC_RELAXED) << 32 |
				b->generation,
			.block = block,
		};
	}
	return count;
}

/* Give up the pages that were not read for longest, WANTED blocks of them; how many it were. */
static uint32_t evict(struct row_store *store, uint32_t wanted, uint64_t now_ns)
{
	uint32_t count = list_ages(store), before = store->pool.free;

	qsort(store->ages, count, sizeof(*store->ages), compare_ages);
	for (uint32_t i = 0; i < count && store->pool.free - before < wanted; i++) {
		const struct page_entry *entry =
			page_index_of_block(&store->pages, store->ages[i].block);

		delete_page(store, entry->key, now_ns);
		store->pages_evicted++;
	}
	return store->pool.free - before;
}

/* --- putting ---------------------------------------------------------------------------------- */

/* Pages go until rules will be free, WANTED or all of them. */
static void make_rule_room(struct row_store *store, uint32_t wanted, uint64_t now_ns)
{
	uint32_t blocks = store->pool.total / SPARE_SHARE + 1;

	store->rules_exhausted++;
	while (rule_set_free(&store->rules) < wanted)
		if (!evict(store, blocks, now_ns))
			break;
}

static int make_room(struct row_store *store, uint32_t blocks, uint64_t now_ns)
{
	uint32_t wanted = blocks + store->pool.total / SPARE_SHARE;
	uint32_t spare_rules = store->rules.count / SPARE_SHARE;

	if (blocks > store->pool.total)
		return -ENOSPC;
	if (store->pool.free < wanted)
		evict(store, wanted, now_ns);
	if (rule_set_free(&store->rules) < spare_rules)
		make_rule_room(store, 2 * spare_rules, now_ns);
	return 0;
}

/* make_room() has been called. */
static uint32_t take_block(struct row_store *store, uint64_t *now_ns)
{
	uint32_t block;

	while (!(block = block_pool_take(&store->pool, *now_ns))) {
		*now_ns = quarantine_wait(block_pool_oldest_ns(&store->pool), *now_ns);
		store->waits++;
	}
	return block;
}

static int ref_rule(struct row_store *store, const struct wire_rule *rule, uint64_t *now_ns,
		    uint16_t *ret_index)
{
	while (rule_set_ref(&store->rules, rule, *now_ns, ret_index) < 0) {
		if (!store->rules.idle)
			make_rule_room(store, 1, *now_ns);
		if (!store->rules.idle)
			return -ENOSPC;
		*now_ns = quarantine_wait(rule_set_idle_since(&store->rules), *now_ns);
		store->waits++;
	}
	return 0;
}

/* Into store->indexes. */
static int ref_rules(struct row_store *store, const struct cfi_row *rows, size_t count,
		     uint64_t *now_ns)
{
	for (size_t i = 0; i < count; i++) {
		int ret = ref_rule(store, &rows[i].rule, now_ns, &store->indexes[i]);

		if (ret == 0)
			continue;
		while (i--)
			rule_set_unref(&store->rules, store->indexes[i], quarantine_begin(*now_ns));
		return ret;
	}
	return 0;
}

static void fill_block(struct wire_block *block, const struct cfi_row *rows,
		       const uint16_t *indexes, size_t count, uint64_t now_ns)
{
	block->next = 0;
	block->next_offset = 0;
	block->count = (uint16_t)count;
	for (size_t i = 0; i < count; i++)
		block->rows[i] = (struct wire_row){ rows[i].offset, indexes[i] };
	block->used_s = (uint32_t)(now_ns / NSEC_PER_SEC);
}

/* Write the rows whose rules are store->indexes. */
static struct wire_page write_rows(struct row_store *store, const struct cfi_row *rows,
				   size_t count, uint64_t *now_ns)
{
	struct wire_page page = { .block = take_block(store, now_ns) };
	struct wire_block *blocks = store->memory->blocks, *block = &blocks[page.block];

	if (++store->generation == 0)
		store->generation = 1;
	page.generation = store->generation;
	for (size_t done = 0;;) {
		size_t n = MIN(count - done, (size_t)WIRE_BLOCK_ROWS);

		fill_block(block, rows + done, store->indexes + done, n, *now_ns);
		done += n;
		if (done == count)
			break;
		block->next_offset = rows[done].offset;
		block->next = take_block(store, now_ns);
		block = &blocks[block->next];
		block->generation = page.generation;
	}
	__atomic_store_n(&blocks[page.block].generation, page.generation, __ATOMIC_RELEASE);
	return page;
}

static int set_page(struct row_store *store, const struct wire_page_key *key,
		    const struct wire_page *page, uint64_t now_ns)
{
	struct table_memory *memory = store->memory;
	int ret;

	while ((ret = memory->set_page(key, page, memory->data)) == -E2BIG)
		if (!evict(store, page_index_len(&store->pages) / SPARE_SHARE + 1, now_ns))
			break;
	return ret;
}

/* The entry is set; what the key had before goes. */
static void note_page(struct row_store *store, const struct wire_page_key *key,
		      const struct wire_page *page, uint64_t now_ns)
{
	if (page_index_find(&store->pages, key))
		forget_key(store, key, now_ns);
	page_index_add(&store->pages, key, page);
	store->pages_put++;
}

static bool is_page(const struct wire_page_key *key, const struct cfi_row *rows, size_t count)
{
	if (!key->file || count == 0 || count > WIRE_PAGE_BYTES || rows[0].offset != 0)
		return false;
	for (size_t i = 1; i < count; i++)
		if (rows[i].offset <= rows[i - 1].offset)
			return false;
	return rows[count - 1].offset < WIRE_PAGE_BYTES;
}

int row_store_put(struct row_store *store, const struct wire_page_key *key,
		  const struct cfi_row *rows, size_t count, uint64_t now_ns)
{
	struct wire_page page;
	int ret;

	if (!is_page(key, rows, count))
		return -EINVAL;
	ret = make_room(store, (uint32_t)((count + WIRE_BLOCK_ROWS - 1) / WIRE_BLOCK_ROWS), now_ns);
	if (ret < 0)
		return ret;
	ret = ref_rules(store, rows, count, &now_ns);
	if (ret < 0)
		return ret;
	page = write_rows(store, rows, count, &now_ns);
	ret = set_page(store, key, &page, now_ns);
	if (ret < 0)
		give_up_rows(store, page.block, now_ns);
	else
		note_page(store, key, &page, now_ns);
	return ret;
}

void row_store_drop_file(struct row_store *store, uint32_t file, uint64_t now_ns)
{
	if (!file)
		return;
	for (size_t i = 0; i < store->pages.entries.len; i++)
		if (store->pages.entries.items[i].key.file == file)
			delete_page(store, store->pages.entries.items[i].key, now_ns);
}

void row_store_drop_others(struct row_store *store,
			   bool (*has_file)(uint32_t file, const void *data), const void *data,
			   uint64_t now_ns)
{
	for (size_t i = 0; i < store->pages.entries.len; i++) {
		const struct wire_page_key *key = &store->pages.entries.items[i].key;

		if (key->file && !has_file(key->file, data))
			delete_page(store, *key, now_ns);
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static const struct wire_page *find_page(const struct wire_page_key *key, const void *data)
{
	const struct row_store *store = data;
	const struct page_entry *entry = page_index_find(&store->pages, key);

	return entry ? &entry->page : NULL;
}

void row_store_tables(const struct row_store *store, struct unwind_tables *ret_tables)
{
	ret_tables->blocks = store->memory->blocks;
	ret_tables->block_count = store->memory->block_count;
	ret_tables->rules = store->memory->rules;
	ret_tables->rule_count = store->memory->rule_count;
	ret_tables->page = find_page;
	ret_tables->data = store;
	ret_tables->hots = NULL;
}

void row_store_get_stats(const struct row_store *store, struct row_store_stats *ret_stats)
{
	*ret_stats = (struct row_store_stats){
		.pages = page_index_len(&store->pages),
		.blocks_used = store->pool.total - store->pool.free,
		.blocks_free = store->pool.free,
		.rules_used = store->rules.used,
		.pages_put = store->pages_put,
		.pages_evicted = store->pages_evicted,
		.rules_exhausted = store->rules_exhausted,
		.waits = store->waits,
	};
}
