/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the boxes of a drawn call tree are: levels from the root on, siblings side by side, the
 * heaviest first. A Java method is one box however it ran, in the colour of how it mostly ran.
 */
#ifndef HOSTPROF_OUTPUT_SVG_SVG_LAYOUT_H
#define HOSTPROF_OUTPUT_SVG_SVG_LAYOUT_H

#include "output/calltree.h"

/* Process and thread levels, and the root. */
#define SVG_KIND_LEVEL FRAME_KIND_COUNT

struct svg_box {
	uint32_t name; /* in the tree's names */
	uint32_t kind; /* enum frame_kind or SVG_KIND_LEVEL */
	uint32_t depth;
	uint32_t head; /* the tree's nodes that are this box: a chain through svg_layout.next */
	uint64_t total, self;
	uint64_t start; /* weight to the left of it */
};

struct svg_layout {
	const struct calltree *tree; /* borrowed */
	VEC(struct svg_box) boxes;   /* the root first, level by level */
	uint32_t *next;		     /* owned; by node, PROFILE_NONE ends a chain */
	uint32_t *end;		     /* owned; by node: the first that is not below it */
	uint32_t levels;
	uint64_t smallest;	/* boxes that weigh less are left out */
	uint64_t hidden_nodes;	/* nodes of such boxes, and all below them */
	uint64_t hidden_weight; /* of samples that pass through them */
};

void svg_layout_init(struct svg_layout *layout, const struct calltree *tree, uint64_t smallest);
void svg_layout_release(struct svg_layout *layout);

bool svg_kind_is_java(uint32_t kind);

#endif
