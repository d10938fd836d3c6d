/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of one file, as elf/cfi/cfi_file.h has them, made by this thread's reader: it has the file open, and when it is
 * gone every call is -ESTALE, and the file is to be opened again. -ETIMEDOUT, -ECHILD: it has come to its end in this very
 * call (reader_has_gone() is all three).
 */
#ifndef HOSTPROF_ELF_READER_READER_CFI_H
#define HOSTPROF_ELF_READER_READER_CFI_H

#include "elf/cfi/cfi_file.h"
#include "elf/reader/reader.h"

struct reader_cfi;

/*
 * FD is borrowed, a file of OWNER (reader_owner()). -EBUSY: readers were late with too many of his, it is too soon. -EAGAIN: the
 * loop has waited for slow disks long enough, for this one or others.
 */
int reader_cfi_open(int fd, uint64_t owner, struct reader_cfi **ret_cfi, struct err *err);
/* Read all that rows are made from, on a thread that has time: it is in memory then, and the next one need not wait for a disk. */
void reader_cfi_warm(int fd, uint64_t owner);
/* Of bytes of our own, the vDSO's, in place; DATA is borrowed and must stay. */
int reader_cfi_open_memory(const void *data, size_t len, struct reader_cfi **ret_cfi,
			   struct err *err);
void reader_cfi_close(struct reader_cfi *cfi);
DEFINE_CLEANUP(struct reader_cfi *, reader_cfi_close);

/* These ask nobody. */
const char *reader_cfi_build_id(const struct reader_cfi *cfi);
bool reader_cfi_address(const struct reader_cfi *cfi, uint64_t offset, uint64_t *ret_address);
/* In the reader, as it says; never more than a reader may have. */
size_t reader_cfi_bytes(const struct reader_cfi *cfi);

int reader_cfi_digest(struct reader_cfi *cfi, struct cfi_digest *ret_digest);
/* Rows are in order, and the first is at the page's start. */
int reader_cfi_page(struct reader_cfi *cfi, uint64_t address, struct cfi_rows *rows,
		    struct err *err);

#endif
