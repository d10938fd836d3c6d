/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks are shown, by the names of their frames. A pattern is a whole name without lines and
 * marks, "java.lang.Thread.run", with or without the numbers of hidden classes; a '*' at its beginning, its end or both stands for anything there.
 */
#ifndef HOSTPROF_PROFILE_MATCH_H
#define HOSTPROF_PROFILE_MATCH_H

#include <stdbool.h>

#include "base/vec.h"
#include "profile/profile.h"

struct profile_match {
	VEC(const char *) include; /* borrowed; some frame must fit one of them; empty: all do */
	VEC(const char *) exclude; /* borrowed; no frame may fit one of them */
};

bool profile_match_name(const char *pattern, const char *name);

/* Forget the samples whose stack is not to be shown. */
void profile_match_apply(struct profile *p, const struct profile_match *match);

#endif
