/* SPDX-License-Identifier: Apache-2.0 */
/* Whole-file reads, whole-buffer writes. */
#ifndef HOSTPROF_BASE_FILE_H
#define HOSTPROF_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/* The last part of PATH, all of it where there is no slash. Borrowed from it. */
const char *file_name_of(const char *path);

/* Append the file's bytes (works for /proc files of size 0); -E2BIG when over LIMIT bytes. */
int file_read(const char *path, size_t limit, struct strbuf *out);
int file_read_fd(int fd, size_t limit, struct strbuf *out);
/* The same of a file that the kernel makes whole at each read (fs/seq_file.c, single_open(); fs/kernfs/file.c): less than there is room for is all. */
int file_read_at_once(const char *path, size_t limit, struct strbuf *out);

/*
 * Fill the standard descriptors that are closed, so that no file we open becomes one of them.
 * Reading such a one finds the end, writing fails.
 */
void file_fill_standard(void);

/* Write everything, through short writes and EINTR. */
int file_write_all(int fd, const void *data, size_t len);
int file_pwrite_all(int fd, const void *data, size_t len, off_t at);

/* Read exactly LEN bytes at AT; -ENODATA when the file is shorter. */
int file_pread_full(int fd, void *data, size_t len, off_t at);

/* Wait until FD can be read or is hung up: 0, -ETIMEDOUT at UNTIL_NS (clock_now_ns()), or another errno. */
int file_wait_readable(int fd, uint64_t until_ns);

#endif
