/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees as the columns that the page reads (flamegraph_data.js): per event, for its nodes in
 * depth-first order, arrays of unsigned LEB128 numbers: how many levels to go up before this node
 * goes one down, label, own weight, own samples (left out when the weight says it), own objects (left
 * out where none has any).
 */
#ifndef HOSTPROF_OUTPUT_HTML_HTML_COLUMNS_H
#define HOSTPROF_OUTPUT_HTML_HTML_COLUMNS_H

#include "base/strbuf.h"
#include "output/calltree.h"

/* The kind of process and thread levels in the page. */
#define HTML_KIND_LEVEL FRAME_KIND_COUNT

/* A name, its kind and the file it is in: what a box is labelled with. */
struct html_label {
	uint32_t name;	 /* in html_columns.names */
	uint32_t kind;	 /* enum frame_kind or HTML_KIND_LEVEL */
	uint32_t module; /* in html_columns.names */
};

/* What the page is told about one event's tree. */
struct html_tree {
	uint32_t event;	  /* or PROFILE_NONE */
	uint64_t period;  /* every sample's weight; 0: they differ, samples are a column */
	bool has_objects; /* objects are a column */
	uint32_t nodes;
	uint64_t pruned_nodes;	 /* left out, their weight is in "[smaller frames]" */
	uint64_t pruned_below;	 /* because they weigh less than this */
	VEC(uint32_t) processes; /* process ids of the nodes of depth 1, in order */
};

struct html_columns {
	struct strbuf bytes;
	struct intern names;  /* id 0 is "" */
	struct intern labels; /* struct html_label */
	VEC(struct html_tree) trees;
	size_t max_nodes;   /* per tree; more are pruned, the lightest first */
	double min_percent; /* of a tree's whole; lighter nodes are pruned, too */
};

void html_columns_init(struct html_columns *columns, size_t max_nodes);
void html_columns_release(struct html_columns *columns);

/* Append TREE, which was built from EVENT of P (PROFILE_NONE: from nothing). */
void html_columns_add(struct html_columns *columns, const struct profile *p,
		      const struct calltree *tree, uint32_t event);

#endif
