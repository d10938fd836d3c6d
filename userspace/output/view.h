/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a profile: one row per output format, found by extension or -f. */
#ifndef HOSTPROF_OUTPUT_VIEW_H
#define HOSTPROF_OUTPUT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "profile/profile.h"

struct view_options {
	const char *title; /* NULL: made from the profile */
	/* Event id to show; PROFILE_NONE: the first, or all where a format holds several. */
	uint32_t event;
	bool threads;		   /* -t: split by thread */
	bool annotate;		   /* frame suffixes */
	bool total;		   /* the event's unit and not samples */
	bool lines;		   /* Java line numbers in names */
	bool all_kernel, all_user; /* show only these frames */
	uint32_t top;		   /* rows of text tables; 0: 20 */
};

struct view_format {
	const char *name;      /* for -f: "html" */
	const char *extension; /* ".html"; the longest that fits wins */
	const char *summary;   /* for --help */
	bool binary;	       /* not for a terminal */
	/* OUT is open and owned by the caller, who checks ferror() and flushes. */
	int (*write)(const struct profile *p, const struct view_options *options, FILE *out,
		     struct err *err);
};

/* All formats, ends with name == NULL. The recording itself (jfr) has write == NULL. */
extern const struct view_format view_formats[];

/* By name (-f) or, with NAME NULL, by the extension of PATH; NULL when none fits. */
const struct view_format *view_format_find(const char *name, const char *path);

/* What the options say about the call tree of a view; callers add levels and names. */
struct calltree_options;
void view_tree_options(const struct view_options *options, struct calltree_options *ret_tree);

#endif
