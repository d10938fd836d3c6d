/* SPDX-License-Identifier: Apache-2.0 */
#include "output/html/html_columns.h"

static const char rest_name[] = "[smaller frames]";

/* One tree on its way into columns. */
struct packer {
	struct html_columns *columns;
	const struct profile *p;
	const struct calltree *tree;
	uint32_t *labels;      /* by calltree label: page label + 1 of the module below */
	uint32_t *modules;     /* by calltree label: the module of the page label */
	uint64_t below;	       /* nodes that weigh less are left out */
	uint64_t *rest_weight; /* by node: what was left out below it; NULL when nothing is */
	uint64_t *rest_samples, *rest_objects;
	struct strbuf up, label, self, samples, objects;
	uint32_t depth; /* of the node before */
	uint32_t nodes;
};

void html_columns_init(struct html_columns *columns, size_t max_nodes)
{
	*columns = (struct html_columns){ .max_nodes = max_nodes };
	intern_init(&columns->names);
	intern_init(&columns->labels);
	intern_put(&columns->names, "", 0, NULL);
}

void html_columns_release(struct html_columns *columns)
{
	struct html_tree *tree;

	vec_for_each (tree, &columns->trees)
		vec_release(&tree->processes);
	vec_release(&columns->trees);
	intern_release(&columns->labels);
	intern_release(&columns->names);
	strbuf_release(&columns->bytes);
}

static void add_number(struct strbuf *out, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		strbuf_addch(out, (char)(value | 128));
	strbuf_addch(out, (char)value);
}

static uint32_t put_label(struct html_columns *columns, const char *name, uint32_t kind,
			  const char *module)
{
	struct html_label label = {
		.name = intern_put(&columns->names, name, strlen(name), NULL),
		.kind = MIN(kind, (uint32_t)HTML_KIND_LEVEL),
		.module = intern_put(&columns->names, module, strlen(module), NULL),
	};

	return intern_put(&columns->labels, &label, sizeof(label), NULL);
}

/* The source file of a Java frame, the binary of any other; a string id of the profile. */
static uint32_t frame_module(const struct profile *p, const struct calltree_node *node,
			     uint32_t kind)
{
	const struct profile_frame *frame;

	if (kind >= FRAME_KIND_COUNT || node->origin >= intern_len(&p->frames))
		return 0;
	frame = profile_get_frame(p, node->origin);
	if (frame->class_name)
		return frame->file;
	return frame->mapping == PROFILE_NONE ? frame->file
					      : profile_get_mapping(p, frame->mapping)->path;
}

static uint32_t label_of(struct packer *pk, const struct calltree_node *node)
{
	const struct calltree_label *label = intern_get(&pk->tree->labels, node->label, NULL);
	uint32_t module = frame_module(pk->p, node, label->kind);
	uint32_t *slot = &pk->labels[node->label];

	if (!*slot || pk->modules[node->label] != module) {
		*slot = 1 + put_label(pk->columns, intern_get(&pk->tree->names, label->name, NULL),
				      label->kind, profile_get_string(pk->p, module));
		pk->modules[node->label] = module;
	}
	return *slot - 1;
}

static void add_node(struct packer *pk, uint32_t depth, uint32_t label, uint64_t self,
		     uint64_t samples, uint64_t objects)
{
	add_number(&pk->up, pk->nodes ? pk->depth + 1 - depth : 0);
	add_number(&pk->label, label);
	add_number(&pk->self, self);
	add_number(&pk->samples, samples);
	add_number(&pk->objects, objects);
	pk->depth = depth;
	pk->nodes++;
}

static int compare_falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The least weight with which no more than LIMIT nodes are kept; children never weigh more. */
static uint64_t find_threshold(const struct calltree *tree, size_t limit)
{
	_cleanup_free_ uint64_t *totals = NULL;

	if (tree->nodes.len <= limit)
		return 0;
	totals = xcalloc(tree->nodes.len, sizeof(*totals));
	for (size_t i = 0; i < tree->nodes.len; i++)
		totals[i] = tree->nodes.items[i].total;
	qsort(totals, tree->nodes.len, sizeof(*totals), compare_falling);
	return totals[limit] + 1;
}

static bool is_kept(const struct packer *pk, size_t i)
{
	return !i || pk->tree->nodes.items[i].total >= pk->below;
}

