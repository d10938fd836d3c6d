/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a pipeline that is made up (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_FILES_H
#define HOSTPROF_TESTS_PIPELINE_FILES_H

#include "pipeline_notes.h"

struct image_cache *image_cache_new(struct worker_pool *pool)
{
	assert_non_null(pool);
	return A_POINTER(image_cache);
}

void image_cache_free(struct image_cache *cache)
{
	(void)cache;
}

void image_cache_set_limit(struct image_cache *cache, size_t limit)
{
	(void)cache;
	note("symbols up to %zu", limit);
}

void image_cache_set_parse_limit(struct image_cache *cache, size_t limit)
{
	(void)cache;
	note("parsing up to %zu", limit);
}

void image_cache_set_room(struct image_cache *cache, size_t bytes)
{
	(void)cache;
	note("files up to %zu", bytes);
}

void image_cache_set_budget(struct image_cache *cache, size_t bytes)
{
	(void)cache;
	note("budget of files %zu", bytes);
}

void image_cache_get_stats(const struct image_cache *cache, struct image_cache_stats *ret_stats)
{
	(void)cache;
	*ret_stats = (struct image_cache_stats){
		.images = 21, .evicted = 22, .refused = 23, .refused_pid = PID_A
	};
}

void image_cache_note(struct image_cache *cache, const struct file_key *key, uint32_t pid,
		      uint64_t start, uint64_t end, const char *path)
{
	(void)cache;
	note("open %u %u:%u:%" PRIu64 ":%" PRIu64 " %" PRIx64 "-%" PRIx64 " %s", number(pid),
	     key->major, key->minor, key->inode, key->generation, start, end, path);
}

void image_cache_look(struct image_cache *cache)
{
	(void)cache;
	note("look at files");
}

void image_cache_shrink(struct image_cache *cache, bool all)
{
	(void)cache;
	note(all ? "shrink all" : "shrink");
}

void image_cache_close_idle(struct image_cache *cache)
{
	(void)cache;
	note("close idle");
}

uint64_t image_cache_parsed(const struct image_cache *cache)
{
	(void)cache;
	return parts.parsed;
}

void image_cache_for_each_failed(struct image_cache *cache,
				 void (*fn)(const char *path, const char *why, void *data),
				 void *data)
{
	(void)cache;
	fn("/lib/a", "torn", data);
	fn("/lib/b", "gone", data);
}

#endif
