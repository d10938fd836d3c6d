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
	uint32_t refs;	     /* of all but the cache's list, and its index by key and by id */
	uint32_t wants;	     /* those of them that symbols are wanted for */
	uint32_t tables;     /* image_tables() */
	uint64_t number;
	uint64_t asked; /* when it last was, in questions */
	uint32_t payer; /* who mapped it first, and what that took of his budget */
	uint32_t paid_bytes;
	enum image_state state;
	char *path; /* owned; as those call it that map it, or its last name behind "..." */
	uint32_t pid;
	int fd;		    /* owned while IMAGE_NEW or IMAGE_LOADING, else -1 */
	bool never_opened;  /* IMAGE_FAILED, and another process may have more luck */
	bool used;	    /* since drop_unused() last came by */
	uint64_t opened;    /* calls of image_cache_close_idle() before it was opened */
	struct image *twin; /* the next image with the same hash of its key */
	struct image *like; /* the next image with the same hash of its id */
	/* Counts of image_index_note(): when its key was mapped last, and when its file was last seen to be behind that. */
	uint64_t mapped, seen;

	struct image_place {
		uint64_t start, end;
		uint32_t pid;
	} place; /* where it was mapped last */

	bool is_due; /* in the list of these, which has a reference */
	bool going;  /* by image_cache_look() */
	struct image_content content;
};

/* A mapping whose image was found. */
struct image_mapping {
	struct image *image; /* borrowed, until it is `going`; NULL: an empty slot */
	struct file_key key;
	uint64_t start, end;
	uint32_t pid;
	uint64_t mapped; /* as of the image; 0: it was looked at */
};

/* Images are borrowed. */
struct image_index {
	struct hmap by_key;		/* hash of device and inode → newest image */
	struct hmap by_id;		/* hash of its id → newest image */
	struct image_mapping *mappings; /* owned */
	struct hmap looked_at;		/* pid → how many of its files were, lately */
	VEC(struct image *) due;	/* mapped again, and not looked at since */
	uint64_t notes;
};

void image_index_init(struct image_index *index);
void image_index_release(struct image_index *index);

/* By its key. */
void image_index_add(struct image_index *index, struct image *image);
/* Neither by key nor by id; mappings are another question. */
void image_index_remove(struct image_index *index, struct image *image);
/* Of those that are `going`. */
void image_index_forget_going(struct image_index *index);
/* By where it was found. */
void image_index_set_id(struct image_index *index, struct image *image, const struct file_id *id);

struct image *image_index_find(const struct image_index *index, const struct file_id *id,
			       const char *path);

/* Of a file that nobody can find (any more) the one that was there under this name last. */
struct image *image_index_find_key(const struct image_index *index, const struct file_key *key,
				   const char *path);

/* Is any image known of such a mapping? Then its file may be that image's. */
bool image_index_may_know(const struct image_index *index, const struct file_key *key,
			  const char *path);

/*
 * Thousands of programs a second map the same few files. While a file is mapped no other has its device and inode, so that one
 * look tells what all have that mapped it until then: an image is not looked at again unless it was mapped since.
 *
 * image_index_note(): MAPPING was made, says the kernel's record of it. The image, if it is known by its key, whose mapping is remembered
 * and is due. Else NULL.
 * image_index_find_seen(): the image that it is known to be, as nobody has mapped it since it was seen; NULL: it takes a look. For
 * mappings that were noted, which the kernel's generation tells: a list of mappings may be ahead of the records. Where the file system
 * has none (overlayfs, or made by mkfs) only what is remembered is known.
 * image_index_see(): IMAGE's file was just found behind MAPPING.
 * image_index_take_due(): one that was mapped since, with a reference, or NULL.
 */
struct image *image_index_note(struct image_index *index, const struct image_mapping *mapping,
			       const char *path);
struct image *image_index_find_seen(const struct image_index *index, const struct file_key *key,
				    const char *path);
void image_index_see(struct image_index *index, struct image *image,
		     const struct image_mapping *mapping);
struct image *image_index_take_due(struct image_index *index);

/*
 * Some of the mappings that were asked for, so that not each question looks at the file; to be forgotten
 * before a process of the same number may have another file there.
 */
struct image *image_index_recall(const struct image_index *index,
				 const struct image_mapping *mapping, const char *path);
void image_index_remember(struct image_index *index, const struct image_mapping *mapping,
			  struct image *image);
void image_index_forget_mappings(struct image_index *index);

/* May another file of process PID be looked at? So many at most between two calls of image_index_forget_mappings(). */
bool image_index_may_look(struct image_index *index, uint32_t pid);

/* A last name with "..." before it and " (deleted)" behind. */
#define IMAGE_CUT_BYTES (NAME_MAX + 32)

/* Images whose paths there is no room for are known by their last name: RET_CUT, which is returned. */
const char *image_index_cut_path(const char *path, char ret_cut[IMAGE_CUT_BYTES]);

#endif
