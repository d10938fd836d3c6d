/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a profile: one row per output format, found by extension or -f. */
#ifndef HOSTPROF_OUTPUT_VIEW_H
#define HOSTPROF_OUTPUT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

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

#endif
