/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/read_keymap.h"

void jfr_keymap_put(struct jfr_keymap *map, uint64_t key, uint32_t value)
{
	uint64_t distance, index;

	if (!map->dense.len) {
		map->first = key;
		map->shift = 0;
	}
	distance = key - map->first;
	if (map->dense.len == 1 && distance == 2)
		map->shift = 1;
	index = distance >> map->shift;
	if (index << map->shift != distance || index > map->dense.len)
		hmap_put(&map->sparse, key, value);
	else if (index < map->dense.len)
		map->dense.items[index] = value;
	else
		vec_push(&map->dense, value);
}

void jfr_keymap_clear(struct jfr_keymap *map)
{
	map->dense.len = 0;
	hmap_clear(&map->sparse);
}

void jfr_keymap_release(struct jfr_keymap *map)
{
	vec_release(&map->dense);
	hmap_release(&map->sparse);
}
