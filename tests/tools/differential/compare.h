/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists of frames of one snapshot: are they equal, and if not, why not. */
#ifndef HOSTPROF_TESTS_COMPARE_H
#define HOSTPROF_TESTS_COMPARE_H

#include "dwfl_walk.h"
#include "own_walk.h"

/* Each but the last two is a property that is looked up, not the name of a program. */
enum verdict {
	VERDICT_EQUAL,
	VERDICT_CUT,	 /* equal up to where the copy of the stack ends */
	VERDICT_NO_CFI,	 /* equal up to code of which libdw has no call frame information */
	VERDICT_SWITCH,	 /* equal up to code that changes stacks: the information cannot say so */
	VERDICT_END,	 /* equal up to a frame that has no caller by its call frame information */
	VERDICT_NOWHERE, /* equal up to where the reference takes what is no code for a caller */
	VERDICT_SHORT,	 /* equal up to where the reference ended early: not counted as equal */
	VERDICT_DIFFERS, /* not explained */
	VERDICT_COUNT
};

extern const char *const verdict_names[VERDICT_COUNT];

/* The reference's frames; ERROR is its number, 0 when it came to what it holds for the end. */
enum verdict compare_frames(struct own_walk *own, struct dwfl_walk *dwfl,
			    const struct snapshot *snapshot, const struct frames *ours,
			    const struct frames *reference, int error);

#endif
