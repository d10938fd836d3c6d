/* SPDX-License-Identifier: Apache-2.0 */
/* What a view is asked for: every format takes the same options and uses what it can show. */
#ifndef HOSTPROF_OUTPUT_VIEW_OPTIONS_H
#define HOSTPROF_OUTPUT_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct view_options {
	const char *title; /* NULL: made from the profile */
	/* Event id to show; PROFILE_NONE: the first, or all where a format holds several. */
	uint32_t event;
	bool threads;		   /* -t: split by thread */
	bool annotate;		   /* frame suffixes */
	bool total;		   /* the event's unit and not samples */
	bool lines;		   /* Java line numbers in names */
	bool all_kernel, all_user; /* show only these frames */
	bool reverse;		   /* a page begins with the leaves */
	uint32_t names;		   /* enum frame_names (profile/frame_kind.h) */
	double min_percent;	   /* boxes of a smaller part of the whole are left out */
	uint32_t top;		   /* rows of text tables; 0: 20 */
};

/* What the options say about the call tree of a view; callers add levels and names. */
struct calltree_options;
void view_tree_options(const struct view_options *options, struct calltree_options *ret_tree);

#endif
