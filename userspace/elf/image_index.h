/* SPDX-License-Identifier: Apache-2.0 */
/* Which image is that of a file, of a mapping, or of what is left of either. For image.c only. */
#ifndef HOSTPROF_ELF_IMAGE_INDEX_H
#define HOSTPROF_ELF_IMAGE_INDEX_H

#include "base/hmap.h"
#include "elf/image.h"
#include "elf/image_content.h"
#include <limits.h>

struct image {
	struct file_key key; /* the kernel's records' */
	struct file_id id;   /* where it has been found */
	bool certain;	     /* `key` and `id` were seen to be of one file */
	enum image_state state;
	char *path; /* owned; as those call it that map it, or its last name behind "..." */
	uint32_t pid;
	int fd;		    /* owned while IMAGE_NEW or IMAGE_LOADING, else -1 */
	bool never_opened;  /* IMAGE_FAILED, and another process may have more luck */
	bool used;	    /* since drop_unused() last came by */
	uint64_t opened;    /* calls of image_cache_close_idle() before it was opened */
	struct image *twin; /* the next image with the same hash of its key */
	struct image *like; /* the next image with the same hash of its id */
	struct image_content content;
};

/* A mapping whose image was found. */
struct image_mapping {
	struct image *image; /* borrowed; NULL: an empty slot */
	struct file_key key;
	uint64_t start, end;
	uint32_t pid;
};

/* Images are borrowed. */
struct image_index {
	struct hmap by_key;		/* hash of device and inode → newest image */
	struct hmap by_id;		/* hash of its id → newest image */
	struct image_mapping *mappings; /* owned */
	struct hmap looked_at;		/* pid → how many of its files were, lately */
};

void image_index_init(struct image_index *index);
void image_index_release(struct image_index *index);

/* By its key. */
void image_index_add(struct image_index *index, struct image *image);
/* By where it was found. */
void image_index_set_id(struct image_index *index, struct image *image, const struct file_id *id);

struct image *image_index_find(const struct image_index *index, const struct file_id *id,
			       const char *path);

/* Of a file that nobody can find (any more) the one that was there under this name last. */
struct image *image_index_find_key(const struct image_index *index, const struct file_key *key,
				   const char *path);

/*
 * Some of the mappings that were asked for, so that not each question looks at the file; to be forgotten
 * before a process of the same number may have another file there.
 */
struct image *image_index_recall(const struct image_index *index,
				 const struct image_mapping *mapping, const char *path);
void image_index_remember(struct image_index *index, const struct image_mapping *mapping,
			  struct image *image);
void image_index_forget_mappings(struct image_index *index);

/* Programs of Python with many modules map 800 with code; each look costs some 30 us of the event loop. */
#define IMAGE_MAX_LOOKS 1536

/* May another file of process PID be looked at? So many at most between two calls of image_index_forget_mappings(). */
bool image_index_may_look(struct image_index *index, uint32_t pid);

/* A last name with "..." before it and " (deleted)" behind. */
#define IMAGE_CUT_BYTES (NAME_MAX + 32)

/* Images whose paths there is no room for are known by their last name: RET_CUT, which is returned. */
const char *image_index_cut_path(const char *path, char ret_cut[IMAGE_CUT_BYTES]);

#endif
