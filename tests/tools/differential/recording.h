/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one snapshot as a recording (tests/data/stacks): registers, the words and code that the
 * walk reads, the ranges and rows that it goes by, and the frames that a reference gives. Such a
 * file can be walked without the program's files; tests/unit/recorded_stack.h reads it.
 */
#ifndef HOSTPROF_TESTS_RECORDING_H
#define HOSTPROF_TESTS_RECORDING_H

#include "own_walk.h"

/* ORIGIN says what was recorded, and whose the frames are. -E2BIG: more than LIMIT bytes. */
int recording_write(const char *path, const char *origin, const struct snapshot *snapshot,
		    struct own_walk *own, const struct frames *expected, size_t limit);

/*
 * The names of what this walk has that others have not: "plt", "signal", "vdso", "jit", … into
 * FN, each once.
 */
void recording_kinds(const struct snapshot *snapshot, struct own_walk *own,
		     const struct frames *frames, void (*fn)(const char *kind, void *data),
		     void *data);

#endif
