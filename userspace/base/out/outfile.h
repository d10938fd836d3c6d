/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file that we write for the user is opened here. A new one is 0600 and the user's of sudo; one that
 * is there keeps its mode and its owner. base/out/out_place.h says which names are refused.
 */
#ifndef HOSTPROF_BASE_OUT_OUTFILE_H
#define HOSTPROF_BASE_OUT_OUTFILE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/out/out_place.h"

struct outfile {
	int fd;			/* owned, -1 when closed; standard output is never closed */
	char *path;		/* owned; what messages call it */
	struct out_place place; /* owned; without a directory for standard output */
	char *temp_name;	/* owned; beside it, until commit; NULL when written in place */
	bool unnamed;		/* temp_name does not exist yet */
	bool is_new;		/* nothing had its name */
	bool stays_new;		/* commit replaces nothing */
};

#define OUTFILE_INIT                              \
	{                                         \
		.fd = -1, .place = OUT_PLACE_INIT \
	}

/*
 * An output that appears under its name only when it is whole: written to a file without a name (so that
 * nothing is left of a process that is killed), or a temporary one where the file system has none such,
 * which commit renames. "-" is standard output. Devices, pipes and /proc's descriptors are written in place.
 */
int outfile_open(const char *path, struct outfile *ret_out, struct err *err);
/* The same under a name that nothing has, also when it is committed: else -EEXIST. */
int outfile_open_new(const char *path, struct outfile *ret_out, struct err *err);

/* An output that grows under its name, from nothing. A regular file can be read back, too, and is locked: -EBUSY when another one writes it so. */
int outfile_open_in_place(const char *path, struct outfile *ret_out, struct err *err);

/* The same, and -EEXIST when something has the name. */
int outfile_create(const char *path, struct outfile *ret_out, struct err *err);

/* What was written is on the disk, with its name, and the file is closed. */
int outfile_commit(struct outfile *out, struct err *err);

/* Take away a file that was made; it stays open. */
void outfile_remove(const struct outfile *out);

/* Removes the temporary file unless committed. */
void outfile_release(struct outfile *out);

#endif
