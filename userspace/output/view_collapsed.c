/* SPDX-License-Identifier: Apache-2.0 */
/* Format: stackcollapse-perf.pl and flamegraph.pl of FlameGraph; the last blank ends the stack. */
#include "output/view_collapsed.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "output/calltree.h"

/* The names from the root to the current node. */
struct line {
	struct strbuf text;
	VEC(size_t) ends; /* by depth: length of the text up to there */
};

static void enter_node(struct line *line, uint32_t depth, const char *name)
{
	line->ends.len = depth;
	line->text.len = line->ends.items[depth - 1];
	if (line->text.len)
		strbuf_addch(&line->text, ';');
	strbuf_addstr(&line->text, name);
	vec_push(&line->ends, line->text.len);
}

static void write_tree(const struct calltree *tree, FILE *out)
{
	struct line line = { STRBUF_INIT, VEC_INIT };

	vec_push(&line.ends, 0); /* the root has no name here */
	for (uint32_t i = 1; i < tree->nodes.len; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		enter_node(&line, node->depth, calltree_name(tree, i));
		if (node->self)
			fprintf(out, "%s %" PRIu64 "\n", strbuf_str(&line.text), node->self);
	}
	vec_release(&line.ends);
	strbuf_release(&line.text);
}

int view_collapsed_write(const struct profile *p, const struct view_options *options, FILE *out,
			 struct err *err)
{
	struct calltree_options tree_options;
	struct calltree tree;

	(void)err;
	view_tree_options(options, &tree_options);
	tree_options.by_process = true;
	tree_options.by_thread = options->threads;
	tree_options.plain = true;
	calltree_build(p, &tree_options, &tree);
	write_tree(&tree, out);
	calltree_release(&tree);
	return 0;
}
