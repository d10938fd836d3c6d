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

bool chain_names_has(const struct chain_names *chain, uint64_t address)
{
	uint32_t node = find_node(chain, address);
	const struct chain_name *name;

	do {
		name = find_name(chain, node);
		node = name ? name->caller : CODE_NO_NODE;
	} while (node != CODE_NO_NODE);
	return name != NULL;
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

/* --- what is read ----------------------------------------------------------------------------- */

void chain_wants_release(struct chain_wants *wants)
{
	vec_release(&wants->places);
	vec_release(&wants->methods);
}

static bool is_wanted(const struct chain_wants *wants, const struct chain_place *place)
{
	const struct chain_place *at;

	vec_for_each (at, &wants->places)
		if (at->chain == place->chain && at->node == place->node)
			return true;
	return false;
}

/* NODE unless its name is known. */
static void want(struct chain_names *chain, uint32_t node, struct chain_wants *wants)
{
	const struct code_node *at = node == CODE_NO_NODE ? NULL : &chain->scopes->nodes[node];
	const struct chain_place place = { chain, node };
	const struct method_place method = {
		at ? chain->scopes->methods[at->method] : chain->method,
		at ? at->bci : -1,
	};

	if (find_name(chain, node) || is_wanted(wants, &place))
		return;
	vec_push(&wants->places, place);
	vec_push(&wants->methods, method);
}

void chain_names_want(struct chain_names *chain, uint64_t address, struct chain_wants *wants)
{
	want(chain, CODE_NO_NODE, wants);
	for (uint32_t node = find_node(chain, address); node != CODE_NO_NODE;
	     node = caller_of(chain, node))
		want(chain, node, wants);
}

struct taking {
	const struct chain_wants *wants;
	struct text_pool *texts;
};

static void take_name(unsigned int index, int error, const struct java_frame *frame, void *data)
{
	const struct taking *taking = data;
	const struct chain_place *place = &taking->wants->places.items[index];
	struct chain_names *chain = place->chain;

	if (error && (place->node == CODE_NO_NODE || vm_error_passes(error)))
		chain->error = error;
	if (error)
		return;
	chain->names = xrealloc(chain->names, (chain->count + 1) * sizeof(*chain->names));
	chain->names[chain->count++] = (struct chain_name){
		.class_name = text_pool_ref(taking->texts, frame->class_name),
		.method = text_pool_ref(taking->texts, frame->method),
		.source = text_pool_ref(taking->texts, frame->source),
		.descriptor = text_pool_ref(taking->texts, frame->descriptor),
		.node = place->node,
		.line = frame->line,
		.bci = frame->bci,
		.caller = caller_of(chain, place->node),
	};
}

void chain_wants_read(const struct chain_wants *wants, struct method_names *methods,
		      struct text_pool *texts)
{
	struct taking taking = { .wants = wants, .texts = texts };

	method_names_follow(methods, wants->methods.items, (unsigned int)wants->methods.len,
			    take_name, &taking);
}
