/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that have functions for native memory, and where in them those are. Each is read once, when a process is met that
 * maps it; what it says is its owner's word, and matters to who maps it only.
 */
#ifndef HOSTPROF_SESSION_MALLOC_FILES_H
#define HOSTPROF_SESSION_MALLOC_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file_key.h"
#include "base/hmap.h"
#include "base/vec.h"
#include "process/mapping.h"
#include "session/malloc/malloc_functions.h"

/* Of those without that are remembered; a host has some thousand programs. */
#define MALLOC_MAX_WITHOUT 65536
/* With functions: of one user but root, and of all. Each takes up to 62 probes, of two descriptors each. */
#define MALLOC_MAX_OF_ONE 16
#define MALLOC_MAX_OF_ALL 256

struct malloc_place {
	uint64_t offset, size; /* in the file */
	uint64_t probe;	       /* where it is probed, in the file, too */
	enum wire_malloc_form form;
};

struct malloc_file {
	struct file_key key;
	enum malloc_kind kind;
	uint32_t owner;
	bool probed;			 /* the caller's: for all processes */
	VEC(struct malloc_place) places; /* none twice */
};

/* All 0: empty. */
struct malloc_files {
	VEC(struct malloc_file *) files; /* owned */
	struct hmap by_key;
	struct hmap without; /* other files, which may be gone and their inodes others' */
	uint64_t refused;    /* files that there was no room for */
};

void malloc_files_release(struct malloc_files *all);

/*
 * The file that process PID has mapped as M says, read if it is a new one. NULL: it has no such functions, or cannot be
 * read.
 */
struct malloc_file *malloc_files_get(struct malloc_files *all, uint32_t pid,
				     const struct mapping *m);
/* Of those that are known; NULL: it is none. */
const struct malloc_file *malloc_files_find(const struct malloc_files *all,
					    const struct file_key *key);

/* The function that gives memory and has the instruction at OFFSET of FILE; NULL: none. */
const struct malloc_place *malloc_file_place(const struct malloc_file *file, uint64_t offset);

/* The places of FUNCTIONS, in the order of malloc_functions[], in a file of these segments. */
struct elf_segment;
void malloc_file_take(struct malloc_file *file, const struct reader_function *functions,
		      const struct elf_segment *segments, size_t count);

#endif
