/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a recording goes. A .jfr is written under its own name from the first flush on, so that it
 * survives a kill -9; for another format it is an unlinked temporary file, from which the view is
 * made at the end.
 */
#ifndef HOSTPROF_CMD_RECORD_OUTPUT_H
#define HOSTPROF_CMD_RECORD_OUTPUT_H

#include <stdbool.h>

#include "base/err.h"
#include "cmd/view_flags.h"

struct record_output {
	const struct view_format *format;
	char *path;    /* owned; what the user gets, "-" is standard output */
	bool is_named; /* the user gave -o or -f; else a summary is due */
	bool direct;   /* fd is that file */
	bool created;  /* it was not there before */
	int fd;	       /* owned; the recording */
};

/* Decide where to; nothing is opened yet. -EINVAL for mistakes of usage. */
int record_output_init(const struct view_flags *flags, struct record_output *ret_output,
		       struct err *err);

/* Check that the output can be written and open the recording. */
int record_output_open(struct record_output *output, struct err *err);

/* Copy the recording, or write the view of PROFILE, unless it is there already. */
int record_output_write(const struct record_output *output, const struct profile *profile,
			const struct view_options *options, struct err *err);

/* Nothing of the recording is wanted: a file that we made does not stay, another one is empty. */
void record_output_drop(struct record_output *output);

/* A file that we made and into which nothing was written does not stay. */
void record_output_release(struct record_output *output);

#endif
