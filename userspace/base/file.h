/* SPDX-License-Identifier: Apache-2.0 */
/* Whole-file reads, whole-buffer writes, atomic output files. */
#ifndef HOSTPROF_BASE_FILE_H
#define HOSTPROF_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Append the file's bytes (works for /proc files of size 0); -E2BIG when over LIMIT bytes. */
int file_read(const char *path, size_t limit, struct strbuf *out);
int file_read_fd(int fd, size_t limit, struct strbuf *out);

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

/* The directory that PATH is in; caller frees. */
char *file_directory(const char *path);

/*
 * An output that appears under its name only when it is whole: written to a file without a name
 * (so that nothing is left of a process that is killed), or a temporary one where the file system
 * has none such, which commit renames. "-" is standard output. Devices and pipes are written in
 * place.
 */
struct outfile {
	int fd;		 /* owned, -1 when closed; standard output is never closed */
	char *path;	 /* owned; what messages call it */
	char *temp_path; /* owned; NULL when written in place */
	bool unnamed;	 /* temp_path does not exist yet */
};

int outfile_open(const char *path, struct outfile *ret_out, struct err *err);
int outfile_commit(struct outfile *out, struct err *err);
void outfile_release(struct outfile *out); /* removes the temporary file unless committed */

#endif
