/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as the page carries it: JSON for what is small, columns for the trees, deflated. */
#ifndef HOSTPROF_OUTPUT_HTML_HTML_DATA_H
#define HOSTPROF_OUTPUT_HTML_HTML_DATA_H

#include "base/err.h"
#include "base/strbuf.h"
#include "output/view_options.h"
#include "profile/profile.h"

/*
 * Append zlib data of: u32 little endian length of the JSON, the JSON, the columns
 * (output/html/html_columns.h). TITLE is shown as the page's.
 */
int html_data_build(const struct profile *p, const struct view_options *options, const char *title,
		    struct strbuf *out, struct err *err);

#endif
