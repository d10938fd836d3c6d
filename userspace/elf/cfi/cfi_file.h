/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of one file, a page of text at a time. The call frame information comes from
 * .eh_frame (found through .eh_frame_hdr where there is one), or from .debug_frame where that is
 * all there is; libdw evaluates it. Of a large file only the records that a page needs are read.
 * Hostile input: everything is checked, nothing is mapped.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_FILE_H
#define HOSTPROF_ELF_CFI_CFI_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/cfi/cfi_rows.h"

struct cfi_file;
struct elf_segment;

/*
 * FD is owned from here on, also when this fails; -EBADMSG: not an ELF file of this machine. A
 * file without any call frame information is a good one: all its rows are WIRE_RULE_NONE (but its
 * entry point).
 */
int cfi_file_open(int fd, struct cfi_file **ret_file, struct err *err);
/* DATA is borrowed and must stay. */
int cfi_file_open_memory(const void *data, size_t len, struct cfi_file **ret_file, struct err *err);
void cfi_file_close(struct cfi_file *file);
DEFINE_CLEANUP(struct cfi_file *, cfi_file_close);

/* What names its content: the build id in hex; "" when it has none. */
const char *cfi_file_build_id(const struct cfi_file *file);

/*
 * Of all that rows are made from: the load segments, the call frame information, and what was found in the
 * text. Two files with the same have the same rows. Nobody else can say beforehand what it will be. -E2BIG:
 * it is too much to be read at once.
 */
struct cfi_digest {
	uint64_t words[2];
};

int cfi_file_digest(struct cfi_file *file, struct cfi_digest *ret_digest);
/* Processes that are forked from now on have the same digests. */
void cfi_digest_begin(void);

/* Its load segments, borrowed; how many. */
size_t cfi_file_segments(const struct cfi_file *file, const struct elf_segment **ret_segments);

/*
 * File offset -> the file's own virtual address; false outside the pages that its executable load
 * segments are in.
 */
bool cfi_file_address(const struct cfi_file *file, uint64_t offset, uint64_t *ret_address);
/* The same of segments that somebody keeps. */
bool cfi_segments_address(const struct elf_segment *segments, size_t count, uint64_t offset,
			  uint64_t *ret_address);

/*
 * The rows of the page that holds ADDRESS (the file's own virtual address), into ROWS (emptied
 * first); never none. Records that cannot be read or make no sense leave WIRE_RULE_NONE or
 * WIRE_RULE_BAD; a negative errno only when the file itself cannot be read any more.
 */
int cfi_file_page(struct cfi_file *file, uint64_t address, struct cfi_rows *rows, struct err *err);

/*
 * Call FN for every function that its call frame information bounds, in any order, the same maybe again; a function of two
 * parts is two. False from FN: enough.
 */
void cfi_file_for_each_function(struct cfi_file *file,
				bool (*fn)(uint64_t start, uint64_t end, void *data), void *data);

/* Bytes of memory that it holds. */
size_t cfi_file_bytes(const struct cfi_file *file);

#endif
