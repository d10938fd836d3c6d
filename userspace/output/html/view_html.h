/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flame graph as one HTML file that needs nothing else: no network, no other file. All text of
 * the profile is inside the compressed data, but for the title, which is escaped.
 */
#ifndef HOSTPROF_OUTPUT_HTML_VIEW_HTML_H
#define HOSTPROF_OUTPUT_HTML_VIEW_HTML_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_html_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err);

#endif
