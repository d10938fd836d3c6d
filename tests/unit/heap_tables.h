/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables in this process's own memory, for tests, fuzzers and tools. */
#ifndef HOSTPROF_TESTS_HEAP_TABLES_H
#define HOSTPROF_TESTS_HEAP_TABLES_H

#include <errno.h>

#include "base/hmap.h"
#include "unwind/tables/table_memory.h"

struct heap_tables {
	struct table_memory memory;
	struct hmap pages;  /* struct wire_page_key -> struct wire_page, in their own bits */
	struct hmap spaces; /* tgid -> struct wire_space, owned */
	struct hmap jvms;   /* serial -> struct wire_jvm, owned */
	struct hmap blobs;  /* segment -> blob, of any JVM */
};

static inline int heap_set_page(const struct wire_page_key *key, const struct wire_page *value,
				void *data)
{
	struct heap_tables *heap = data;
	uint64_t number = (uint64_t)key->file << 32 | key->page, old;

	if (!value)
		return hmap_remove(&heap->pages, number) ? 0 : -ENOENT;
	if (heap->pages.len >= heap->memory.page_limit && !hmap_get(&heap->pages, number, &old))
		return -E2BIG;
	hmap_put(&heap->pages, number, (uint64_t)value->block << 32 | value->generation);
	return 0;
}

static inline int heap_delete_space(struct heap_tables *heap, uint32_t tgid)
{
	free(hmap_find_ptr(&heap->spaces, tgid));
	return hmap_remove(&heap->spaces, tgid) ? 0 : -ENOENT;
}

static inline int heap_set_space(uint32_t tgid, const struct wire_space *value, void *data)
{
	struct heap_tables *heap = data;
	struct wire_space *space;

	if (!value)
		return heap_delete_space(heap, tgid);
	space = hmap_find_ptr(&heap->spaces, tgid);
	if (!space) {
		if (heap->spaces.len >= heap->memory.space_limit)
			return -E2BIG;
		space = xmalloc(sizeof(*space));
		hmap_put_ptr(&heap->spaces, tgid, space);
	}
	*space = *value;
	return 0;
}

static inline int heap_get_space(uint32_t tgid, struct wire_space *ret_value, void *data)
{
	const struct heap_tables *heap = data;
	const struct wire_space *space = hmap_find_ptr(&heap->spaces, tgid);

	if (!space)
		return -ENOENT;
	*ret_value = *space;
	return 0;
}

static inline int heap_set_jvm(uint32_t serial, const struct wire_jvm *value, void *data)
{
	struct heap_tables *heap = data;

	free(hmap_find_ptr(&heap->jvms, serial));
	hmap_remove(&heap->jvms, serial);
	if (value)
		hmap_put_ptr(&heap->jvms, serial, xmemdup(value, sizeof(*value)));
	return 0;
}

static inline int heap_set_far_blob(const struct wire_far_key *key, uint64_t blob, void *data)
{
	struct heap_tables *heap = data;

	hmap_put(&heap->blobs, key->segment, blob);
	return 0;
}

/* What was set there; NULL, 0: nothing. */
static inline const struct wire_jvm *table_memory_heap_jvm(const struct table_memory *memory,
							   uint32_t serial)
{
	const struct heap_tables *heap = memory->data;

	return hmap_find_ptr(&heap->jvms, serial);
}

static inline uint64_t table_memory_heap_far_blob(const struct table_memory *memory,
						  const struct wire_far_key *key)
{
	const struct heap_tables *heap = memory->data;
	uint64_t blob;

	return hmap_get(&heap->blobs, key->segment, &blob) ? blob : 0;
}

/* Of the given sizes. */
static inline struct table_memory *table_memory_new_heap(uint32_t blocks, uint32_t rules,
							 uint32_t ranges)
{
	struct heap_tables *heap = xcalloc(1, sizeof(*heap));
	struct table_memory *memory = &heap->memory;

	memory->blocks = xcalloc(blocks, sizeof(*memory->blocks));
	memory->rules = xcalloc(rules, sizeof(*memory->rules));
	memory->ranges = xcalloc(ranges, sizeof(*memory->ranges));
	memory->block_count = blocks;
	memory->rule_count = rules;
	memory->range_count = ranges;
	memory->set_page = heap_set_page;
	memory->set_space = heap_set_space;
	memory->get_space = heap_get_space;
	memory->set_jvm = heap_set_jvm;
	memory->set_far_blob = heap_set_far_blob;
	memory->page_limit = 2 * blocks;
	memory->space_limit = ranges;
	memory->data = heap;
	return memory;
}

static inline void table_memory_free_heap(struct table_memory *memory)
{
	struct heap_tables *heap;
	uint64_t key, value;

	if (!memory)
		return;
	heap = container_of(memory, struct heap_tables, memory);
	for (size_t at = 0; hmap_next(&heap->spaces, &at, &key, &value);)
		free((void *)(uintptr_t)value);
	for (size_t at = 0; hmap_next(&heap->jvms, &at, &key, &value);)
		free((void *)(uintptr_t)value);
	hmap_release(&heap->jvms);
	hmap_release(&heap->blobs);
	hmap_release(&heap->pages);
	hmap_release(&heap->spaces);
	free(memory->blocks);
	free(memory->rules);
	free(memory->ranges);
	free(heap);
}

DEFINE_CLEANUP(struct table_memory *, table_memory_free_heap);

#endif
