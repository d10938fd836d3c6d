/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for a terminal, 100 columns wide: hot methods, processes, hot stacks and threads of each
 * event that has samples (or of the chosen one), and the quality of the recording. Bytes are counted
 * in bytes, waits in nanoseconds, other events in samples, or in their unit with --total. Equal profiles give equal text.
 */
#ifndef HOSTPROF_OUTPUT_TEXT_VIEW_TEXT_H
#define HOSTPROF_OUTPUT_TEXT_VIEW_TEXT_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_text_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err);

/* What fits on one screen of 24 lines: the sums of all events, and of the first one
 * the first processes and methods. */
int view_text_write_summary(const struct profile *p, const struct view_options *options, FILE *out,
			    struct err *err);

#endif
