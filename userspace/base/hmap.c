/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hmap.h"

#include <xxhash.h>

enum slot_state { SLOT_FREE, SLOT_LIVE, SLOT_DELETED };

struct hmap_slot {
	uint64_t key;
	uint64_t value;
	enum slot_state state;
};

/* The finalizer of MurmurHash3: every bit of the key reaches the low bits. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

void hmap_release(struct hmap *map)
{
	free(map->slots);
	*map = (struct hmap)HMAP_INIT;
}

size_t hmap_bytes(const struct hmap *map)
{
	return map->slots ? (map->mask + 1) * sizeof(*map->slots) : 0;
}

void hmap_clear(struct hmap *map)
{
	if (map->slots)
		memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
	map->len = map->used = 0;
}

static struct hmap_slot *find_live(const struct hmap *map, uint64_t key)
{
	if (!map->slots)
		return NULL;
	for (size_t i = mix(key) & map->mask;; i = (i + 1) & map->mask) {
		struct hmap_slot *slot = &map->slots[i];

		if (slot->state == SLOT_FREE)
			return NULL;
		if (slot->state == SLOT_LIVE && slot->key == key)
			return slot;
	}
}

static void insert_new(struct hmap *map, uint64_t key, uint64_t value)
{
	size_t i = mix(key) & map->mask;

	while (map->slots[i].state == SLOT_LIVE)
		i = (i + 1) & map->mask;
	if (map->slots[i].state == SLOT_FREE)
		map->used++;
	map->slots[i] = (struct hmap_slot){ key, value, SLOT_LIVE };
	map->len++;
}

static void rehash(struct hmap *map)
{
	struct hmap_slot *old = map->slots;
	size_t old_count = old ? map->mask + 1 : 0;
	size_t count = 16;

	while (count < map->len * 4)
		count *= 2;
	map->slots = xcalloc(count, sizeof(*map->slots));
	map->mask = count - 1;
	map->len = map->used = 0;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].state == SLOT_LIVE)
			insert_new(map, old[i].key, old[i].value);
	free(old);
}

void hmap_put(struct hmap *map, uint64_t key, uint64_t value)
{
	struct hmap_slot *slot = find_live(map, key);

	if (slot) {
		slot->value = value;
		return;
	}
	if (!map->slots || (map->used + 1) * 3 > (map->mask + 1) * 2)
		rehash(map);
	insert_new(map, key, value);
}

bool hmap_get(const struct hmap *map, uint64_t key, uint64_t *ret_value)
{
	struct hmap_slot *slot = find_live(map, key);

	if (!slot)
		return false;
	*ret_value = slot->value;
	return true;
}

bool hmap_remove(struct hmap *map, uint64_t key)
{
	struct hmap_slot *slot = find_live(map, key);

	if (!slot)
		return false;
	slot->state = SLOT_DELETED;
	map->len--;
	return true;
}

void *hmap_find_ptr(const struct hmap *map, uint64_t key)
{
	uint64_t value;

	return hmap_get(map, key, &value) ? (void *)(uintptr_t)value : NULL;
}

void hmap_put_ptr(struct hmap *map, uint64_t key, void *value)
{
	hmap_put(map, key, (uint64_t)(uintptr_t)value);
}

bool hmap_next(const struct hmap *map, size_t *at, uint64_t *ret_key, uint64_t *ret_value)
{
	size_t count = map->slots ? map->mask + 1 : 0;

	for (; *at < count; (*at)++) {
		const struct hmap_slot *slot = &map->slots[*at];

		if (slot->state != SLOT_LIVE)
			continue;
		*ret_key = slot->key;
		*ret_value = slot->value;
		(*at)++;
		return true;
	}
	return false;
}

uint64_t hash_bytes(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}

/* Big enough that blocks are rare, small enough that a small profile stays small. */
#define INTERN_BLOCK_BYTES (64 * 1024)

void intern_init(struct intern *t)
{
	memset(t, 0, sizeof(*t));
}

void intern_release(struct intern *t)
{
	char **block;

	vec_for_each (block, &t->blocks)
		free(*block);
	vec_release(&t->blocks);
	vec_release(&t->entries);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

static void *arena_copy(struct intern *t, const void *data, size_t len)
{
	size_t need = (len + 1 + 7) & ~(size_t)7;
	char *to;

	if (!t->blocks.len || t->block_used + need > t->block_size) {
		t->block_size = MAX(need, (size_t)INTERN_BLOCK_BYTES);
		t->block_used = 0;
		vec_push(&t->blocks, xmalloc(t->block_size));
	}
	to = t->blocks.items[t->blocks.len - 1] + t->block_used;
	t->block_used += need;
	t->bytes += need;
	if (len)
		memcpy(to, data, len);
	to[len] = '\0';
	return to;
}

static void intern_rehash(struct intern *t)
{
	size_t count = t->slots ? (t->mask + 1) * 2 : 64;

	free(t->slots);
	t->slots = xcalloc(count, sizeof(*t->slots));
	t->mask = count - 1;
	for (uint32_t id = 0; id < t->entries.len; id++) {
		size_t i = t->entries.items[id].hash & t->mask;

		while (t->slots[i])
			i = (i + 1) & t->mask;
		t->slots[i] = id + 1;
	}
}

uint32_t intern_put(struct intern *t, const void *data, size_t len, bool *ret_new)
{
	uint32_t hash = (uint32_t)hash_bytes(data, len);
	struct intern_entry entry;
	size_t i;

	if (!t->slots || (t->entries.len + 1) * 2 > t->mask + 1)
		intern_rehash(t);
	for (i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		const struct intern_entry *e = &t->entries.items[t->slots[i] - 1];

		if (e->hash == hash && e->len == len && !memcmp(e->data, data, len)) {
			if (ret_new)
				*ret_new = false;
			return t->slots[i] - 1;
		}
	}
	entry = (struct intern_entry){ arena_copy(t, data, len), (uint32_t)len, hash };
	vec_push(&t->entries, entry);
	t->slots[i] = (uint32_t)t->entries.len;
	if (ret_new)
		*ret_new = true;
	return (uint32_t)t->entries.len - 1;
}
