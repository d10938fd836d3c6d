// SPDX-License-Identifier: Apache-2.0
/* What goes when: symbols, open files, images. */
#include <stdio.h>
#include <unistd.h>

#include "elf/image_cache.h"

/* So much of their limit symbols keep in any case: a storm of small programs has its names although there is no room for anything. */
#define WANTED_SHARE 8
/* Of those that nobody has an eighth goes at a time: one look at all then pays for many. */
#define EVICTED_SHARE 8
/* The two tables of image_index, what malloc() takes, the rest of a sentence that has its path. */
#define KEEP_BYTES 160

/* --- symbols ---------------------------------------------------------------------------------- */

void image_cache_set_limit(struct image_cache *cache, size_t limit)
{
	cache->content_limit = limit;
}

void image_cache_set_parse_limit(struct image_cache *cache, size_t parse_limit)
{
	cache->parse_limit = parse_limit;
}

/* An image in memory has no file to be read again from. */
static bool may_drop(const struct image *image)
{
	return image->state == IMAGE_READY && image->key.inode != 0;
}

static void drop(struct image_cache *cache, struct image *image)
{
	cache->content_bytes -= symbols_bytes(&image->content.symbols);
	image_content_forget(&image->content);
	image->state = IMAGE_DROPPED;
}

/* One round of the clock's hand, over the images that are WANTED or the others: those that were not asked for since it last came by. */
static void drop_round(struct image_cache *cache, bool wanted, const struct image *keep,
		       size_t limit)
{
	size_t turns = cache->images.len;

	for (; turns > 0 && cache->content_bytes > limit; turns--) {
		struct image *image =
			cache->images.items[cache->hands[wanted]++ % cache->images.len];

		if (image == keep || !may_drop(image) || (image->wants > 0) != wanted)
			continue;
		if (!image->used)
			drop(cache, image);
		image->used = false;
	}
}

/*
 * One round only, so that the images of one stack can be there together; in the second, which is
 * for when memory is bounded strictly, nothing counts as asked for any more. KEEP is the one that
 * has just come.
 */
void image_cache_drop_unused(struct image_cache *cache, const struct image *keep)
{
	size_t strict = cache->content_limit + cache->parse_limit / 4;

	drop_round(cache, false, keep, cache->content_limit);
	if (cache->parse_limit == SIZE_MAX) {
		drop_round(cache, true, keep, cache->content_limit);
		return;
	}
	drop_round(cache, false, keep, strict);
	drop_round(cache, true, keep, strict);
	drop_round(cache, true, keep, strict);
}

void image_cache_shrink(struct image_cache *cache, bool all)
{
	for (int round = 0; round < 2; round++) {
		drop_round(cache, false, NULL, 0);
		if (all)
			drop_round(cache, true, NULL, cache->content_limit / WANTED_SHARE);
	}
}

static int compare_asked(const void *a, const void *b)
{
	const struct image *x = *(struct image *const *)a, *y = *(struct image *const *)b;

	return x->asked < y->asked ? -1 : x->asked > y->asked;
}

/*
 * Of who has ended nobody asks any more, mostly: so much of the limit as those may take that nobody wants, and that were not asked for
 * since the last time.
 */
#define UNWANTED_SHARE 3

static void drop_unwanted(struct image_cache *cache)
{
	VEC(struct image *) nobodys = VEC_INIT;
	size_t bytes = 0;
	struct image **at;

	vec_for_each (at, &cache->images) {
		if ((*at)->wants || !may_drop(*at) || (*at)->asked > cache->tidy_asks)
			continue;
		bytes += symbols_bytes(&(*at)->content.symbols);
		vec_push(&nobodys, *at);
	}
	if (bytes > cache->content_limit / UNWANTED_SHARE) {
		qsort(nobodys.items, nobodys.len, sizeof(*nobodys.items), compare_asked);
		for (at = nobodys.items; bytes > cache->content_limit / UNWANTED_SHARE; at++) {
			bytes -= symbols_bytes(&(*at)->content.symbols);
			drop(cache, *at);
		}
	}
	cache->tidy_asks = cache->asks;
	vec_release(&nobodys);
}

/* --- files with names --------------------------------------------------------------------------- */

