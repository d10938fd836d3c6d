/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has another file of the same content shares its rows. Only a file of the same owner, which nobody else
 * may write: what rows are made from is read piece by piece, so that an owner could change it in between.
 * Build ids are not always unique, so that size and the first page, with the headers, must agree, and then
 * all that rows are made from.
 */
#ifndef HOSTPROF_UNWIND_UNWIND_CONTENT_H
#define HOSTPROF_UNWIND_UNWIND_CONTENT_H

#include "elf/reader/reader_cfi.h"
#include "wall/file_id.h"

struct unwind_content {
	struct file_id id;
	char build_id[BUILD_ID_BYTES]; /* "" when it has none */
	uint64_t head_hash;
	struct cfi_digest digest;
	bool digested;
};

/* What the file FD says itself; then what its reader says. */
int unwind_content_read(int fd, struct unwind_content *content);
void unwind_content_take(struct unwind_content *content, const struct reader_cfi *cfi);

/* Of its build id and first page. */
uint64_t unwind_content_hash(const struct unwind_content *content);

/* May they be shared, so far as can be told without a look at all of them? Then their digests decide. */
bool unwind_content_looks_alike(const struct unwind_content *a, const struct unwind_content *b);
/* 0, or why there is none; reader_has_gone(): it can be had of the next one. */
int unwind_content_digest(struct unwind_content *content, struct reader_cfi *cfi);
bool unwind_content_same_digest(const struct unwind_content *a, const struct unwind_content *b);

/*
 * CONTENT was just opened as CFI. 0: it is what rows of KNOWN were made from: the same file, or that of a process with a copy.
 * -EBADMSG: it is another one; reader_has_gone(): that cannot be told.
 */
int unwind_content_check(const struct unwind_content *known, struct unwind_content *content,
			 struct reader_cfi *cfi, struct err *err);

#endif
