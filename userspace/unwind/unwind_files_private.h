/* SPDX-License-Identifier: Apache-2.0 */
/* What unwind_files.c, unwind_files_room.c and unwind_source.c share; nobody else includes it. */
#ifndef HOSTPROF_UNWIND_UNWIND_FILES_PRIVATE_H
#define HOSTPROF_UNWIND_UNWIND_FILES_PRIVATE_H

#include "base/hmap.h"
#include "unwind/cold_files.h"
#include "unwind/unwind_content.h"
#include "unwind/unwind_files.h"

/* Some 10,000 that nobody has published any more. */
#define UNWIND_FILES_ROOM_BYTES (8UL << 20)

/* A mapping's first byte in the file -> the file's own address; the same in all processes. */
struct segment_place {
	uint64_t offset, address;
	bool known; /* false: outside of its executable segments */
};

/* A process that maps a file: the way to open it again. */
struct unwind_source {
	struct file_key key;
	struct image *image; /* of a file a reference */
	uint64_t start, end;
	uint32_t pid;
	uint64_t lived_ns; /* when the process was last seen to live; 0: not yet */
};

struct unwind_file {
	uint32_t number;
	struct unwind_content content;
	struct reader_cfi *cfi; /* owned; NULL: not open now */
	size_t cfi_bytes;
	uint64_t used; /* larger: later */
	uint64_t seen; /* by the count of evictions: when a process had it */
	VEC(struct segment_place) places;
	struct unwind_source source; /* image NULL: the vDSO */
	char *failure;		     /* owned; NULL: it can be read, as far as is known */
	bool given_up;		     /* for good: readers came to their end with it */
	unsigned int ends;	     /* of readers in calls about it, since one has succeeded */
	uint64_t failed_pages;
};

struct unwind_files {
	struct image_cache *images;	 /* borrowed */
	struct cold_files *cold;	 /* owned */
	struct hmap by_number;		 /* -> file; image_tables() has the number, or no_file's */
	struct hmap by_id;		 /* hash of its id -> file */
	struct hmap by_content;		 /* hash of build id and first page -> file */
	VEC(struct unwind_file *) files; /* owned */
	VEC(struct unwind_file *) open;	 /* borrowed: those whose `cfi` is there */
	VEC(uint32_t) revived;
	size_t max_open, max_bytes, bytes;
	uint32_t last_number;
	size_t room_bytes;
	size_t enough_bytes; /* to look for more to evict would be too soon */
	uint64_t evictions, gone_pages, uses;
	uint64_t idle_uses;	  /* `uses` when unwind_files_close_idle() last came by */
	struct unwind_file *vdso; /* borrowed from `files` */
	size_t vdso_len;
};

/* A descriptor of the file, which the caller closes, or a negative errno. */
int unwind_source_fd(const struct unwind_source *source);
/* Its call frame information and what it is known by. An error is one of readers, or of the file: -EIO that it cannot be opened. */
int unwind_source_open(const struct unwind_source *source, struct reader_cfi **ret_cfi,
		       struct unwind_content *ret_content, struct err *err);
/* May its process still be there? As of a second ago at most. */
bool unwind_source_lives(struct unwind_source *source);

void unwind_file_free(struct unwind_file *file);
/* Close it if it is open. */
void unwind_files_close(struct unwind_files *files, const struct unwind_file *file);

#endif
