/* SPDX-License-Identifier: Apache-2.0 */
/* Where compare_frames() gets other tools' answers of a snapshot from. */
#ifndef HOSTPROF_TESTS_EVIDENCE_H
#define HOSTPROF_TESTS_EVIDENCE_H

#include "compare.h"
#include "dwfl_walk.h"
#include "gdb_walk.h"

struct witnesses {
	struct dwfl_walk *dwfl; /* its last walk was of SNAPSHOT's process */
	struct gdb_walk *gdb;	/* or NULL */
	const struct snapshot *snapshot;
	/* The second unwinder's frames when they are there already; else gdb is asked once. */
	const struct frames *second;
	bool gdb_asked;
};

/* All borrowed, for as long as the result is used. */
struct evidence evidence_of(struct witnesses *witnesses);

#endif
