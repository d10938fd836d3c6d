/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged call tree of a profile, root first: what flame graphs and text tables are made from.
 * Nodes are numbered in depth-first order (a node comes before its children), children and labels
 * are in the order of their names, so that equal profiles give equal trees.
 */
#ifndef HOSTPROF_OUTPUT_CALLTREE_H
#define HOSTPROF_OUTPUT_CALLTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/profile.h"

struct calltree_node {
	uint32_t label;	 /* index into labels */
	uint32_t parent; /* node, PROFILE_NONE at the root */
	uint32_t depth;	 /* 0 at the root */
	uint64_t total;	 /* weight below and here */
	uint64_t self;
	uint64_t self_samples; /* samples that end here, whatever `count` says */
	uint64_t self_objects; /* of these samples; 0 of events without objects */
	uint32_t origin; /* the first frame merged here; a process or thread id at those levels;
			  * PROFILE_NONE at the root */
};

/* Equal names of one kind are one label. */
struct calltree_label {
	uint32_t name; /* string id in `names` */
	uint32_t kind; /* enum frame_kind, or FRAME_KIND_COUNT for process and thread levels */
};

struct calltree {
	VEC(struct calltree_node) nodes;
	struct intern labels; /* struct calltree_label */
	struct intern names;  /* display names */
};

struct calltree_options {
	uint32_t event;
	bool by_process; /* a level "comm-pid" below the root */
	bool by_thread;	 /* a level "[thread tid=N]" below that */
	bool lines, annotate;
	uint32_t names;		   /* enum frame_names */
	bool count;		   /* samples and not weight */
	bool all_user, all_kernel; /* only these frames (profile/filter.h) */
	bool plain; /* for text: equal names are one label whatever their kind (the first one's is
		     * kept), ';' is written ':' and a line break ' ' */
};

/*
 * The root is labelled "all". A sample of which the filter leaves no frame is not counted.
 * OPTIONS->event PROFILE_NONE means the first event; without such an event the tree is its root
 * alone.
 */
void calltree_build(const struct profile *p, const struct calltree_options *options,
		    struct calltree *ret_tree);
void calltree_release(struct calltree *tree);

/* The least weight of a node that has PERCENT of the whole; 0 for 0 %. */
uint64_t calltree_least(const struct calltree *tree, double percent);

/* The display name of a node, borrowed. */
static inline const char *calltree_name(const struct calltree *tree, uint32_t node)
{
	const struct calltree_label *label =
		intern_get(&tree->labels, tree->nodes.items[node].label, NULL);

	return intern_get(&tree->names, label->name, NULL);
}

#endif
