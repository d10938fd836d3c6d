// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "process/exec_maps.h"
#include "symbolize/symbolizer_private.h"

/*
 * A process that has so many and changes them all the time may take a fiftieth of the loop's time for looking at all of them again: what
 * it maps anew was opened when its record came.
 */
#define MANY_MAPPINGS 1024
#define OPEN_SHARE    50

/* From so many on they are looked at together. */
#define FEW_LOOKS 3

struct seeing {
	struct symbolizer *symbolizer;
	struct process *process;
};

static void see(const struct exec_map *map, void *data)
{
	const struct seeing *seeing = data;
	const struct mapping *m = process_find_mapping(seeing->process, map->m.start);

	if (map->file && m && m->start == map->m.start && m->end == map->m.end &&
	    m->key.inode == map->m.key.inode)
		image_cache_open_seen(seeing->symbolizer->images, &m->key, seeing->process->pid,
				      m->start, m->end, m->path, map->file);
}

static bool wants_looks(const struct symbolizer *symbolizer, struct process_cache *cache,
			const struct process *process)
{
	unsigned int unseen = 0;
	const struct mapping *m;

	vec_for_each (m, &process->mappings)
		if (m->key.inode && m->path[0] == '/' && !mapping_has_image(cache, m))
			unseen += !image_cache_has_seen(symbolizer->images, &m->key, process->pid,
							m->start, m->end, m->path);
	return unseen >= FEW_LOOKS;
}

/* All its files in one call, where the kernel can be asked for mappings; what that does not see is looked at one by one. */
static void look_at_all(struct symbolizer *symbolizer, struct process *process)
{
	struct seeing seeing = { symbolizer, process };
	uint64_t at = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	(void)exec_maps_query(process->pid, path, IMAGE_MAX_LOOKS, &at, see, &seeing);
}

void process_files_open(struct symbolizer *symbolizer, struct process_cache *cache,
			struct process *process)
{
	struct mapping *mapping;
	uint64_t begin_ns;

	if (cache->touched_serial == process->mappings_serial + 1)
		return;
	begin_ns = clock_now_ns();
	if (process->mappings.len > MANY_MAPPINGS && begin_ns < cache->open_again_ns)
		return;
	cache->touched_serial = process->mappings_serial + 1;
	if (wants_looks(symbolizer, cache, process))
		look_at_all(symbolizer, process);
	vec_for_each (mapping, &process->mappings)
		mapping_get_image(symbolizer, cache, process->pid, mapping);
	/* All that it maps are the newest now: the others' files are not its any more. */
	while (cache->images.len > process->mappings.len)
		lru_drop_oldest(&cache->images);
	cache->open_again_ns = begin_ns + (clock_now_ns() - begin_ns) * OPEN_SHARE;
}

static void read_file(struct symbolizer *symbolizer, struct process_cache *cache,
		      struct process *process, uint64_t address)
{
	const struct mapping *mapping = process_find_mapping(process, address);
	struct image *image =
		mapping ? mapping_get_image(symbolizer, cache, process->pid, mapping) : NULL;

	if (image && image_state(image) == IMAGE_NEW)
		image_load(symbolizer->images, image);
}

void process_files_read(struct symbolizer *symbolizer, struct process_cache *cache,
			struct process *process, struct word_reader user)
{
	struct user_word word;
	uint64_t known;

	while (user_word_next(&user, &word)) {
		uint64_t page = word.address / WIRE_PAGE_BYTES;

		if (word.kind != WIRE_FRAME_CODE || lru_get(&cache->pages, page, &known))
			continue;
		lru_put(&cache->pages, page, 0, 0);
		read_file(symbolizer, cache, process, word.address);
	}
}
