/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flame graph as a picture: SVG with a tooltip per box and no script, for places where a page
 * cannot go. Boxes too narrow to be seen are left out, and the picture says how much that is.
 */
#ifndef HOSTPROF_OUTPUT_SVG_VIEW_SVG_H
#define HOSTPROF_OUTPUT_SVG_VIEW_SVG_H

#include <stdio.h>

#include "base/err.h"
#include "output/view_options.h"
#include "profile/profile.h"

int view_svg_write(const struct profile *p, const struct view_options *options, FILE *out,
		   struct err *err);

#endif
