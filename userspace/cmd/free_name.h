/* SPDX-License-Identifier: Apache-2.0 */
/* Names for files that nobody has named: nothing that is there is written over. */
#ifndef HOSTPROF_CMD_FREE_NAME_H
#define HOSTPROF_CMD_FREE_NAME_H

#include <stdbool.h>

#include "base/err.h"

/* -EEXIST: the next one. */
typedef int (*free_name_fn)(const char *path, void *data, struct err *err);

/*
 * TRY STEM with EXTENSION, STEM-2, STEM-3, …, after some of them by chance, since others may write where it
 * is. RET_PATH (may be NULL) is the one that was taken; the caller frees it.
 */
int free_name_find(const char *stem, const char *extension, free_name_fn try, void *data,
		   char **ret_path, struct err *err);

/* A file of ours that nobody writes any more (outfile_create() locks it): whoever did was killed. */
bool free_name_is_leftover(const char *path);

#endif
