/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a recording goes. It survives a kill -9 whatever was asked for: a .jfr is written under its own
 * name from the first flush on; for another format the recording grows beside it, as NAME.partial.jfr
 * (for standard output, a pipe or a device in TMPDIR), and is removed when the view that is made of it
 * at the end is whole.
 */
#ifndef HOSTPROF_CMD_RECORD_OUTPUT_H
#define HOSTPROF_CMD_RECORD_OUTPUT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/out/outfile.h"
#include "cmd/view_flags.h"

struct record_output {
	const struct view_format *format;
	char *path;	     /* owned; what the user gets, "-" is standard output */
	bool is_named;	     /* the user gave -o or -f; else a summary is due */
	bool has_default;    /* the name is ours: it must be new */
	bool direct;	     /* `file` is that output */
	struct outfile file; /* the recording */
	char *leftover; /* owned; such a recording of a run that was killed; NULL: none was met */
};

#define RECORD_OUTPUT_INIT           \
	{                            \
		.file = OUTFILE_INIT \
	}

/* Decide where to; nothing is opened yet. -EINVAL for mistakes of usage. */
int record_output_init(const struct view_flags *flags, struct record_output *ret_output,
		       struct err *err);

/* Check that the output can be written and open the recording. A name of our own may get a number. */
int record_output_open(struct record_output *output, struct err *err);

/*
 * Copy the recording, or write the view of PROFILE, unless it is there already; what is written then is on
 * the disk. After an error the recording is kept, of which ERR's hint tells.
 */
int record_output_write(struct record_output *output, const struct profile *profile,
			const struct view_options *options, struct err *err);

/* What follows failed, but the recording holds samples: it is closed and stays, of which ERR's hint tells. */
void record_output_keep(struct record_output *output, struct err *err);

/* Nothing of the recording is wanted: a file that we made does not stay, another one is empty. */
void record_output_drop(struct record_output *output);

/* A file that we made and into which nothing was written does not stay, nor one beside the output. */
void record_output_release(struct record_output *output);

#endif
