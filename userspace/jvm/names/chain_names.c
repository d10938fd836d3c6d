/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/chain_names.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Whose outermost method is another one's: what was read is of no nmethod, or of the next one there. */
static bool is_of(const struct code_scopes *scopes, uint64_t method)
{
	for (uint32_t i = 0; i < scopes->node_count; i++)
		if (scopes->nodes[i].caller == CODE_NO_NODE &&
		    scopes->methods[scopes->nodes[i].method] != method)
			return false;
	return true;
}

void chain_names_init(struct chain_names *chain, uint64_t method, struct code_scopes *scopes)
{
	*chain = (struct chain_names){ .method = method, .scopes = scopes };
	if (scopes && !is_of(scopes, method)) {
		free(scopes);
		chain->scopes = NULL;
	}
}

void chain_names_drop(struct chain_names *chain, uint32_t kept, struct text_pool *texts)
{
	while (chain->count > kept) {
		const struct chain_name *name = &chain->names[--chain->count];

		text_pool_unref(texts, name->class_name);
		text_pool_unref(texts, name->method);
		text_pool_unref(texts, name->source);
	}
}

void chain_names_release(struct chain_names *chain, struct text_pool *texts)
{
	chain_names_drop(chain, 0, texts);
	free(chain->names);
	free(chain->scopes);
}

size_t chain_names_bytes(const struct chain_names *chain)
{
	return chain->count * sizeof(chain->names[0]) +
	       (chain->scopes ? code_scopes_bytes(chain->scopes) : 0);
}

/* Of an nmethod a handful of places are seen. */
static const struct chain_name *find_name(const struct chain_names *chain, uint32_t node)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (chain->names[i].node == node)
			return &chain->names[i];
	return NULL;
}

static uint32_t find_node(const struct chain_names *chain, uint64_t address)
{
	return chain->scopes ? code_scopes_find(chain->scopes, address) : CODE_NO_NODE;
}

static uint32_t caller_of(const struct chain_names *chain, uint32_t node)
{
	return node == CODE_NO_NODE ? CODE_NO_NODE : chain->scopes->nodes[node].caller;
}

static struct java_frame frame_of(const struct chain_name *name)
{
	return (struct java_frame){
		.class_name = name->class_name,
		.method = name->method,
		.source = name->source,
		.line = name->line,
		.bci = name->bci,
		.inlined = name->caller != CODE_NO_NODE,
	};
}

unsigned int chain_names_own(const struct chain_names *chain, struct java_frame *frame)
{
	const struct chain_name *name = find_name(chain, CODE_NO_NODE);

	if (name)
		*frame = frame_of(name);
	return name ? 1 : 0;
}

unsigned int chain_names_find(const struct chain_names *chain, uint64_t address,
			      struct java_frame *frames)
{
	uint32_t node = find_node(chain, address);
	unsigned int count = 0;

	do {
		const struct chain_name *name = find_name(chain, node);

		if (!name)
			return 0;
		frames[count++] = frame_of(name);
		node = name->caller;
	} while (node != CODE_NO_NODE && count < JAVA_MAX_INLINE);
	return count;
}

static int read_name(struct chain_names *chain, uint32_t node, struct method_names *methods,
		     struct text_pool *texts)
{
	const struct code_node *at = node == CODE_NO_NODE ? NULL : &chain->scopes->nodes[node];
	uint64_t method = at ? chain->scopes->methods[at->method] : chain->method;
	struct java_frame frame;
	struct chain_name name;
	int r = method_names_follow(methods, method, at ? at->bci : -1, &frame);

	if (r < 0)
		return r;
	name = (struct chain_name){
		.class_name = text_pool_ref(texts, frame.class_name),
		.method = text_pool_ref(texts, frame.method),
		.source = text_pool_ref(texts, frame.source),
		.node = node,
		.line = frame.line,
		.bci = frame.bci,
		.caller = caller_of(chain, node),
	};
	chain->names = xrealloc(chain->names, (chain->count + 1) * sizeof(name));
	chain->names[chain->count++] = name;
	return 0;
}

/* The name of NODE unless it is known. */
static int want_name(struct chain_names *chain, uint32_t node, struct method_names *methods,
		     struct text_pool *texts)
{
	return find_name(chain, node) ? 0 : read_name(chain, node, methods, texts);
}

int chain_names_read(struct chain_names *chain, uint64_t address, struct method_names *methods,
		     struct text_pool *texts)
{
	uint32_t node = find_node(chain, address);
	int r = want_name(chain, CODE_NO_NODE, methods, texts);

	for (; node != CODE_NO_NODE && !r; node = caller_of(chain, node))
		r = want_name(chain, node, methods, texts);
	return r;
}
