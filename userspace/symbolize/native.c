// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "symbolize/symbolizer_private.h"

/* A runtime that starts to write a perf map is noticed this much later. */
#define PERF_MAP_RETRY_NS NSEC_PER_SEC

static uint64_t file_hash(const struct mapping *mapping)
{
	return hash_bytes(&mapping->key, sizeof(mapping->key)) ^
	       hash_bytes(mapping->path, strlen(mapping->path));
}

static struct image *file_image(struct symbolizer *symbolizer, struct process_cache *cache,
				uint32_t pid, const struct mapping *mapping)
{
	uint64_t hash = file_hash(mapping);
	struct image *image = hmap_find_ptr(&cache->images, hash);

	if (image && image_state(image) != IMAGE_DROPPED)
		return image;
	image = image_cache_open(symbolizer->images, &mapping->key, pid, mapping->start,
				 mapping->end, mapping->path);
	hmap_put_ptr(&cache->images, hash, image);
	return image;
}

struct image *mapping_get_image(struct symbolizer *symbolizer, struct process_cache *cache,
				uint32_t pid, const struct mapping *mapping)
{
	if (strcmp(mapping->path, "[vdso]") == 0)
		return vdso_image(symbolizer);
	if (mapping->key.inode == 0 || mapping->path[0] != '/')
		return NULL;
	return file_image(symbolizer, cache, pid, mapping);
}

static uint32_t path_string(struct profile *profile, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), suffix = sizeof(deleted) - 1;

	if (len > suffix && strcmp(path + len - suffix, deleted) == 0)
		len -= suffix;
	return profile_strn(profile, path, len);
}

static uint32_t image_mapping(struct stack_build *build, const struct image *image)
{
	struct hmap *known = &build->symbolizer->image_mappings;
	struct profile_mapping mapping = { 0 };
	uint64_t id;

	if (hmap_get(known, (uintptr_t)image, &id))
		return (uint32_t)id;
	mapping.path = path_string(build->profile, image_path(image));
	mapping.build_id = profile_string(build->profile, image_build_id(image));
	image_text_range(image, &mapping.start, &mapping.limit, &mapping.offset);
	id = profile_mapping(build->profile, &mapping);
	if (image_state(image) == IMAGE_READY)
		hmap_put(known, (uintptr_t)image, id);
	return (uint32_t)id;
}

/* Without load segments (not ELF, not readable) the file offset stands for the address. */
static uint32_t push_image_frame(struct stack_build *build, struct image *image,
				 const struct mapping *mapping, uint64_t address)
{
	struct profile_frame frame = { .kind = FRAME_NATIVE, .bci = -1 };
	uint64_t offset = address - mapping->start + mapping->pgoff;
	struct elf_symbol symbol;

	if (!image_offset_to_address(image, offset, &frame.address))
		frame.address = offset;
	else if (image_find_symbol(image, frame.address, &symbol)) {
		frame.name = profile_string(build->profile, symbol.name);
		frame.kind = symbol.cpp ? FRAME_CPP : FRAME_NATIVE;
	}
	frame.mapping = image_mapping(build, image);
	return stack_push(build, &frame);
}

/* Who looks early does not use up the look of the sample's turn. */
static const char *find_in_perf_map(const struct stack_build *build, uint64_t address)
{
	struct process_cache *cache = build->cache;

	if (!cache->perf_map) {
		uint64_t now = clock_now_ns();

		if (build->is_early || now < cache->next_perf_map_ns)
			return NULL;
		cache->next_perf_map_ns = now + PERF_MAP_RETRY_NS;
		cache->perf_map = perf_map_open(build->process->pid);
		if (!cache->perf_map)
			return NULL;
	}
	return perf_map_find(cache->perf_map, address);
}

/* Memory that no ELF file stands behind: "[anon]", "[heap]", or what a JIT says of it. */
static uint32_t push_pseudo_frame(struct stack_build *build, const struct mapping *mapping,
				  uint64_t address)
{
	const char *name = find_in_perf_map(build, address);
	const char *path = mapping->path[0] ? mapping->path : "[anon]";
	struct profile_mapping pseudo = { 0 };

	if (name)
		return stack_push_name(build, name, FRAME_JIT_OTHER, jit_mapping_id(build));
	pseudo.path = path_string(build->profile, path);
	return stack_push_name(build, path, FRAME_NATIVE, profile_mapping(build->profile, &pseudo));
}

/* JITs map files too, which are not ELF. Of a file that was not read we show name and offset. */
static bool holds_code(const struct image *image)
{
	uint64_t start, limit, offset;

	if (image_state(image) != IMAGE_READY)
		return true;
	image_text_range(image, &start, &limit, &offset);
	return limit > start;
}

static bool is_final(const struct image *image)
{
	return image_state(image) == IMAGE_READY || image_state(image) == IMAGE_FAILED;
}

static uint32_t push_address(struct stack_build *build, uint64_t address)
{
	struct profile_frame frame = {
		.kind = FRAME_NATIVE, .bci = -1, .mapping = PROFILE_NONE, .address = address
	};

	return stack_push(build, &frame);
}

/* *ret_final: it will be the same at every time while the mappings are these. */
static uint32_t push_new(struct stack_build *build, uint64_t address, bool *ret_final)
{
	struct mapping *mapping = process_find_mapping(build->process, address);
	struct image *image = mapping ? mapping_get_image(build->symbolizer, build->cache,
							  build->process->pid, mapping)
				      : NULL;

	*ret_final = !image || is_final(image); /* else the caller could not wait */
	if (build->is_raw)
		return push_address(build, address);
	if (!mapping)
		return stack_push_name(build, "[unknown]", FRAME_NATIVE, PROFILE_NONE);
	if (image && holds_code(image))
		return push_image_frame(build, image, mapping, address);
	*ret_final = false; /* a perf map grows */
	return push_pseudo_frame(build, mapping, address);
}

void native_push(struct stack_build *build, uint64_t address, uint64_t cache_key)
{
	struct hmap *known = &build->cache->frames;
	uint64_t id;
	bool final;

	if (hmap_get(known, cache_key, &id)) {
		stack_push_known(build, (uint32_t)id);
		return;
	}
	id = push_new(build, address, &final);
	if (final)
		hmap_put(known, cache_key, id);
	else
		build->cacheable = false;
}
