/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files by their build id, from the servers of DEBUGINFOD_URLS. A process of its own asks for them, with the library
 * that elfutils has for that (libdebuginfod.so.1), without any right and, where that can be, without being root. What it
 * brings is checked here before it is used.
 */
#ifndef HOSTPROF_ELF_DEBUGINFOD_DEBUGINFOD_H
#define HOSTPROF_ELF_DEBUGINFOD_DEBUGINFOD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct debuginfod {
	int socket; /* owned; -1: it has ended */
	pid_t pid;
	uint64_t until_ns; /* when all of it has to be done; 0: nothing was asked for yet */
};

/* For one file, and for all. */
#define DEBUGINFOD_FILE_SECONDS 60
#define DEBUGINFOD_ALL_SECONDS	300

/*
 * Early, while there are no other threads; what stops its maker (Ctrl-C) does not stop it. -EINVAL: nobody has set DEBUGINFOD_URLS; -EOPNOTSUPP: the library is not here. ERR has
 * a sentence and a hint.
 */
int debuginfod_begin(struct debuginfod *ret_it, struct err *err);

/*
 * The debug file of BUILD_ID (hex): a descriptor of a regular file that says that it has this build id, as a reader reads it. -ENODATA: no server
 * has it; -EBADMSG: what came is something else; -ETIMEDOUT: not in time, and no further file will come.
 */
int debuginfod_fetch(struct debuginfod *it, const char *build_id);

/* What was fetched goes from the disk with its last descriptor. */
void debuginfod_end(struct debuginfod *it);

#endif
