// SPDX-License-Identifier: Apache-2.0
#include "elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/hmap.h"
#include "elf/image_cache.h"
#include "elf/image_open.h"
#include "wall/wall.h"

/* The symbols of a browser with debug data are 100 MB, those of a JVM 10 MB. */
#define MAX_CONTENT_BYTES (256UL << 20)
/* Some 8,000 files that nobody has any more. */
#define ROOM_BYTES   (8UL << 20)
#define BUDGET_BYTES (64UL << 20)
/*
 * Files that were opened but not parsed yet hold a descriptor each. Past this many the oldest are
 * parsed, wanted or not, which lets theirs go.
 */
#define MAX_OPEN 512
/* Parsing has fallen behind by this many more: wait for it. RLIMIT_NOFILE is 1024 by default. */
#define MAX_OPEN_HARD 768

/* Of all paths: past that a file is known by its last name, ".../libfoo.so". */
#define MAX_PATH_BYTES (8UL << 20)
/* At 30 us each. */
#define LOOKS_A_TURN 64
/* No file has it: paths begin with a slash, or are a name in brackets. */
#define UNLOOKED "(more files)"

/* A parse under way: owns what it has read until `done`. */
struct parse_job {
	struct worker_job job;
	struct image_cache *cache; /* borrowed */
	struct image *image;	   /* a reference; only `done` touches it */
	char *path;		   /* owned */
	uint32_t pid;
	int fd; /* borrowed from the image */
	size_t limit_bytes;
	bool ran;
	struct image_content content;
};

struct image_cache *image_cache_new(struct worker_pool *pool)
{
	struct image_cache *cache = xcalloc(1, sizeof(*cache));

	cache->pool = pool;
	image_index_init(&cache->index);
	cache->content_limit = MAX_CONTENT_BYTES;
	cache->room_bytes = ROOM_BYTES;
	cache->budget.limit_bytes = BUDGET_BYTES;
	cache->parse_limit = SIZE_MAX;
	return cache;
}

static bool is_loading(const struct image_cache *cache)
{
	for (size_t i = 0; i < cache->images.len; i++)
		if (cache->images.items[i]->state == IMAGE_LOADING)
			return true;
	return false;
}

void image_cache_free(struct image_cache *cache)
{
	if (!cache)
		return;
	if (is_loading(cache))
		worker_pool_drain(cache->pool);
	for (size_t i = 0; i < cache->images.len; i++)
		image_free(cache->images.items[i]);
	vec_release(&cache->images);
	vec_release(&cache->waiting);
	image_index_release(&cache->index);
	hmap_release(&cache->paid);
	free(cache);
}

static struct image *add_image(struct image_cache *cache, const struct file_key *key,
			       const char *path)
{
	struct image *image = xcalloc(1, sizeof(*image));
	char cut[IMAGE_CUT_BYTES];

	image->key = *key;
	if (cache->path_bytes + strlen(path) > MAX_PATH_BYTES && strlen(path) > sizeof(cut))
		path = image_index_cut_path(path, cut);
	image->path = xstrdup(path);
	cache->path_bytes += strlen(path) + 1;
	image->fd = -1;
	image->number = ++cache->number;
	image->asked = ++cache->asks;
	cache->bytes += image_bytes(image);
	image_index_add(&cache->index, image);
	vec_push(&cache->images, image);
	return image;
}

/* --- opening --- */

static void make_room(struct image_cache *cache)
{
	struct image *image;

	while (cache->open_count >= MAX_OPEN && (image = image_cache_take_waiting(cache))) {
		image_load(cache, image);
		image_unref(image);
	}
	if (cache->open_count >= MAX_OPEN_HARD)
		worker_pool_drain(cache->pool);
}

static void fail_to_open(struct image *image, int error)
{
	char cut[IMAGE_CUT_BYTES];
	bool is_long = strlen(image->path) > sizeof(cut);
	image->state = IMAGE_FAILED;
	image->never_opened = true;
	image_content_fail(&image->content, "cannot read %s: %s",
			   is_long ? image_index_cut_path(image->path, cut) : image->path,
			   image_open_failure(error));
}

static void open_image(struct image_cache *cache, struct image *image, uint32_t pid,
		       const struct image_file *file)
{
	int fd;

	make_room(cache);
	fd = wall_reopen(pid, &file->found);
	if (fd < 0) {
		fail_to_open(image, fd);
		return;
	}
	image->fd = fd;
	image->pid = pid;
	image->certain = file->certain || image_file_has_key(fd, &image->key);
	image->state = IMAGE_NEW;
	image->opened = cache->close_calls;
	image->never_opened = false;
	/* Segments and build id stay what they were: it is the same file. */
	image_content_forget(&image->content);
	cache->open_count++;
	vec_push(&cache->waiting, image_ref(image));
}

