/* SPDX-License-Identifier: Apache-2.0 */
/* What image.c and image_drop.c share; nobody else includes it. */
#ifndef HOSTPROF_ELF_IMAGE_CACHE_H
#define HOSTPROF_ELF_IMAGE_CACHE_H

#include "base/budget/budget.h"
#include "elf/image_index.h"

struct image_cache {
	struct worker_pool *pool; /* borrowed; NULL: parse at once */
	struct image_index index;
	VEC(struct image *) images;  /* owned */
	VEC(struct image *) waiting; /* opened in this order, parsed or not; each has a reference */
	size_t waiting_first;	     /* those before are no more */
	size_t open_count;
	uint64_t parsed;
	uint64_t close_calls;
	size_t content_bytes, content_limit, parse_limit, path_bytes;
	size_t bytes, room_bytes; /* of images without their symbols */
	struct budget budget;	  /* of `bytes`, among the processes that mapped them first */
	struct hmap paid;	  /* by pid: bytes */
	uint64_t refused;	  /* how often */
	uint32_t refused_pid;	  /* the first */
	uint64_t number, asks;	  /* the last ones */
	uint64_t tidy_asks;	  /* `asks` when image_cache_close_idle() last came by */
	size_t enough_bytes;	  /* to look for more to evict would be too soon */
	uint64_t evicted, evicted_failed, evicted_left_out;
	size_t hands
		[2]; /* indexes into images: where drop_round() goes on, among those that are wanted and the others */
};

/* What it takes, but for its symbols. */
size_t image_bytes(const struct image *image);
void image_free(struct image *image);
/* A file at PATH, which is not known yet: is there room for it, of what process PID may have? */
bool image_cache_may_pay(struct image_cache *cache, uint32_t pid, const char *path);
void image_cache_pay(struct image_cache *cache, struct image *image, uint32_t pid);

/* The oldest that was opened and may still wait for being parsed, and its reference; NULL: there is none. */
struct image *image_cache_take_waiting(struct image_cache *cache);
/* KEEP has just been parsed: images that were not asked for go until the limits hold. */
void image_cache_drop_unused(struct image_cache *cache, const struct image *keep);
/* KEEP has just been parsed, and may have its file open for names: of too many such the oldest goes. */
void image_cache_limit_files(struct image_cache *cache, const struct image *keep);
/* Those that nobody has go while there are too many. */
void image_cache_evict(struct image_cache *cache);

#endif
