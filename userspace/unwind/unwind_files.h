/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of code as the unwind tables know them: by the number of their content, so that copies
 * of a file (in containers) share rows. Files are opened when a process first maps them, and a
 * bounded number stays open; others are opened again when their rows are wanted.
 */
#ifndef HOSTPROF_UNWIND_UNWIND_FILES_H
#define HOSTPROF_UNWIND_UNWIND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/cfi/cfi_rows.h"
#include "elf/image.h"
#include "process/registry.h"

struct unwind_files;

/* IMAGES is borrowed, and nobody else's: their image_tables() are numbers of here. At most MAX_OPEN files stay open, of MAX_BYTES of memory together. */
struct unwind_files *unwind_files_new(struct image_cache *images, size_t max_open,
				      size_t max_bytes);
void unwind_files_free(struct unwind_files *files);
DEFINE_CLEANUP(struct unwind_files *, unwind_files_free);

/* What a mapping is a piece of; see struct wire_range. SEEN: as for image_cache_open_seen(). */
struct unwind_piece {
	uint32_t file; /* 0: no file that could have rows */
	uint64_t bias;
};

struct unwind_piece unwind_files_piece(struct unwind_files *files, uint32_t pid,
				       const struct mapping *mapping, const struct file_id *seen);

/*
 * The rows of a page of the file of that number, which is there; when the file cannot be read any more one
 * WIRE_RULE_NONE, and the file is counted as failed. False: not now, as its disk is slow (unwind/cold_files.h), or its readers were late too often.
 */
bool unwind_files_rows(struct unwind_files *files, uint32_t number, uint64_t address,
		       struct cfi_rows *rows);

/*
 * Close the files that no rows were made from since the last call, which are opened again when they
 * are wanted: see image_cache_close_idle(). Call every ten seconds.
 */
void unwind_files_close_idle(struct unwind_files *files);

/* How often something was asked of this that a slow disk has first: it is worth while to ask again. */
uint64_t unwind_files_delays(const struct unwind_files *files);

/*
 * A file that could not be read has been found again: its rows that were put for want of better are
 * to be given up. 0: none (any more).
 */
uint32_t unwind_files_take_revived(struct unwind_files *files);

/*
 * A process that maps a file which could not be opened in time and may be by now (unwind/cold_files.h): its mappings are to be read again.
 * 0: none (any more). Call in each turn.
 */
uint32_t unwind_files_take_warmed(struct unwind_files *files);

/* Call FN for every file that could not be read, with why and how many pages wanted it. */
void unwind_files_for_each_failed(const struct unwind_files *files,
				  void (*fn)(const char *path, const char *why, uint64_t pages,
					     void *data),
				  void *data);

/*
 * A number is never given to another file. Its own has it until unwind_files_evict(), which is to be called when they are many: of those
 * that nobody has marked since it was called before, the oldest go, until they take the room that is theirs (default: 8 MiB). True: some
 * are gone. What was published with such a number is to be read again when somebody wants more rows; those that are there stay right.
 */
void unwind_files_set_room(struct unwind_files *files, size_t room_bytes);
bool unwind_files_are_many(const struct unwind_files *files);
void unwind_files_mark(struct unwind_files *files, uint32_t number);
bool unwind_files_evict(struct unwind_files *files);
bool unwind_files_has(const struct unwind_files *files, uint32_t number);

/* How many files have a number, and how many of them are open. */
void unwind_files_count(const struct unwind_files *files, size_t *ret_files, size_t *ret_open);

#endif
