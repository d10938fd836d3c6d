// SPDX-License-Identifier: Apache-2.0
#include "base/cache/lru.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"

#define FIRST_BUCKETS 16

void lru_init(struct lru *lru, size_t limit_bytes, lru_drop_fn *drop, void *data)
{
	memset(lru, 0, sizeof(*lru));
	lru->limit_bytes = limit_bytes;
	lru->drop = drop;
	lru->data = data;
}

static struct lru_entry *entry_at(struct lru *lru, uint32_t at)
{
	return &lru->entries.items[at];
}

static uint32_t *bucket_of(struct lru *lru, uint64_t key)
{
	return &lru->buckets[hash_bytes(&key, sizeof(key)) & lru->mask];
}

/* --- the ring, oldest to newest --- */

static void ring_take(struct lru *lru, uint32_t at)
{
	const struct lru_entry *entry = entry_at(lru, at);

	entry_at(lru, entry->older)->newer = entry->newer;
	entry_at(lru, entry->newer)->older = entry->older;
}

static void ring_add_newest(struct lru *lru, uint32_t at)
{
	struct lru_entry *head = entry_at(lru, 0), *entry = entry_at(lru, at);

	entry->older = head->older;
	entry->newer = 0;
	entry_at(lru, head->older)->newer = at;
	head->older = at;
}

/* --- the table --- */

static uint32_t find(struct lru *lru, uint64_t key)
{
	uint32_t at = lru->buckets ? *bucket_of(lru, key) : 0;

	while (at && entry_at(lru, at)->key != key)
		at = entry_at(lru, at)->chain;
	return at;
}

static void grow_buckets(struct lru *lru)
{
	size_t count = lru->buckets ? 2 * ((size_t)lru->mask + 1) : FIRST_BUCKETS;

	free(lru->buckets);
	lru->buckets = xcalloc(count, sizeof(*lru->buckets));
	lru->mask = (uint32_t)(count - 1);
	for (uint32_t at = lru->len ? entry_at(lru, 0)->newer : 0; at;
	     at = entry_at(lru, at)->newer) {
		uint32_t *bucket = bucket_of(lru, entry_at(lru, at)->key);

		entry_at(lru, at)->chain = *bucket;
		*bucket = at;
	}
}

static void remove_entry(struct lru *lru, uint32_t at)
{
	struct lru_entry *entry = entry_at(lru, at);
	uint32_t *link = bucket_of(lru, entry->key);

	while (*link != at)
		link = &entry_at(lru, *link)->chain;
	*link = entry->chain;
	ring_take(lru, at);
	entry->chain = lru->free;
	lru->free = at;
	lru->len--;
	lru->bytes -= entry->bytes;
	if (lru->drop)
		lru->drop(entry->value, lru->data);
}

static uint32_t new_entry(struct lru *lru)
{
	uint32_t at = lru->free;

	if (lru->entries.len == 0)
		vec_push(&lru->entries, (struct lru_entry){ 0 });
	if (at) {
		lru->free = entry_at(lru, at)->chain;
		return at;
	}
	vec_push(&lru->entries, (struct lru_entry){ 0 });
	return (uint32_t)lru->entries.len - 1;
}

/* --- what is offered --- */

void lru_drop_oldest(struct lru *lru)
{
	if (lru->len)
		remove_entry(lru, entry_at(lru, 0)->newer);
}

void lru_drop(struct lru *lru, uint64_t key)
{
	uint32_t at = find(lru, key);

	if (at)
		remove_entry(lru, at);
}

void lru_clear(struct lru *lru)
{
	while (lru->len)
		lru_drop_oldest(lru);
	vec_release(&lru->entries);
	free(lru->buckets);
	lru_init(lru, lru->limit_bytes, lru->drop, lru->data);
}

bool lru_get(struct lru *lru, uint64_t key, uint64_t *ret_value)
{
	uint32_t at = find(lru, key);

	if (!at)
		return false;
	*ret_value = entry_at(lru, at)->value;
	if (entry_at(lru, 0)->older != at) {
		ring_take(lru, at);
		ring_add_newest(lru, at);
	}
	return true;
}

static void make_room(struct lru *lru, size_t bytes)
{
	while (lru->len && lru->bytes + bytes > lru->limit_bytes)
		lru_drop_oldest(lru);
}

void lru_put(struct lru *lru, uint64_t key, uint64_t value, size_t bytes)
{
	uint32_t at = find(lru, key), *bucket;

	if (at)
		remove_entry(lru, at);
	bytes += LRU_ENTRY_BYTES;
	make_room(lru, bytes);
	at = new_entry(lru);
	if (lru->len > lru->mask || !lru->buckets)
		grow_buckets(lru);
	bucket = bucket_of(lru, key);
	*entry_at(lru, at) = (struct lru_entry){
		.key = key, .value = value, .chain = *bucket, .bytes = (uint32_t)bytes
	};
	*bucket = at;
	ring_add_newest(lru, at);
	lru->len++;
	lru->bytes += bytes;
}

void lru_resize(struct lru *lru, uint64_t key, size_t bytes)
{
	uint32_t at = find(lru, key);

	if (!at)
		return;
	lru->bytes += bytes + LRU_ENTRY_BYTES - entry_at(lru, at)->bytes;
	entry_at(lru, at)->bytes = (uint32_t)(bytes + LRU_ENTRY_BYTES);
}

void lru_set_limit(struct lru *lru, size_t limit_bytes)
{
	lru->limit_bytes = limit_bytes;
	make_room(lru, 0);
}
