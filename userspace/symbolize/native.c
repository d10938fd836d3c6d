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

/* That the process had before; NULL: none, or it was dropped. */
static struct image *known_image(struct process_cache *cache, uint64_t hash)
{
	struct image *image;
	uint64_t known;

	if (!lru_get(&cache->images, hash, &known))
		return NULL;
	image = (struct image *)(uintptr_t)known;
	return image_state(image) == IMAGE_DROPPED ? NULL : image;
}

bool mapping_has_image(struct process_cache *cache, const struct mapping *mapping)
{
	return known_image(cache, file_hash(mapping)) != NULL;
}

static struct image *file_image(struct symbolizer *symbolizer, struct process_cache *cache,
				uint32_t pid, const struct mapping *mapping)
{
	uint64_t hash = file_hash(mapping);
	struct image *image = known_image(cache, hash);

	if (image)
		return image;
	image = image_cache_open(symbolizer->images, &mapping->key, pid, mapping->start,
				 mapping->end, mapping->path);
	lru_put(&cache->images, hash, (uintptr_t)image_want(image), 0);
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

	if (hmap_get(known, image_number(image), &id))
		return (uint32_t)id;
	mapping.path = path_string(build->profile, image_path(image));
	mapping.build_id = profile_string(build->profile, image_build_id(image));
	image_text_range(image, &mapping.start, &mapping.limit, &mapping.offset);
	id = profile_mapping(build->profile, &mapping);
	if (image_state(image) == IMAGE_READY)
		hmap_put(known, image_number(image), id);
	return (uint32_t)id;
}

void query_locate(struct stack_build *build, struct symbol_query *query)
{
	if (query->located)
		return;
	query->located = true;
	query->mapping = process_find_mapping(build->process, query->address);
	if (query->mapping)
		query->image = mapping_get_image(build->symbolizer, build->cache,
						 build->process->pid, query->mapping);
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

/* Of a function and what was inlined there; FRAME is what they have in common. */
static bool add_go_frames(struct stack_build *build, const struct symbol_query *query,
			  struct profile_frame frame, struct answer *answer)
{
	struct go_frames *go = &build->symbolizer->go;

	if (!image_find_go(query->image, frame.address, go))
		return false;
	frame.mapping = image_mapping(build, query->image);
	for (uint32_t i = 0; i < go->count; i++) {
		frame.kind = i + 1 < go->count ? FRAME_INLINED : FRAME_NATIVE;
		frame.name = profile_string(build->profile, go->text + go->frame[i].name);
		frame.file = profile_string(build->profile, go->text + go->frame[i].file);
		frame.line = go->frame[i].line;
		answer_add(answer, &frame);
	}
	answer->sure = ANSWER_RANGE;
	return true;
}

/* Without load segments (not ELF, not readable) the file offset stands for the address. */
static void add_image_frame(struct stack_build *build, const struct symbol_query *query,
			    struct answer *answer)
{
	const struct mapping *mapping = query->mapping;
	struct profile_frame frame = { .kind = FRAME_NATIVE, .bci = -1 };
	uint64_t offset = query->address - mapping->start + mapping->pgoff;
	struct elf_symbol symbol;
	uint64_t start;

	answer->sure = ANSWER_PLACE;
	if (!image_offset_to_address(query->image, offset, &frame.address))
		frame.address = offset;
	else if (add_go_frames(build, query, frame, answer))
		return;
	else if (image_find_symbol(query->image, frame.address, &symbol)) {
		answer->sure = ANSWER_RANGE;
		frame.name = profile_string(build->profile, symbol.name);
		frame.kind = symbol.cpp ? FRAME_CPP : FRAME_NATIVE;
	} else if (image_find_function(query->image, frame.address, &start)) {
		frame.into = (uint32_t)(frame.address - start);
	}
	frame.mapping = image_mapping(build, query->image);
	answer_add(answer, &frame);
}

void native_find_raw(struct stack_build *build, struct symbol_query *query, struct answer *answer)
{
	const struct profile_frame frame = {
		.kind = FRAME_NATIVE, .bci = -1, .mapping = PROFILE_NONE, .address = query->address
	};

	if (!build->is_raw)
		return;
	answer->sure = ANSWER_PLACE;
	answer->of_moment = true;
	answer_add(answer, &frame);
}

/* Who may wait asks for the file to be parsed. */
static bool must_wait(const struct stack_build *build, struct image *image)
{
	if (!build->may_wait)
		return false;
	if (image_state(image) == IMAGE_NEW)
		image_load(build->symbolizer->images, image);
	return !is_final(image);
}

void native_find_file(struct stack_build *build, struct symbol_query *query, struct answer *answer)
{
	query_locate(build, query);
	if (!query->image)
		return;
	if (must_wait(build, query->image)) {
		answer->sure = ANSWER_WAIT;
		return;
	}
	if (!holds_code(query->image))
		return;
	add_image_frame(build, query, answer);
	answer->of_moment = !is_final(query->image); /* the caller could not wait */
}

static struct perf_map *open_jit_dump(const struct process *process)
{
	const struct mapping *mapping;

	vec_for_each (mapping, &process->mappings)
		if (mapping->key.inode && perf_map_is_dump(mapping->path))
			return perf_map_open_dump(process->pid, mapping);
	return NULL;
}

/* Who looks early does not use up the look of the sample's turn. */
static void look_for_maps(const struct stack_build *build)
{
	struct process_cache *cache = build->cache;
	uint64_t now = clock_now_ns();

	if (build->is_early || now < cache->next_perf_map_ns)
		return;
	cache->next_perf_map_ns = now + PERF_MAP_RETRY_NS;
	if (!cache->perf_map)
		cache->perf_map = perf_map_open(build->process->pid);
	if (!cache->jit_dump)
		cache->jit_dump = open_jit_dump(build->process);
}

/* A dump is asked first: a runtime that writes both says more in it. */
static const char *find_in_maps(const struct stack_build *build, uint64_t address)
{
	struct process_cache *cache = build->cache;
	const char *name = NULL;

	if (!cache->perf_map || !cache->jit_dump)
		look_for_maps(build);
	if (cache->jit_dump)
		name = perf_map_find(cache->jit_dump, address);
	if (!name && cache->perf_map)
		name = perf_map_find(cache->perf_map, address);
	return name;
}

/* Of memory that no ELF file stands behind; the map grows. */
void native_find_perf_map(struct stack_build *build, struct symbol_query *query,
			  struct answer *answer)
{
	const char *name;

	query_locate(build, query);
	if (!query->mapping)
		return;
	answer->of_moment = true;
	name = find_in_maps(build, query->address);
	if (!name)
		return;
	answer->sure = ANSWER_RANGE;
	answer_add_name(answer, build->profile, name, FRAME_JIT_OTHER, jit_mapping_id(build));
}

/* "[anon]", "[heap]", a file that is not ELF. */
void native_find_memory(struct stack_build *build, struct symbol_query *query,
			struct answer *answer)
{
	struct profile_mapping pseudo = { 0 };
	const char *path;

	query_locate(build, query);
	answer->sure = ANSWER_PLACE;
	if (!query->mapping) {
		answer_add_name(answer, build->profile, "[unknown]", FRAME_NATIVE, PROFILE_NONE);
		return;
	}
	answer->of_moment = true; /* a perf map may know it later */
	path = query->mapping->path[0] ? query->mapping->path : "[anon]";
	pseudo.path = path_string(build->profile, path);
	answer_add_name(answer, build->profile, path, FRAME_NATIVE,
			profile_mapping(build->profile, &pseudo));
}
