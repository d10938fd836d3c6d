/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks, "COMM-PID;[THREAD tid=TID];root;…;leaf COUNT": one line per distinct stack, in
 * the order of the names from the root on. COUNT is samples, or the event's unit with --total.
 */
#ifndef HOSTPROF_OUTPUT_VIEW_COLLAPSED_H
#define HOSTPROF_OUTPUT_VIEW_COLLAPSED_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_collapsed_write(const struct profile *p, const struct view_options *options, FILE *out,
			 struct err *err);

#endif
