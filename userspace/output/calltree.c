/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In sorted order a key shares its first labels with the key before it, and the rest are new
 * nodes: so one pass makes the nodes depth first, without a search and without recursion.
 */
#include "output/calltree.h"

#include "output/calltree_keys.h"

/* The nodes of the last key, by depth; path[0] is the root. */
struct path {
	VEC(uint32_t) nodes;
};

static uint32_t add_node(struct calltree *tree, uint32_t parent, uint32_t label, uint32_t origin)
{
	struct calltree_node node = { .label = label, .parent = parent, .origin = origin };

	if (parent != PROFILE_NONE)
		node.depth = tree->nodes.items[parent].depth + 1;
	vec_push(&tree->nodes, node);
	return (uint32_t)tree->nodes.len - 1;
}

static void add_key(struct calltree *tree, const struct calltree_keys *keys,
		    const struct calltree_key *key, uint32_t common, struct path *path)
{
	uint32_t len = calltree_key_len(keys, key);
	struct calltree_node *leaf;

	path->nodes.len = common + 1;
	for (uint32_t depth = common; depth < len; depth++) {
		uint32_t label = calltree_key_label(keys, key, depth) - 1;
		uint32_t origin = calltree_key_origin(keys, key, depth);
		uint32_t node = add_node(tree, path->nodes.items[depth], label, origin);

		vec_push(&path->nodes, node);
	}
	leaf = &tree->nodes.items[path->nodes.items[len]];
	leaf->self += key->weight;
	leaf->self_samples += key->samples;
	leaf->self_objects += key->objects;
}

static void add_totals(struct calltree *tree)
{
	struct calltree_node *nodes = tree->nodes.items;

	for (size_t i = tree->nodes.len; i > 0; i--) {
		struct calltree_node *node = &nodes[i - 1];

		node->total += node->self;
		if (node->parent != PROFILE_NONE)
			nodes[node->parent].total += node->total;
	}
}

void calltree_build(const struct profile *p, const struct calltree_options *options,
		    struct calltree *ret_tree)
{
	struct calltree_keys keys;
	struct path path = { VEC_INIT };
	const struct calltree_key *key, *before = NULL;

	memset(ret_tree, 0, sizeof(*ret_tree));
	intern_init(&ret_tree->labels);
	intern_init(&ret_tree->names);
	calltree_keys_init(p, options, ret_tree, &keys);
	vec_push(&path.nodes, add_node(ret_tree, PROFILE_NONE, 0, PROFILE_NONE));
	vec_for_each (key, &keys.keys) {
		uint32_t common = before ? calltree_key_common(&keys, before, key, 0) : 0;

		add_key(ret_tree, &keys, key, common, &path);
		before = key;
	}
	add_totals(ret_tree);
	vec_release(&path.nodes);
	calltree_keys_release(&keys);
}

uint64_t calltree_least(const struct calltree *tree, double percent)
{
	double least = (double)tree->nodes.items[0].total * percent / 100;
	uint64_t whole = (uint64_t)least;

	return (double)whole < least ? whole + 1 : whole;
}

void calltree_release(struct calltree *tree)
{
	vec_release(&tree->nodes);
	intern_release(&tree->labels);
	intern_release(&tree->names);
}
