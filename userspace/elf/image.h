/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of code, opened and parsed once for all processes that map it: build id, load
 * segments, function symbols. Parsing runs on a worker thread; the file is opened at once, while
 * the process that maps it still lives.
 */
#ifndef HOSTPROF_ELF_IMAGE_H
#define HOSTPROF_ELF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file_key.h"
#include "base/worker.h"
#include "elf/elf_symbol.h"
#include "wall/file_id.h"

enum image_state {
	IMAGE_NEW,     /* known by name only */
	IMAGE_LOADING, /* on a worker */
	IMAGE_READY,   /* parsed; may have no symbols */
	IMAGE_FAILED,  /* could not be read: image_failure() says why */
	IMAGE_DROPPED, /* was opened or parsed, and let go again: image_cache_open() opens it anew */
};

struct image;
struct image_cache;
struct go_frames;

/* POOL is borrowed; NULL: what is to be parsed is not. */
struct image_cache *image_cache_new(struct worker_pool *pool);
void image_cache_free(struct image_cache *cache);
DEFINE_CLEANUP(struct image_cache *, image_cache_free);

/*
 * Who keeps an image beyond his call takes a reference: names, for as long as a process maps it (symbolize/), and
 * tables, for as long as rows of it may be asked for (unwind/unwind_files). Of those that nobody has, the cache keeps
 * as many as image_cache_set_room() says; others go in image_cache_look(), first what was not asked for the longest.
 */
struct image *image_ref(struct image *image);
void image_unref(struct image *image); /* or NULL */
/* The same for who will ask for its symbols: they go last. */
struct image *image_want(struct image *image);
void image_unwant(struct image *image);
/* Which no other image of the cache ever had or will have, unlike its address. */
uint64_t image_number(const struct image *image);
/* What unwind/unwind_files calls its content; 0 until it says so. */
uint32_t image_tables(const struct image *image);
void image_set_tables(struct image *image, uint32_t tables);

/*
 * The image of a file (always one; borrowed until the next image_cache_look()). It is found now, by
 * /proc/PID/map_files/START-END, else /proc/PID/root/PATH, else /proc/PID/exe, each checked against KEY (or
 * by its text where device numbers differ, as on overlayfs), and opened if it is new. Processes have one
 * image when they have one file, whose content was not touched between them (file_id_equal()), under one
 * name: what a process shows in its own mount namespace is nobody else's. When it cannot be found any more,
 * KEY decides, if it was seen to be that image's.
 */
struct image *image_cache_open(struct image_cache *cache, const struct file_key *key, uint32_t pid,
			       uint64_t start, uint64_t end, const char *path);

/* Does that need no look at the file? */
bool image_cache_has_seen(const struct image_cache *cache, const struct file_key *key, uint32_t pid,
			  uint64_t start, uint64_t end, const char *path);

/* The same for who has just SEEN which file is behind the mapping itself; NULL: he has not. */
struct image *image_cache_open_seen(struct image_cache *cache, const struct file_key *key,
				    uint32_t pid, uint64_t start, uint64_t end, const char *path,
				    const struct file_id *seen);

/*
 * Processes tell that they have mapped it. A new file is opened at once; one that is known by its KEY is looked at when
 * somebody asks for it, or by the next calls of image_cache_look(): once for all that mapped it until then.
 */
void image_cache_note(struct image_cache *cache, const struct file_key *key, uint32_t pid,
		      uint64_t start, uint64_t end, const char *path);
void image_cache_look(struct image_cache *cache);

/* What images may take that nobody has, but for their symbols (default: 8 MiB); and what all of them take. */
void image_cache_set_room(struct image_cache *cache, size_t bytes);

/*
 * What all images may take but for their symbols (default: 64 MiB), shared by the processes that map them first as
 * base/budget/ says: files of who has all of his are one that is not read.
 */
void image_cache_set_budget(struct image_cache *cache, size_t bytes);

struct image_cache_stats {
	uint64_t images, bytes, evicted;
	uint64_t refused;     /* how often a process had no room for one */
	uint32_t refused_pid; /* the first */
	uint64_t left_out;    /* whose symbols took too much memory */
	const char
		*why; /* of one of these that is there yet: a sentence, borrowed; NULL: none is */
};

void image_cache_get_stats(const struct image_cache *cache, struct image_cache_stats *ret_stats);

/* Programs of Python with many modules map 800 with code; each look costs some 30 us of the event loop. */
#define IMAGE_MAX_LOOKS 1536

/* An image of bytes in memory: the vDSO. NAME identifies it. */
struct image *image_cache_add_memory(struct image_cache *cache, const char *name, const void *data,
				     size_t len);

/*
 * Symbols of all images take at most LIMIT bytes (default 256 MB); past that, those are dropped that were not
 * asked for a while, first of images that nobody wants. A file whose symbols take more than PARSE_LIMIT bytes (default:
 * no limit) to be read stays without them; with such a limit, past a quarter of it more, images are
 * dropped that are in use.
 */
void image_cache_set_limit(struct image_cache *cache, size_t limit);
void image_cache_set_parse_limit(struct image_cache *cache, size_t parse_limit);
/* Drop all symbols that can be read again, of images that nobody wants; of ALL as many as take more than an eighth of their limit. */
void image_cache_shrink(struct image_cache *cache, bool all);

/*
 * Close the files that nobody wanted parsed since the last but one call: an open file keeps its
 * deleted content on the disk, and its file system from being unmounted. Call every ten seconds.
 */
void image_cache_close_idle(struct image_cache *cache);

/* Ask for parsing if that was not done yet; image_state() tells when it is. */
void image_load(struct image_cache *cache, struct image *image);
enum image_state image_state(const struct image *image);
/* How many files were parsed so far: whether the worker gets on. */
uint64_t image_cache_parsed(const struct image_cache *cache);
/*
 * A descriptor of its own on the file (read it by pread()), while the image has it open: until it
 * was parsed, or image_cache_close_idle(). -ENODATA afterwards.
 */
int image_dup_fd(const struct image *image);

/* False: it stands for files that were not, as their process maps too many. */
bool image_was_looked_at(const struct image *image);

const char *image_path(const struct image *image);
/* Where it has been found; all 0 before. */
const struct file_id *image_id(const struct image *image);
const char *image_build_id(const struct image *image); /* hex, "" when none */
const char *image_failure(const struct image *image);  /* a sentence, "" when none */
void image_text_range(const struct image *image, uint64_t *ret_start, uint64_t *ret_limit,
		      uint64_t *ret_offset);

/* File offset -> the file's own virtual address, by its load segments; false outside of them. */
bool image_offset_to_address(const struct image *image, uint64_t offset, uint64_t *ret_address);

/* The function that holds ADDRESS (file's own virtual address); false when there is none. */
bool image_find_symbol(struct image *image, uint64_t address, struct elf_symbol *ret_symbol);

/* What Go's own tables say of ADDRESS, if the file is of Go's making. */
bool image_find_go(struct image *image, uint64_t address, struct go_frames *ret_frames);

/* Of an ADDRESS without a symbol where its function begins, if that is known. */
bool image_find_function(struct image *image, uint64_t address, uint64_t *ret_start);

/*
 * Call FN for every image that failed or has no symbols for its size; for the quality figures. Those that are gone are
 * told of together.
 */
void image_cache_for_each_failed(struct image_cache *cache,
				 void (*fn)(const char *path, const char *why, void *data),
				 void *data);

#endif
