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
		text_pool_unref(texts, name->descriptor);
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
		.descriptor = name->descriptor,
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

/* Names in the making. */
struct wanted {
	struct chain_names *chain;
	struct text_pool *texts;
	struct method_place places[METHOD_PLACES_AT_ONCE];
	uint32_t nodes[METHOD_PLACES_AT_ONCE];
	unsigned int count;
};

static void take_name(unsigned int index, const struct java_frame *frame, void *data)
{
	struct wanted *wanted = data;
	struct chain_names *chain = wanted->chain;
	const struct chain_name name = {
		.class_name = text_pool_ref(wanted->texts, frame->class_name),
		.method = text_pool_ref(wanted->texts, frame->method),
		.source = text_pool_ref(wanted->texts, frame->source),
		.descriptor = text_pool_ref(wanted->texts, frame->descriptor),
		.node = wanted->nodes[index],
		.line = frame->line,
		.bci = frame->bci,
		.caller = caller_of(chain, wanted->nodes[index]),
	};

	chain->names = xrealloc(chain->names, (chain->count + 1) * sizeof(name));
	chain->names[chain->count++] = name;
}

/* NODE unless its name is known. */
static void want(struct wanted *wanted, uint32_t node)
{
	const struct code_node *at =
		node == CODE_NO_NODE ? NULL : &wanted->chain->scopes->nodes[node];

	if (find_name(wanted->chain, node))
		return;
	wanted->nodes[wanted->count] = node;
	wanted->places[wanted->count++] = (struct method_place){
		at ? wanted->chain->scopes->methods[at->method] : wanted->chain->method,
		at ? at->bci : -1,
	};
}

int chain_names_read(struct chain_names *chain, uint64_t address, struct method_names *methods,
		     struct text_pool *texts)
{
	struct wanted wanted = { .chain = chain, .texts = texts };
	uint32_t node = find_node(chain, address);
	int r = 0;

	want(&wanted, CODE_NO_NODE);
	while (!r && (wanted.count || node != CODE_NO_NODE)) {
		for (; node != CODE_NO_NODE && wanted.count < METHOD_PLACES_AT_ONCE;
		     node = caller_of(chain, node))
			want(&wanted, node);
		r = method_names_follow(methods, wanted.places, wanted.count, take_name, &wanted);
		wanted.count = 0;
	}
	return r;
}
