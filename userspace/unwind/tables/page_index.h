/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages are published, and where: by key, and by the first block of their rows. */
#ifndef HOSTPROF_UNWIND_TABLES_PAGE_INDEX_H
#define HOSTPROF_UNWIND_TABLES_PAGE_INDEX_H

#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"
#include "wire.h"

struct page_entry {
	struct wire_page_key key; /* file 0: the entry is not in use */
	struct wire_page page;
};

struct page_index {
	struct hmap by_key; /* -> number of its entry */
	VEC(struct page_entry) entries;
	VEC(uint32_t) unused; /* entries */
	uint32_t *by_block;   /* owned; number of its entry + 1; 0: not a first block */
};

void page_index_init(struct page_index *index, uint32_t block_count);
void page_index_release(struct page_index *index);

static inline uint32_t page_index_len(const struct page_index *index)
{
	return (uint32_t)index->by_key.len;
}

/* Borrowed until the next page_index_add(); NULL: it is not there. */
const struct page_entry *page_index_find(const struct page_index *index,
					 const struct wire_page_key *key);
/* The page whose rows begin at a block; NULL: there is none. */
const struct page_entry *page_index_of_block(const struct page_index *index, uint32_t block);

/* Neither KEY nor its block is there yet. */
void page_index_add(struct page_index *index, const struct wire_page_key *key,
		    const struct wire_page *page);
void page_index_remove(struct page_index *index, const struct wire_page_key *key);

#endif
