/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool keys to numbers. Our own keys go up by one or by two, so most look-ups are an array access;
 * keys of other producers are in a hash table.
 */
#ifndef HOSTPROF_RECORDING_READ_KEYMAP_H
#define HOSTPROF_RECORDING_READ_KEYMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"

struct jfr_keymap {
	uint64_t first;	    /* key of dense.items[0] */
	unsigned int shift; /* log2 of the step between keys */
	VEC(uint32_t) dense;
	struct hmap sparse;
};

void jfr_keymap_put(struct jfr_keymap *map, uint64_t key, uint32_t value);
void jfr_keymap_clear(struct jfr_keymap *map);
void jfr_keymap_release(struct jfr_keymap *map);

/* The value, or MISSING. */
static inline uint32_t jfr_keymap_get(const struct jfr_keymap *map, uint64_t key, uint32_t missing)
{
	uint64_t distance = key - map->first, value;
	uint64_t index = distance >> map->shift;

	if (index < map->dense.len && index << map->shift == distance)
		return map->dense.items[index];
	return hmap_get(&map->sparse, key, &value) ? (uint32_t)value : missing;
}

#endif
