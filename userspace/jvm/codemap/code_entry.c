/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_entry.h"
#include "jvm/java_name.h"

#include <string.h>

#include "base/alloc.h"

/*
 * The chains of neighbouring pcs share their outer frames, which is why nodes are a third of what
 * the record holds. Built in two passes over the record: count, then fill.
 */
struct chain {
	uint32_t nodes[JAVA_MAX_INLINE]; /* outermost first */
	uint32_t depth;
};

struct builder {
	struct code_entry *entry; /* NULL: only count */
	const struct code_methods *methods;
	struct chain chain; /* of the pc before */
	const struct codemap_pc *last;
	uint32_t node_count;
};

static bool same_frame(const struct codemap_frame *a, const struct codemap_frame *b)
{
	return a->method == b->method && a->bci == b->bci;
}

/* How many outer frames PC has in common with the pc before. */
static uint32_t shared_depth(const struct builder *b, const struct codemap_pc *pc)
{
	const struct codemap_frame *mine = codemap_pc_frames(pc);
	const struct codemap_frame *theirs = b->last ? codemap_pc_frames(b->last) : NULL;
	uint32_t n = 0;

	while (theirs && n < pc->depth && n < b->chain.depth &&
	       same_frame(&mine[pc->depth - 1 - n], &theirs[b->last->depth - 1 - n]))
		n++;
	return n;
}

static uint32_t add_node(struct builder *b, const struct codemap_frame *frame, uint32_t caller)
{
	if (b->entry) {
		struct code_node *node = &b->entry->nodes[b->node_count];

		node->method = code_methods_find(b->methods, frame->method);
		node->bci = frame->bci;
		node->caller = caller;
	}
	return b->node_count++;
}

/* The leaf node of PC's chain. */
static uint32_t add_chain(struct builder *b, const struct codemap_pc *pc)
{
	const struct codemap_frame *frames = codemap_pc_frames(pc);
	uint32_t depth = MIN(pc->depth, (uint32_t)JAVA_MAX_INLINE);
	uint32_t n = shared_depth(b, pc);

	for (; n < depth; n++)
		b->chain.nodes[n] = add_node(b, &frames[pc->depth - 1 - n],
					     n ? b->chain.nodes[n - 1] : CODE_NO_NODE);
	b->chain.depth = depth;
	b->last = pc;
	return b->chain.nodes[depth - 1];
}

static uint32_t build(struct code_entry *entry, const struct codemap_event *e,
		      const struct code_methods *methods)
{
	struct builder b = { .entry = entry, .methods = methods };
	const struct codemap_pc *pc = e->load.pcs;

	for (uint32_t i = 0; i < e->load.pc_count; i++, pc = codemap_next_pc(pc)) {
		uint32_t leaf = add_chain(&b, pc);

		if (entry)
			entry->pcs[i] = (struct code_pc){ pc->offset, leaf };
	}
	return b.node_count;
}

static size_t block_bytes(uint32_t pc_count, uint32_t node_count)
{
	return sizeof(struct code_entry) + pc_count * sizeof(struct code_pc) +
	       node_count * sizeof(struct code_node);
}

static void set_times(struct code_entry *entry, const struct codemap_event *e)
{
	entry->begin_ns = e->time_ns;
	entry->end_ns = UINT64_MAX;
	entry->replayed = e->flags & CODEMAP_FLAG_REPLAYED;
}

struct code_entry *code_entry_new_method(const struct codemap_event *event,
					 const struct code_methods *methods)
{
	uint32_t nodes = build(NULL, event, methods);
	struct code_entry *entry = xcalloc(1, block_bytes(event->load.pc_count, nodes));

	entry->start = event->load.address;
	entry->code_bytes = event->load.code_bytes;
	entry->method = code_methods_find(methods, event->load.method);
	entry->pc_count = event->load.pc_count;
	entry->node_count = nodes;
	entry->pcs = (void *)(entry + 1);
	entry->nodes = (void *)(entry->pcs + entry->pc_count);
	set_times(entry, event);
	build(entry, event, methods);
	entry->identity =
		hash_bytes(entry->pcs, block_bytes(entry->pc_count, nodes) - sizeof(*entry)) ^
		((uint64_t)entry->method << 32 | entry->code_bytes);
	return entry;
}

struct code_entry *code_entry_new_stub(const struct codemap_event *event)
{
	struct code_entry *entry = xcalloc(1, sizeof(*entry));
	struct strbuf name = STRBUF_INIT;

	entry->start = event->dynamic.address;
	entry->code_bytes = event->dynamic.code_bytes;
	entry->method = CODE_METHOD_UNKNOWN;
	java_name_add_stub(&name, event->dynamic.name.data, MIN(event->dynamic.name.len, 1024U));
	entry->identity = hash_bytes(strbuf_str(&name), name.len) ^ entry->code_bytes;
	entry->stub = strbuf_take(&name);
	set_times(entry, event);
	return entry;
}

void code_entry_free(struct code_entry *entry)
{
	if (!entry)
		return;
	free(entry->stub);
	free(entry);
}

/* What malloc() needs for a block itself. */
#define BLOCK_HEAD_BYTES 16

size_t code_entry_bytes(const struct code_entry *entry)
{
	return block_bytes(entry->pc_count, entry->node_count) + BLOCK_HEAD_BYTES +
	       (entry->stub ? strlen(entry->stub) + 1 + BLOCK_HEAD_BYTES : 0);
}

unsigned int code_entry_frames(const struct code_entry *entry, const struct code_methods *methods,
			       uint64_t address, struct java_frame *frames)
{
	uint32_t node =
		code_chain_find(entry->pcs, entry->pc_count, (uint32_t)(address - entry->start));
	unsigned int n = 0;

	if (node == CODE_NO_NODE)
		code_methods_fill_frame(methods, entry->method, -1, &frames[n++]);
	while (node != CODE_NO_NODE && n < JAVA_MAX_INLINE) {
		const struct code_node *at = &entry->nodes[node];

		code_methods_fill_frame(methods, at->method, at->bci, &frames[n]);
		frames[n++].inlined = at->caller != CODE_NO_NODE;
		node = at->caller;
	}
	return n;
}
