/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that are free: such as were never used, and such as were given up, oldest first. */
#ifndef HOSTPROF_UNWIND_TABLES_BLOCK_POOL_H
#define HOSTPROF_UNWIND_TABLES_BLOCK_POOL_H

#include <stdint.h>

struct block_pool {
	uint32_t total;		  /* blocks that there are; block 0 is none */
	uint32_t free;		  /* of them, those that may still be in readers' hands included */
	uint32_t fresh;		  /* blocks from here on were never used */
	uint32_t first, last;	  /* of those that were given up; 0: none */
	struct block_note *notes; /* owned; by block */
};

void block_pool_init(struct block_pool *pool, uint32_t block_count);
void block_pool_release(struct block_pool *pool);

/* A block that can be written at NOW_NS; 0: none. */
uint32_t block_pool_take(struct block_pool *pool, uint64_t now_ns);
/* No reader that begins after NOW_NS finds it. */
void block_pool_give(struct block_pool *pool, uint32_t block, uint64_t now_ns);
/* When the oldest of those that were given up was so; there is one. */
uint64_t block_pool_oldest_ns(const struct block_pool *pool);

#endif
