// SPDX-License-Identifier: Apache-2.0
#include "base/cache/text_pool.h"

#include <string.h>

#include "base/alloc.h"

struct pool_text {
	uint64_t key; /* in the table */
	uint32_t refs;
	char text[];
};

/* Of a hash table at half load, and what malloc takes. */
#define KEEP_BYTES 48

static size_t bytes_of(const struct pool_text *entry)
{
	return sizeof(*entry) + strlen(entry->text) + KEEP_BYTES;
}

void text_pool_release(struct text_pool *pool)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&pool->texts, &at, &key, &value))
		free(hmap_find_ptr(&pool->texts, key));
	hmap_release(&pool->texts);
	pool->bytes = 0;
}

static const char *add_text(struct text_pool *pool, uint64_t key, const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct pool_text *entry = xmalloc(sizeof(*entry) + bytes);

	*entry = (struct pool_text){ .key = key, .refs = 1 };
	memcpy(entry->text, text, bytes);
	hmap_put_ptr(&pool->texts, key, entry);
	pool->bytes += bytes_of(entry);
	return entry->text;
}

static struct pool_text *find(const struct text_pool *pool, const char *text, uint64_t *ret_key)
{
	uint64_t key = hash_bytes(text, strlen(text));
	struct pool_text *entry;

	while ((entry = hmap_find_ptr(&pool->texts, key)) && strcmp(entry->text, text) != 0)
		key++;
	*ret_key = key;
	return entry;
}

bool text_pool_has(const struct text_pool *pool, const char *text)
{
	uint64_t key;

	return find(pool, text, &key);
}

/* When one of two of the same hash goes, the other may be kept twice for a while. */
const char *text_pool_ref(struct text_pool *pool, const char *text)
{
	uint64_t key;
	struct pool_text *entry = find(pool, text, &key);

	if (!entry)
		return add_text(pool, key, text);
	entry->refs++;
	return entry->text;
}

static struct pool_text *entry_of(const char *text)
{
	return (struct pool_text *)((uintptr_t)text - offsetof(struct pool_text, text));
}

void text_pool_ref_again(const char *text)
{
	entry_of(text)->refs++;
}

void text_pool_unref(struct text_pool *pool, const char *text)
{
	struct pool_text *entry;

	if (!text)
		return;
	entry = entry_of(text);
	if (--entry->refs)
		return;
	hmap_remove(&pool->texts, entry->key);
	pool->bytes -= bytes_of(entry);
	free(entry);
}
