/* SPDX-License-Identifier: Apache-2.0 */
/* Hot methods and hot stacks, from the call tree. */
#include "output/text/text_page.h"

/* Frames of a hot stack that are shown, from the leaf and from the root. */
#define STACK_LEAF_FRAMES 24
#define STACK_ROOT_FRAMES 6

#define STACK_INDENT 12

struct method {
	const char *name; /* borrowed from the tree */
	uint64_t self, total;
};

static int compare_methods(const void *pa, const void *pb)
{
	const struct method *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Frames begin below the root and the process level. */
static bool is_frame(const struct calltree_node *node)
{
	return node->depth > 1;
}

/*
 * Self and total by label. A method that calls itself is counted once per stack: where it is
 * entered first. `entered` holds the depth of that node while the walk is below it.
 */
static struct method *sum_methods(const struct calltree *tree)
{
	uint32_t len = intern_len(&tree->labels);
	struct method *methods = xcalloc(len, sizeof(*methods));
	_cleanup_free_ uint32_t *entered = xcalloc(len, sizeof(*entered));
	VEC(uint32_t) path = VEC_INIT; /* labels by depth */

	for (uint32_t i = 0; i < tree->nodes.len; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		for (; path.len > node->depth; path.len--)
			if (entered[path.items[path.len - 1]] == path.len)
				entered[path.items[path.len - 1]] = 0;
		vec_push(&path, node->label);
		if (!is_frame(node))
			continue;
		methods[node->label].name = calltree_name(tree, i);
		methods[node->label].self += node->self;
		if (entered[node->label])
			continue;
		entered[node->label] = node->depth + 1;
		methods[node->label].total += node->total;
	}
	vec_release(&path);
	return methods;
}

/* Labels that no frame has go; returns how many are left. */
static uint32_t drop_unnamed(struct method *methods, uint32_t len)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < len; i++)
		if (methods[i].name)
			methods[kept++] = methods[i];
	return kept;
}

void text_put_methods(const struct text_page *page)
{
	_cleanup_free_ struct method *methods = sum_methods(page->tree);
	uint64_t whole = page->tree->nodes.items[0].total;
	uint32_t len = drop_unnamed(methods, intern_len(&page->tree->labels));
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT, share = STRBUF_INIT;

	if (!len)
		return;
	qsort(methods, len, sizeof(*methods), compare_methods);
	fprintf(page->out, "\nHot methods\n%9s %11s %9s  %s\n", "self %", "self", "total %",
		"method");
	for (uint32_t i = 0; i < MIN(len, page->top); i++) {
		strbuf_reset(&line);
		strbuf_reset(&share);
		text_format_row(&line, page, methods[i].self, whole);
		text_format_share(&share, methods[i].total, whole);
		strbuf_addf(&line, " %9s  ", strbuf_str(&share));
		text_put_row(page, &line, methods[i].name);
	}
	text_put_more(page, len);
}

struct hot_node {
	uint64_t self;
	uint32_t node;
};

static int compare_nodes(const void *pa, const void *pb)
{
	const struct hot_node *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The process of a node: its ancestor at depth 1. */
static uint32_t find_process(const struct calltree *tree, uint32_t node)
{
	while (tree->nodes.items[node].depth > 1)
		node = tree->nodes.items[node].parent;
	return node;
}

static void put_stack_frames(const struct text_page *page, uint32_t node)
{
	const struct calltree *tree = page->tree;
	uint32_t frames = tree->nodes.items[node].depth - 1, at = 0, hidden = 0;

	if (frames > STACK_LEAF_FRAMES + STACK_ROOT_FRAMES + 1)
		hidden = frames - STACK_LEAF_FRAMES - STACK_ROOT_FRAMES;
	for (; is_frame(&tree->nodes.items[node]); node = tree->nodes.items[node].parent, at++) {
		if (at < STACK_LEAF_FRAMES || at >= STACK_LEAF_FRAMES + hidden)
			text_put_line(page, STACK_INDENT, calltree_name(tree, node));
		else if (at == STACK_LEAF_FRAMES)
			fprintf(page->out, "%*s(%u more frames)\n", STACK_INDENT, "", hidden);
	}
}

static void put_stack(const struct text_page *page, const struct hot_node *hot)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	text_format_row(&line, page, hot->self, page->tree->nodes.items[0].total);
	strbuf_addstr(&line, "  ");
	text_put_row(page, &line, calltree_name(page->tree, find_process(page->tree, hot->node)));
	put_stack_frames(page, hot->node);
}

void text_put_stacks(const struct text_page *page)
{
	const struct calltree *tree = page->tree;
	VEC(struct hot_node) hot = VEC_INIT;

	for (uint32_t i = 0; i < tree->nodes.len; i++)
		if (tree->nodes.items[i].self && tree->nodes.items[i].depth)
			vec_push(&hot, ((struct hot_node){ tree->nodes.items[i].self, i }));
	if (hot.len) {
		qsort(hot.items, hot.len, sizeof(*hot.items), compare_nodes);
		fprintf(page->out, "\nHot stacks, leaf first\n");
	}
	for (size_t i = 0; i < MIN(hot.len, (size_t)page->top); i++)
		put_stack(page, &hot.items[i]);
	text_put_more(page, hot.len);
	vec_release(&hot);
}
