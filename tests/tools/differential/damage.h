/* SPDX-License-Identifier: Apache-2.0 */
/* What may be wrong with a list of frames, for the comparison to be tried on. */
#ifndef HOSTPROF_TESTS_DAMAGE_H
#define HOSTPROF_TESTS_DAMAGE_H

#include "snapshot.h"

enum damage {
	DAMAGE_DROP,	  /* a frame is missing */
	DAMAGE_REPEAT,	  /* one is there twice */
	DAMAGE_SWAP,	  /* two have changed places */
	DAMAGE_OTHER,	  /* another address of the same function */
	DAMAGE_LEAF,	  /* the thread's own frame is missing */
	DAMAGE_TAIL,	  /* the root side is missing */
	DAMAGE_TAIL_CUT,  /* the same, and the walk says that the stack copy ended */
	DAMAGE_MORE,	  /* a frame of the stack once more behind the root */
	DAMAGE_MORE_WILD, /* an address that is no code behind the root */
	DAMAGE_NOTHING,	  /* no frame at all */
	DAMAGE_COUNT
};

extern const char *const damage_names[DAMAGE_COUNT];

/* At frame AT, if the damage has a place. False: FRAMES would be what they were. */
bool damage_frames(const struct frames *frames, enum damage damage, size_t at,
		   struct frames *ret_frames);

#endif