/* Of each a descriptor is kept; RLIMIT_NOFILE is 1024 by default, and images wait with up to 768. */
#define MAX_NAMES_FILES 128

static bool holds_file(const struct image *image)
{
	return may_drop(image) && image->content.symbols.names_fd > 0;
}

void image_cache_limit_files(struct image_cache *cache, const struct image *keep)
{
	struct image *oldest = NULL, **at;
	size_t count = 0;

	if (!holds_file(keep))
		return;
	vec_for_each (at, &cache->images) {
		if (!holds_file(*at))
			continue;
		count++;
		if (*at != keep && (!oldest || (*at)->asked < oldest->asked))
			oldest = *at;
	}
	if (count > MAX_NAMES_FILES)
		drop(cache, oldest);
}

/* Nobody maps them any more: no file that was deleted shall stay for them. */
static void close_unwanted(struct image_cache *cache)
{
	struct image **at;

	vec_for_each (at, &cache->images)
		if (!(*at)->wants && holds_file(*at))
			drop(cache, *at);
}

/* --- open files ------------------------------------------------------------------------------- */

/* Take those off the list that are no more on it, when it is worth while. */
static void forget_waited(struct image_cache *cache)
{
	if (cache->waiting_first * 2 <= cache->waiting.len)
		return;
	vec_remove(&cache->waiting, 0, cache->waiting_first);
	cache->waiting_first = 0;
}

struct image *image_cache_take_waiting(struct image_cache *cache)
{
	struct image *image;

	if (cache->waiting_first == cache->waiting.len)
		return NULL;
	image = cache->waiting.items[cache->waiting_first++];
	forget_waited(cache);
	return image;
}

/* Those that were read, as somebody wanted them, wait no more. */
static void forget_read(struct image_cache *cache)
{
	size_t kept = 0;

	for (size_t i = cache->waiting_first; i < cache->waiting.len; i++) {
		struct image *image = cache->waiting.items[i];

		if (image->state == IMAGE_NEW)
			cache->waiting.items[kept++] = image;
		else
			image_unref(image);
	}
	cache->waiting.len = kept;
	cache->waiting_first = 0;
}

/* In the last ten seconds. */
static bool was_just_opened(const struct image_cache *cache, const struct image *image)
{
	return image->state == IMAGE_NEW && image->opened == cache->close_calls;
}

void image_cache_close_idle(struct image_cache *cache)
{
	while (cache->waiting_first < cache->waiting.len &&
	       !was_just_opened(cache, cache->waiting.items[cache->waiting_first])) {
		struct image *image = image_cache_take_waiting(cache);

		if (image->state == IMAGE_NEW) {
			close(TAKE_FD(image->fd));
			cache->open_count--;
			image->state = IMAGE_DROPPED;
		}
		image_unref(image);
	}
	close_unwanted(cache);
	drop_unwanted(cache);
	cache->close_calls++;
	/* A process of the same number may map another file there. */
	image_index_forget_mappings(&cache->index);
}

/* --- images ----------------------------------------------------------------------------------- */

struct image *image_ref(struct image *image)
{
	image->refs++;
	return image;
}

void image_unref(struct image *image)
{
	if (image)
		image->refs--;
}

struct image *image_want(struct image *image)
{
	image->wants++;
	return image_ref(image);
}

void image_unwant(struct image *image)
{
	image->wants--;
	image_unref(image);
}

static size_t bytes_at(const char *path)
{
	return sizeof(struct image) + 2 * strlen(path) + KEEP_BYTES;
}

size_t image_bytes(const struct image *image)
{
	const struct image_content *content = &image->content;

	return bytes_at(image->path) + content->segments.cap * sizeof(*content->segments.items);
}

void image_free(struct image *image)
{
	image_content_release(&image->content);
	if (image->fd >= 0)
		close(image->fd);
	free(image->path);
	free(image);
}

void image_cache_set_room(struct image_cache *cache, size_t bytes)
{
	cache->room_bytes = bytes;
	cache->enough_bytes = 0;
}

void image_cache_get_stats(const struct image_cache *cache, struct image_cache_stats *ret_stats)
{
	struct image *const *at;

	*ret_stats = (struct image_cache_stats){ .images = cache->images.len,
						 .bytes = cache->bytes,
						 .evicted = cache->evicted,
						 .refused = cache->refused,
						 .refused_pid = cache->refused_pid,
						 .left_out = cache->evicted_left_out };
	vec_for_each (at, &cache->images) {
		if (!(*at)->content.left_out)
			continue;
		ret_stats->left_out++;
		ret_stats->why = (*at)->content.left_out;
	}
}

