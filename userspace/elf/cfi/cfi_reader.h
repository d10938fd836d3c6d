/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file (or of memory) by offset, through one small window: neighbouring records cost
 * one read. Nothing is mapped: a file that is cut while we read it must not raise SIGBUS.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_READER_H
#define HOSTPROF_ELF_CFI_CFI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No piece is longer: the records of the largest functions known have 30 KiB. */
#define CFI_READER_MAX_BYTES (256U << 10)

struct cfi_reader {
	int fd;		     /* borrowed; -1: memory */
	const uint8_t *data; /* borrowed */
	uint64_t len;	     /* of the file or the memory */
	uint8_t *window;     /* owned */
	uint64_t window_at;
	size_t window_len, window_cap;
	int error; /* the first read that failed: the file is gone */
};

void cfi_reader_init_fd(struct cfi_reader *reader, int fd, uint64_t len);
void cfi_reader_init_memory(struct cfi_reader *reader, const void *data, uint64_t len);
void cfi_reader_release(struct cfi_reader *reader);

/* LEN bytes at OFFSET, good until the next call; NULL when they are not all there. */
const uint8_t *cfi_reader_get(struct cfi_reader *reader, uint64_t offset, uint64_t len);

/* Up to LEN bytes (those that there are) into BUF; the window stays as it is. */
size_t cfi_reader_copy(struct cfi_reader *reader, uint64_t offset, void *buf, size_t len);

/* Call FN for each of COUNT records of BYTES (a few) that lie one behind the other from OFFSET on, as far as they are there, until it returns true. Whether it did. */
bool cfi_reader_each(struct cfi_reader *reader, uint64_t offset, uint64_t count, size_t bytes,
		     bool (*fn)(const void *record, void *data), void *data);

#endif