/* Its file is there. */
static struct image *take_found(struct image_cache *cache, const struct image_mapping *mapping,
				const char *path, const struct image_file *file)
{
	struct image *image = image_index_find(&cache->index, &file->found.id, path);

	if (!image) {
		image = image_index_find_key(&cache->index, &mapping->key, path);
		if (!image || !image->never_opened || image->id.inode)
			image = add_image(cache, &mapping->key, path);
		image_index_set_id(&cache->index, image, &file->found.id);
		open_image(cache, image, mapping->pid, file);
	} else if (image->never_opened || image->state == IMAGE_DROPPED) {
		open_image(cache, image, mapping->pid, file);
	}
	return image;
}

/* Nobody finds its file, for the reason ERROR. */
static struct image *take_lost(struct image_cache *cache, const struct file_key *key,
			       const char *path, int error)
{
	struct image *image = image_index_find_key(&cache->index, key, path);

	if (!image)
		image = add_image(cache, key, path);
	else if (!image->never_opened && image->state != IMAGE_DROPPED)
		return image;
	fail_to_open(image, error);
	return image;
}

/* What its process maps beyond the files that are looked at: one image for all of those, or a known one. */
static struct image *take_unlooked(struct image_cache *cache, const struct file_key *key,
				   const char *path)
{
	const struct file_key none = { 0 };
	struct image *image = image_index_find_key(&cache->index, key, path);

	if (!image)
		image = image_index_find_key(&cache->index, &none, UNLOOKED);
	if (!image) {
		image = add_image(cache, &none, UNLOOKED);
		fail_to_open(image, -EDQUOT);
	}
	return image;
}

bool image_was_looked_at(const struct image *image)
{
	return strcmp(image->path, UNLOOKED) != 0;
}

/* Its file is SEEN, and was before. */
static struct image *find_known(struct image_cache *cache, const struct image_mapping *mapping,
				const char *path, const struct file_id *seen)
{
	struct image *image = image_index_find(&cache->index, seen, path);

	if (!image || image->never_opened || image->state == IMAGE_DROPPED ||
	    seen->inode != mapping->key.inode)
		return NULL;
	image_index_see(&cache->index, image, mapping);
	image_index_remember(&cache->index, mapping, image);
	return image;
}

static struct image *find_and_open(struct image_cache *cache, const struct image_mapping *mapping,
				   const char *path)
{
	struct image_file file;
	struct image *image;
	int r = image_find_file(&mapping->key, mapping->pid, mapping->start, mapping->end, path,
				&file);

	if (r < 0)
		return take_lost(cache, &mapping->key, path, r);
	image = take_found(cache, mapping, path, &file);
	close(file.found.fd);
	image_index_see(&cache->index, image, mapping);
	image_index_remember(&cache->index, mapping, image);
	return image;
}

/* SEEN is behind the mapping; NULL: nobody has looked. */
static struct image *look_at(struct image_cache *cache, const struct image_mapping *mapping,
			     const char *path, const struct file_id *seen)
{
	struct image *image = NULL;
	struct file_id id;
	int r = 0;

	if (!image_index_may_look(&cache->index, mapping->pid) ||
	    !image_cache_may_pay(cache, mapping->pid, path))
		return take_unlooked(cache, &mapping->key, path);
	if (!seen && image_index_may_know(&cache->index, &mapping->key, path)) {
		r = image_look(&mapping->key, mapping->pid, mapping->start, mapping->end, path,
			       &id);
		seen = r == 0 ? &id : NULL;
	}
	if (r < 0 && r != -ESTALE)
		image = take_lost(cache, &mapping->key, path, r);
	else if (seen)
		image = find_known(cache, mapping, path, seen);
	if (!image)
		image = find_and_open(cache, mapping, path);
	image_cache_pay(cache, image, mapping->pid);
	return image;
}

static struct image *find_seen(const struct image_cache *cache, const struct image_mapping *mapping,
			       const char *path)
{
	struct image *image = image_index_recall(&cache->index, mapping, path);

	return image ? image : image_index_find_seen(&cache->index, &mapping->key, path);
}

bool image_cache_has_seen(const struct image_cache *cache, const struct file_key *key, uint32_t pid,
			  uint64_t start, uint64_t end, const char *path)
{
	const struct image_mapping mapping = {
		.key = *key, .start = start, .end = end, .pid = pid
	};

	return find_seen(cache, &mapping, path) != NULL;
}

