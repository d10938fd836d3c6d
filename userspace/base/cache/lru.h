/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found once, by a 64-bit key, within a budget of bytes: when it is full, what was not asked
 * for the longest time goes, and never more than must. All caches of names have this policy.
 */
#ifndef HOSTPROF_BASE_CACHE_LRU_H
#define HOSTPROF_BASE_CACHE_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* What an entry takes besides the bytes that the caller states; a bit more than it is. */
#define LRU_ENTRY_BYTES 48

struct lru_entry {
	uint64_t key;
	uint64_t value;
	uint32_t older, newer; /* indexes */
	uint32_t chain;	       /* the next of the same bucket, or of the free ones */
	uint32_t bytes;	       /* with LRU_ENTRY_BYTES */
};

/* VALUE goes; it must not touch the cache. */
typedef void lru_drop_fn(uint64_t value, void *data);

struct lru {
	VEC(struct lru_entry) entries; /* 0 is the ring's head: its newer is the oldest */
	uint32_t *buckets;	       /* owned; 0: empty */
	uint32_t mask;
	uint32_t free; /* 0: none */
	size_t len;
	size_t bytes;
	size_t limit_bytes;
	lru_drop_fn *drop; /* may be NULL: values own nothing */
	void *data;	   /* for drop */
};

/* No memory is taken before the first entry. DROP is called for each value that goes. */
void lru_init(struct lru *lru, size_t limit_bytes, lru_drop_fn *drop, void *data);
/* Drops everything; it is empty then and can be used again. */
void lru_clear(struct lru *lru);

/* True and *ret_value when KEY is there, which makes it the newest. */
bool lru_get(struct lru *lru, uint64_t key, uint64_t *ret_value);

/*
 * Insert or replace. VALUE owns BYTES besides its entry. The oldest go until it fits; one that is
 * larger than the whole budget is kept alone.
 */
void lru_put(struct lru *lru, uint64_t key, uint64_t value, size_t bytes);

/* The value of KEY, which is there, has come to take BYTES. Nothing goes for it before the next lru_put(). */
void lru_resize(struct lru *lru, uint64_t key, size_t bytes);

/* KEY goes, if it is there. */
void lru_drop(struct lru *lru, uint64_t key);

/* From now on; what is too much by that goes at once. */
void lru_set_limit(struct lru *lru, size_t limit_bytes);

/* For who has a budget of another kind: drops the one that was not asked for the longest time. */
void lru_drop_oldest(struct lru *lru);

#endif
