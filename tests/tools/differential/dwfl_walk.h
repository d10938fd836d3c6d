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

/*
 * perf takes no copy of the red zone; what is known of it from the registers. In an epilogue the
 * call frame information may still say that a register is where it was saved when it was popped
 * already: the word lies below the stack pointer then, and still is what the register is.
 */
void dwfl_walk_fill_red_zone(struct dwfl_walk *walk, struct snapshot *snapshot);

/* Of the last walk's process: has libdw call frame information of ADDRESS? */
bool dwfl_walk_describes(struct dwfl_walk *walk, uint64_t address);
/* Does it say that the return address is undefined there, so that there is no caller? */
bool dwfl_walk_ends(struct dwfl_walk *walk, uint64_t address);
/* The symbol that ADDRESS lies in, or NULL. Borrowed. */
const char *dwfl_walk_symbol(struct dwfl_walk *walk, uint64_t address);

#endif