/* Give what is left out to the nearest node that is kept; returns how many nodes that were. */
static uint64_t collect_rest(struct packer *pk)
{
	size_t len = pk->tree->nodes.len;
	_cleanup_free_ uint32_t *kept = NULL;
	uint64_t pruned = 0;

	if (!pk->below)
		return 0;
	kept = xcalloc(len, sizeof(*kept));
	pk->rest_weight = xcalloc(len, sizeof(uint64_t));
	pk->rest_samples = xcalloc(len, sizeof(uint64_t));
	pk->rest_objects = xcalloc(len, sizeof(uint64_t));
	for (size_t i = 0; i < len; i++) {
		const struct calltree_node *node = &pk->tree->nodes.items[i];

		kept[i] = is_kept(pk, i) ? (uint32_t)i : kept[node->parent];
		if (kept[i] == i)
			continue;
		pk->rest_weight[kept[i]] += node->self;
		pk->rest_samples[kept[i]] += node->self_samples;
		pk->rest_objects[kept[i]] += node->self_objects;
		pruned++;
	}
	return pruned;
}

/* One node, and what was left out below it as its first child; the processes are noted. */
static void add_with_rest(struct packer *pk, size_t i, uint32_t rest_label,
			  struct html_tree *ret_tree)
{
	const struct calltree_node *node = &pk->tree->nodes.items[i];

	add_node(pk, node->depth, label_of(pk, node), node->self, node->self_samples,
		 node->self_objects);
	if (node->depth == 1)
		vec_push(&ret_tree->processes, node->origin);
	if (!pk->rest_weight || !pk->rest_weight[i])
		return;
	add_node(pk, node->depth + 1, rest_label, pk->rest_weight[i], pk->rest_samples[i],
		 pk->rest_objects[i]);
	if (node->depth == 0)
		vec_push(&ret_tree->processes, PROFILE_NONE);
}

static void add_nodes(struct packer *pk, struct html_tree *ret_tree)
{
	uint32_t rest_label = 0;

	if (pk->rest_weight)
		rest_label = put_label(pk->columns, rest_name, FRAME_MARK, "");
	for (size_t i = 0; i < pk->tree->nodes.len; i++)
		if (is_kept(pk, i))
			add_with_rest(pk, i, rest_label, ret_tree);
}

/* The weight that every sample of the event has, 0 when they differ. */
static uint64_t constant_period(const struct profile *p, uint32_t event)
{
	const struct profile_sample *s;
	uint64_t period;

	if (event >= intern_len(&p->events))
		return 0;
	period = profile_get_event(p, event)->period;
	vec_for_each (s, &p->samples)
		if (s->event == event && s->weight != s->count * period)
			return 0;
	return period;
}

static bool has_objects(const struct calltree *tree)
{
	const struct calltree_node *node;

	vec_for_each (node, &tree->nodes)
		if (node->self_objects)
			return true;
	return false;
}

static void append(struct strbuf *out, struct strbuf *part)
{
	strbuf_add(out, strbuf_str(part), part->len);
	strbuf_release(part);
}

void html_columns_add(struct html_columns *columns, const struct profile *p,
		      const struct calltree *tree, uint32_t event)
{
	uint32_t labels = intern_len(&tree->labels);
	struct packer pk = { .columns = columns, .p = p, .tree = tree };
	struct html_tree out = { .event = event,
				 .period = constant_period(p, event),
				 .has_objects = has_objects(tree) };

	pk.labels = xcalloc(labels, sizeof(uint32_t));
	pk.modules = xcalloc(labels, sizeof(uint32_t));
	pk.below = MAX(find_threshold(tree, columns->max_nodes),
		       calltree_least(tree, columns->min_percent));
	out.pruned_below = pk.below;
	out.pruned_nodes = collect_rest(&pk);
	add_nodes(&pk, &out);
	out.nodes = pk.nodes;
	append(&columns->bytes, &pk.up);
	append(&columns->bytes, &pk.label);
	append(&columns->bytes, &pk.self);
	if (!out.period)
		append(&columns->bytes, &pk.samples);
	if (out.has_objects)
		append(&columns->bytes, &pk.objects);
	strbuf_release(&pk.samples);
	strbuf_release(&pk.objects);
	vec_push(&columns->trees, out);
	free(pk.rest_objects);
	free(pk.rest_samples);
	free(pk.rest_weight);
	free(pk.modules);
	free(pk.labels);
}
