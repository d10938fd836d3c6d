/* SPDX-License-Identifier: Apache-2.0 */
/* The reference: elfutils' libdwfl on the same registers, stack and files. */
#ifndef HOSTPROF_TESTS_DWFL_WALK_H
#define HOSTPROF_TESTS_DWFL_WALK_H

#include "snapshot.h"

struct dwfl_walk;

struct dwfl_walk *dwfl_walk_new(void);
void dwfl_walk_free(struct dwfl_walk *walk);
DEFINE_CLEANUP(struct dwfl_walk *, dwfl_walk_free);

/* 0: libdwfl came to the end of the stack; else its error number (dwfl_errmsg()), -1 unknown. */
int dwfl_walk_frames(struct dwfl_walk *walk, const struct snapshot *snapshot,
		     struct frames *ret_frames);

/* Of the last walk's process: has libdw call frame information of ADDRESS? */
bool dwfl_walk_describes(struct dwfl_walk *walk, uint64_t address);

#endif
