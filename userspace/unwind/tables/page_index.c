// SPDX-License-Identifier: Apache-2.0
#include "unwind/tables/page_index.h"

static uint64_t key_number(const struct wire_page_key *key)
{
	return (uint64_t)key->file << 32 | key->page;
}

void page_index_init(struct page_index *index, uint32_t block_count)
{
	memset(index, 0, sizeof(*index));
	index->by_block = xcalloc(MAX(block_count, 1U), sizeof(*index->by_block));
}

void page_index_release(struct page_index *index)
{
	hmap_release(&index->by_key);
	vec_release(&index->entries);
	vec_release(&index->unused);
	free(index->by_block);
	index->by_block = NULL;
}

const struct page_entry *page_index_find(const struct page_index *index,
					 const struct wire_page_key *key)
{
	uint64_t number;

	if (!hmap_get(&index->by_key, key_number(key), &number))
		return NULL;
	return &index->entries.items[number];
}

const struct page_entry *page_index_of_block(const struct page_index *index, uint32_t block)
{
	uint32_t link = index->by_block[block];

	return link ? &index->entries.items[link - 1] : NULL;
}

static uint32_t take_entry(struct page_index *index)
{
	if (index->unused.len)
		return index->unused.items[--index->unused.len];
	vec_push(&index->entries, (struct page_entry){});
	return (uint32_t)index->entries.len - 1;
}

void page_index_add(struct page_index *index, const struct wire_page_key *key,
		    const struct wire_page *page)
{
	uint32_t number = take_entry(index);

	index->entries.items[number] = (struct page_entry){ *key, *page };
	index->by_block[page->block] = number + 1;
	hmap_put(&index->by_key, key_number(key), number);
}

void page_index_remove(struct page_index *index, const struct wire_page_key *key)
{
	uint64_t number;
	struct page_entry *entry;

	if (!hmap_get(&index->by_key, key_number(key), &number))
		return;
	entry = &index->entries.items[number];
	index->by_block[entry->page.block] = 0;
	hmap_remove(&index->by_key, key_number(key));
	entry->key.file = 0;
	vec_push(&index->unused, (uint32_t)number);
}