struct image *image_cache_open_seen(struct image_cache *cache, const struct file_key *key,
				    uint32_t pid, uint64_t start, uint64_t end, const char *path,
				    const struct file_id *seen)
{
	const struct image_mapping mapping = {
		.key = *key, .start = start, .end = end, .pid = pid
	};
	struct image *image = NULL;

	if (!seen)
		image = find_seen(cache, &mapping, path);
	if (!image)
		image = look_at(cache, &mapping, path, seen);
	image->asked = ++cache->asks;
	return image;
}

struct image *image_cache_open(struct image_cache *cache, const struct file_key *key, uint32_t pid,
			       uint64_t start, uint64_t end, const char *path)
{
	return image_cache_open_seen(cache, key, pid, start, end, path, NULL);
}

void image_cache_note(struct image_cache *cache, const struct file_key *key, uint32_t pid,
		      uint64_t start, uint64_t end, const char *path)
{
	const struct image_mapping mapping = {
		.key = *key, .start = start, .end = end, .pid = pid
	};

	struct image *image = image_index_note(&cache->index, &mapping, path);

	if (image)
		image->asked = ++cache->asks;
	else
		image_cache_open(cache, key, pid, start, end, path);
}

void image_cache_look(struct image_cache *cache)
{
	struct image *image;

	for (int i = 0; i < LOOKS_A_TURN && (image = image_index_take_due(&cache->index)); i++) {
		const struct image_mapping mapping = { .key = image->key,
						       .start = image->place.start,
						       .end = image->place.end,
						       .pid = image->place.pid };

		look_at(cache, &mapping, image->path, NULL);
		image_unref(image);
	}
	image_cache_evict(cache);
}

struct image *image_cache_add_memory(struct image_cache *cache, const char *name, const void *data,
				     size_t len)
{
	struct file_key key = { 0 };
	struct image *image = image_index_find_key(&cache->index, &key, name);
	size_t before_bytes;

	if (image)
		return image;
	image = add_image(cache, &key, name);
	before_bytes = image_bytes(image);
	image_content_read_memory(data, len, name, &image->content);
	image_ref(image); /* there is nothing to read it again from */
	cache->bytes += image_bytes(image) - before_bytes;
	image->state = image->content.failure ? IMAGE_FAILED : IMAGE_READY;
	return image;
}

/* --- parsing --- */

static void parse_run(struct worker_job *job)
{
	struct parse_job *parse = container_of(job, struct parse_job, job);

	image_content_read(parse->fd, parse->pid, parse->path, parse->limit_bytes, &parse->content);
	parse->ran = true;
}

static void parse_done(struct worker_job *job)
{
	struct parse_job *parse = container_of(job, struct parse_job, job);
	struct image *image = parse->image;
	size_t before_bytes = image_bytes(image);

	if (!parse->ran)
		image_content_fail(&parse->content, "%s was not read before the end", parse->path);
	image_content_release(&image->content);
	image->content = parse->content;
	image->state = image->content.failure ? IMAGE_FAILED : IMAGE_READY;
	image->used = true;
	parse->cache->bytes += image_bytes(image) - before_bytes;
	parse->cache->content_bytes += symbols_bytes(&image->content.symbols);
	parse->cache->open_count--;
	parse->cache->parsed++;
	image_cache_limit_files(parse->cache, image);
	image_cache_drop_unused(parse->cache, image);
	close(TAKE_FD(image->fd));
	image_unref(image);
	free(parse->path);
	free(parse);
}

void image_load(struct image_cache *cache, struct image *image)
{
	struct parse_job *parse;

	if (image->state != IMAGE_NEW)
		return;
	parse = xcalloc(1, sizeof(*parse));
	parse->job.run = parse_run;
	parse->job.done = parse_done;
	parse->cache = cache;
	parse->image = image_ref(image);
	parse->path = xstrdup(image->path);
	parse->pid = image->pid;
	parse->fd = image->fd;
	parse->limit_bytes = cache->parse_limit;
	image->state = IMAGE_LOADING;
	if (cache->pool) {
		worker_pool_submit(cache->pool, &parse->job);
	} else {
		parse_run(&parse->job);
		parse_done(&parse->job);
	}
}

int image_dup_fd(const struct image *image)
{
	int fd;

	if (image->fd < 0)
		return -ENODATA;
	fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

uint64_t image_cache_parsed(const struct image_cache *cache)
{
	return cache->parsed;
}
