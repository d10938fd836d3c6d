/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for a terminal, 100 columns wide: hot methods, processes, hot stacks, threads, and the
 * quality of the recording. Equal profiles give equal text.
 */
#ifndef HOSTPROF_OUTPUT_TEXT_VIEW_TEXT_H
#define HOSTPROF_OUTPUT_TEXT_VIEW_TEXT_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_text_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err);

/* What fits on one screen of 24 lines: the header, the first processes and methods. */
int view_text_write_summary(const struct profile *p, const struct view_options *options, FILE *out,
			    struct err *err);

#endif