void image_cache_set_budget(struct image_cache *cache, size_t bytes)
{
	cache->budget.limit_bytes = bytes;
}

bool image_cache_may_pay(struct image_cache *cache, uint32_t pid, const char *path)
{
	uint64_t own_bytes = 0;

	hmap_get(&cache->paid, pid, &own_bytes);
	cache->budget.used_bytes = cache->bytes;
	if (budget_fits(&cache->budget, own_bytes, bytes_at(path)))
		return true;
	if (!cache->refused++)
		cache->refused_pid = pid;
	return false;
}

void image_cache_pay(struct image_cache *cache, struct image *image, uint32_t pid)
{
	uint64_t own_bytes = 0;

	if (image->paid_bytes)
		return;
	image->payer = pid;
	image->paid_bytes = (uint32_t)bytes_at(image->path);
	hmap_get(&cache->paid, pid, &own_bytes);
	hmap_put(&cache->paid, pid, own_bytes + image->paid_bytes);
}

static void pay_back(struct image_cache *cache, const struct image *image)
{
	uint64_t own_bytes = 0;

	if (!hmap_get(&cache->paid, image->payer, &own_bytes))
		return;
	if (own_bytes > image->paid_bytes)
		hmap_put(&cache->paid, image->payer, own_bytes - image->paid_bytes);
	else
		hmap_remove(&cache->paid, image->payer);
}

static void let_go(struct image_cache *cache, struct image *image)
{
	image->going = true;
	image_index_remove(&cache->index, image);
	pay_back(cache, image);
	cache->bytes -= image_bytes(image);
	cache->path_bytes -= strlen(image->path) + 1;
	cache->content_bytes -= symbols_bytes(&image->content.symbols);
	cache->evicted++;
	cache->evicted_left_out += image->content.left_out != NULL;
	cache->evicted_failed += image->state == IMAGE_FAILED || image->content.left_out;
}

/* All that are `going`; the hand may begin anew. */
static void free_going(struct image_cache *cache)
{
	size_t kept = 0;

	image_index_forget_going(&cache->index);
	for (size_t i = 0; i < cache->images.len; i++) {
		struct image *image = cache->images.items[i];

		if (image->going)
			image_free(image);
		else
			cache->images.items[kept++] = image;
	}
	cache->images.len = kept;
}

void image_cache_evict(struct image_cache *cache)
{
	VEC(struct image *) nobodys = VEC_INIT;
	size_t bytes = 0, left = cache->room_bytes - cache->room_bytes / EVICTED_SHARE;
	struct image **at;

	if (cache->bytes <= MAX(cache->room_bytes, cache->enough_bytes))
		return;
	forget_read(cache);
	vec_for_each (at, &cache->images) {
		if ((*at)->refs)
			continue;
		bytes += image_bytes(*at);
		vec_push(&nobodys, *at);
	}
	if (bytes > cache->room_bytes) {
		qsort(nobodys.items, nobodys.len, sizeof(*nobodys.items), compare_asked);
		for (at = nobodys.items; bytes > left; at++) {
			bytes -= image_bytes(*at);
			let_go(cache, *at);
		}
		free_going(cache);
	}
	cache->enough_bytes = cache->bytes + cache->room_bytes / EVICTED_SHARE;
	vec_release(&nobodys);
}

void image_cache_for_each_failed(struct image_cache *cache,
				 void (*fn)(const char *path, const char *why, void *data),
				 void *data)
{
	char others[96];

	for (size_t i = 0; i < cache->images.len; i++) {
		const struct image *image = cache->images.items[i];

		if (image->state == IMAGE_FAILED)
			fn(image->path, image_failure(image), data);
		else if (image->content.left_out)
			fn(image->path, image->content.left_out, data);
	}
	if (!cache->evicted_failed)
		return;
	snprintf(others, sizeof(others), "%llu that nobody maps any more could not be read",
		 (unsigned long long)cache->evicted_failed);
	fn("(other files)", others, data);
}
