// SPDX-License-Identifier: Apache-2.0
#include "unwind/tables/block_pool.h"

#include <string.h>

#include "base/alloc.h"
#include "unwind/tables/quarantine.h"

struct block_note {
	uint64_t given_ns;
	uint32_t next;
};

void block_pool_init(struct block_pool *pool, uint32_t block_count)
{
	memset(pool, 0, sizeof(*pool));
	pool->notes = xcalloc(MAX(block_count, 1U), sizeof(*pool->notes));
	pool->fresh = 1;
	pool->total = block_count ? block_count - 1 : 0;
	pool->free = pool->total;
}

void block_pool_release(struct block_pool *pool)
{
	free(pool->notes);
	memset(pool, 0, sizeof(*pool));
}

uint32_t block_pool_take(struct block_pool *pool, uint64_t now_ns)
{
	uint32_t block = pool->first;

	if (pool->fresh <= pool->total) {
		pool->free--;
		return pool->fresh++;
	}
	if (!block || !quarantine_is_over(pool->notes[block].given_ns, now_ns))
		return 0;
	pool->first = pool->notes[block].next;
	if (!pool->first)
		pool->last = 0;
	pool->free--;
	return block;
}

void block_pool_give(struct block_pool *pool, uint32_t block, uint64_t now_ns)
{
	pool->notes[block] = (struct block_note){ .given_ns = now_ns };
	if (pool->last)
		pool->notes[pool->last].next = block;
	else
		pool->first = block;
	pool->last = block;
	pool->free++;
}

uint64_t block_pool_oldest_ns(const struct block_pool *pool)
{
	return pool->notes[pool->first].given_ns;
}
