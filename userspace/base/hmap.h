/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two hash tables with open addressing.
 *
 * struct hmap maps a 64-bit key to a 64-bit value (a pointer or an index).
 *
 * struct intern gives equal byte strings the same small number: 0, 1, 2, … in order of first
 * sight. It owns copies of the bytes (an arena), so that a borrowed pointer stays good as long as
 * the table.
 */
#ifndef HOSTPROF_BASE_HMAP_H
#define HOSTPROF_BASE_HMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/vec.h"

struct hmap {
	struct hmap_slot *slots; /* owned */
	size_t mask;		 /* slots - 1, or 0 when empty */
	size_t len;
	size_t used; /* live + deleted slots */
};

#define HMAP_INIT             \
	{                     \
		NULL, 0, 0, 0 \
	}

void hmap_release(struct hmap *map);
/* What it takes of memory. */
size_t hmap_bytes(const struct hmap *map);
void hmap_clear(struct hmap *map);

/* Insert or replace. */
void hmap_put(struct hmap *map, uint64_t key, uint64_t value);

/* True and *ret_value when the key is there. */
bool hmap_get(const struct hmap *map, uint64_t key, uint64_t *ret_value);
bool hmap_remove(struct hmap *map, uint64_t key);

/* The value as a pointer, NULL when absent. */
void *hmap_find_ptr(const struct hmap *map, uint64_t key);
void hmap_put_ptr(struct hmap *map, uint64_t key, void *value);

/* Walk all entries in no order: `size_t at = 0; while (hmap_next(map, &at, &k, &v)) …`. */
bool hmap_next(const struct hmap *map, size_t *at, uint64_t *ret_key, uint64_t *ret_value);

/* A 64-bit hash of bytes (XXH3). */
uint64_t hash_bytes(const void *data, size_t len);

struct intern_entry {
	const void *data; /* borrowed from the arena; one NUL byte follows the data */
	uint32_t len;
	uint32_t hash;
};

struct intern {
	VEC(struct intern_entry) entries; /* index = id */
	VEC(char *) blocks;		  /* owned arena blocks */
	size_t block_used;
	size_t block_size;
	uint32_t *slots; /* owned; id + 1, 0 = free */
	size_t mask;
	size_t bytes; /* bytes of all data, for budgets */
};

/* One of zeros is empty; so is one that was released. */
void intern_init(struct intern *t);
void intern_release(struct intern *t);

/* The id of these bytes; new ones are copied. *ret_new (may be NULL) says which. */
uint32_t intern_put(struct intern *t, const void *data, size_t len, bool *ret_new);

/* What it takes of memory: bytes, entries and what finds them. */
static inline size_t intern_bytes(const struct intern *t)
{
	return t->bytes + t->entries.cap * sizeof(struct intern_entry) +
	       (t->slots ? (t->mask + 1) * sizeof(*t->slots) : 0);
}

static inline uint32_t intern_len(const struct intern *t)
{
	return (uint32_t)t->entries.len;
}

/* Borrowed bytes of an id that this table gave out. */
static inline const void *intern_get(const struct intern *t, uint32_t id, size_t *ret_len)
{
	const struct intern_entry *e = &t->entries.items[id];

	if (ret_len)
		*ret_len = e->len;
	return e->data;
}

#endif
