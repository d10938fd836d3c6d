/* SPDX-License-Identifier: Apache-2.0 */
#include "output/svg/svg_layout.h"

#include "profile/frame_kind.h"

/* A node below one of a box's nodes, on its way into a box of its own. */
struct child {
	uint32_t node;
	uint32_t name;
	uint32_t kind;
	uint32_t group; /* 0 for all Java kinds, so that the tiers of a method meet */
};

struct children {
	VEC(struct child) items;
};

/* The first node after i's subtree is found by hopping over the subtrees of its children. */
static uint32_t *find_ends(const struct calltree *tree)
{
	uint32_t len = (uint32_t)tree->nodes.len;
	const struct calltree_node *nodes = tree->nodes.items;
	uint32_t *end = xcalloc(len, sizeof(*end));

	for (uint32_t i = len; i-- > 0;) {
		end[i] = i + 1;
		while (end[i] < len && nodes[end[i]].depth > nodes[i].depth)
			end[i] = end[end[i]];
	}
	return end;
}

bool svg_kind_is_java(uint32_t kind)
{
	return kind >= FRAME_JAVA_INTERPRETED && kind <= FRAME_JAVA_INLINED;
}

static void push_child(const struct calltree *tree, uint32_t node, struct children *children)
{
	const struct calltree_label *label =
		intern_get(&tree->labels, tree->nodes.items[node].label, NULL);
	struct child child = { node, label->name, label->kind,
			       svg_kind_is_java(label->kind) ? 0 : label->kind + 1 };

	vec_push(&children->items, child);
}

static void collect_children(const struct svg_layout *layout, const struct svg_box *box,
			     struct children *children)
{
	children->items.len = 0;
	for (uint32_t n = box->head; n != PROFILE_NONE; n = layout->next[n])
		for (uint32_t c = n + 1; c < layout->end[n]; c = layout->end[c])
			push_child(layout->tree, c, children);
}

static int compare_children(const void *pa, const void *pb)
{
	const struct child *a = pa, *b = pb;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Make one box of the children [from, to); they are in the order of their kinds. */
static struct svg_box merge_children(struct svg_layout *layout, const struct child *from,
				     const struct child *to, uint32_t depth)
{
	struct svg_box box = { .name = from->name, .depth = depth, .head = PROFILE_NONE };
	uint64_t kind_weight = 0, most = 0;

	for (const struct child *child = from; child < to; child++) {
		const struct calltree_node *node = &layout->tree->nodes.items[child->node];

		kind_weight = child > from && child[-1].kind == child->kind ? kind_weight : 0;
		kind_weight += node->total;
		if (kind_weight >= most) {
			most = kind_weight;
			box.kind = MIN(child->kind, (uint32_t)SVG_KIND_LEVEL);
		}
		box.total += node->total;
		box.self += node->self;
		layout->next[child->node] = box.head;
		box.head = child->node;
	}
	return box;
}

static void hide(struct svg_layout *layout, const struct svg_box *box)
{
	for (uint32_t n = box->head; n != PROFILE_NONE; n = layout->next[n])
		layout->hidden_nodes += layout->end[n] - n;
	layout->hidden_weight += box->total;
}

static void keep_or_hide(struct svg_layout *layout, const struct svg_box *box)
{
	if (box->total < layout->smallest)
		hide(layout, box);
	else
		vec_push(&layout->boxes, *box);
}

static int compare_boxes(const void *pa, const void *pb)
{
	const struct svg_box *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

static void add_children(struct svg_layout *layout, const struct svg_box *parent,
			 struct children *children)
{
	const struct child *from, *to, *last;
	size_t first = layout->boxes.len;
	uint64_t start = parent->start;

	collect_children(layout, parent, children);
	if (!children->items.len)
		return;
	qsort(children->items.items, children->items.len, sizeof(struct child), compare_children);
	last = children->items.items + children->items.len;
	for (from = children->items.items; from < last; from = to) {
		struct svg_box box;

		for (to = from; to < last && to->name == from->name && to->group == from->group;)
			to++;
		box = merge_children(layout, from, to, parent->depth + 1);
		keep_or_hide(layout, &box);
	}
	qsort(layout->boxes.items + first, layout->boxes.len - first, sizeof(struct svg_box),
	      compare_boxes);
	for (size_t i = first; i < layout->boxes.len; i++) {
		layout->boxes.items[i].start = start;
		start += layout->boxes.items[i].total;
		layout->levels = parent->depth + 2;
	}
}

void svg_layout_init(struct svg_layout *layout, const struct calltree *tree, uint64_t smallest)
{
	const struct calltree_label *label =
		intern_get(&tree->labels, tree->nodes.items[0].label, NULL);
	struct children children = { VEC_INIT };

	*layout = (struct svg_layout){ .tree = tree, .levels = 1, .smallest = MAX(smallest, 1) };
	layout->end = find_ends(tree);
	layout->next = xcalloc(tree->nodes.len, sizeof(*layout->next));
	layout->next[0] = PROFILE_NONE;
	vec_push(&layout->boxes, ((struct svg_box){ .name = label->name,
						    .kind = SVG_KIND_LEVEL,
						    .total = tree->nodes.items[0].total,
						    .self = tree->nodes.items[0].self }));
	for (size_t i = 0; i < layout->boxes.len; i++) {
		struct svg_box parent = layout->boxes.items[i]; /* pushes move the array */

		add_children(layout, &parent, &children);
	}
	vec_release(&children.items);
}

void svg_layout_release(struct svg_layout *layout)
{
	vec_release(&layout->boxes);
	free(layout->end);
	free(layout->next);
}
