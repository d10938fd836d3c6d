/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/code_scopes.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "jvm/names/unsigned5.h"

/*
 * The largest nmethods have 0.1 MB of either. One call of the wall brings half a megabyte, of both
 * together.
 */
#define MAX_PC_BYTES	(192U << 10)
#define MAX_SCOPE_BYTES (256U << 10)
/* Methods and classes that code of one nmethod names. */
#define MAX_METHODS 8192U
#define WORD_BYTES  8

/* What a scope says when there is none: DebugInformationRecorder::serialized_null. */
#define NO_SCOPE 0

/* In the JVM's memory. */
struct place {
	uint64_t pcs, scopes, methods;
	uint64_t pc_bytes, scope_bytes;
	uint64_t code_start;
};

struct decoder {
	const struct scopes_layout *layout;
	const uint8_t *pc_descs; /* place.pc_bytes of them */
	struct unsigned5 scopes;
	struct hmap node_of_scope;  /* its offset → index of the node */
	struct hmap method_of_item; /* index in the JVM's table → our number */
	VEC(struct code_pc) pcs;
	VEC(struct code_node) nodes;
	VEC(uint32_t) items; /* of the JVM's table */
	uint32_t max_item;
};

/* --- where it is ------------------------------------------------------------------------------ */

/* Fields of the nmethod, as they are there. */
struct fields {
	uint64_t code_begin_word;
	uint64_t scopes_pointer, block, methods_block;
	int32_t pcs, pcs_end, scopes, methods, block_bytes;
};

static int read_fields(const struct vm_memory *memory, const struct wire_jvm *wire,
		       const struct scopes_layout *l, uint64_t blob, struct fields *f)
{
	struct vm_gather g;
	const size_t code_begin = wire->code_begin_kind == WIRE_CODE_BEGIN_POINTER ? 8 : 4;

	vm_gather_init(&g);
	vm_gather_add(&g, blob + wire->code_begin, &f->code_begin_word, code_begin);
	VM_GATHER(&g, blob + l->pcs, f->pcs);
	VM_GATHER(&g, blob + l->pcs_end, f->pcs_end);
	VM_GATHER(&g, blob + l->methods, f->methods);
	if (l->place == SCOPES_BY_POINTER)
		VM_GATHER(&g, blob + l->scopes, f->scopes_pointer);
	else
		VM_GATHER(&g, blob + l->scopes, f->scopes);
	if (l->place == SCOPES_IN_BLOCK) {
		VM_GATHER(&g, blob + l->block, f->block);
		VM_GATHER(&g, blob + l->block_bytes, f->block_bytes);
		VM_GATHER(&g, blob + l->methods_block, f->methods_block);
	}
	return vm_gather_read(&g, memory);
}

/* They follow each other in one block: pcs, scopes. */
static int place_in_block(const struct fields *f, struct place *p)
{
	if (!f->block || !f->methods_block || f->pcs < 0 || f->scopes < f->pcs ||
	    f->block_bytes < f->scopes || f->methods < 0)
		return -EBADMSG;
	p->pcs = f->block + (uint32_t)f->pcs;
	p->scopes = f->block + (uint32_t)f->scopes;
	p->methods = f->methods_block + (uint32_t)f->methods;
	p->pc_bytes = (uint32_t)(f->scopes - f->pcs);
	p->scope_bytes = (uint32_t)(f->block_bytes - f->scopes);
	return 0;
}

/* They follow each other in the blob: methods, scopes, pcs. */
static int place_in_blob(const struct fields *f, const struct code_blob *blob,
			 enum scopes_place place, struct place *p)
{
	const uint64_t bytes = blob->end - blob->start;
	uint64_t scopes =
		place == SCOPES_BY_POINTER ? f->scopes_pointer - blob->start : (uint64_t)f->scopes;

	if (f->methods < 0 || (uint64_t)f->methods > scopes || f->pcs < 0 ||
	    scopes > (uint64_t)f->pcs || f->pcs_end < f->pcs || (uint64_t)f->pcs_end > bytes)
		return -EBADMSG;
	p->methods = blob->start + (uint32_t)f->methods;
	p->scopes = blob->start + scopes;
	p->pcs = blob->start + (uint32_t)f->pcs;
	p->scope_bytes = (uint32_t)f->pcs - scopes;
	p->pc_bytes = (uint32_t)(f->pcs_end - f->pcs);
	return 0;
}

static int find_place(const struct vm_memory *memory, const struct wire_jvm *wire,
		      const struct scopes_layout *layout, const struct code_blob *blob,
		      struct place *ret_place)
{
	struct fields f = { 0 };
	struct place p = { 0 };
	int r;

	if (layout->place == SCOPES_UNKNOWN)
		return -ENODATA;
	r = read_fields(memory, wire, layout, blob->start, &f);
	if (r < 0)
		return r;
	r = layout->place == SCOPES_IN_BLOCK ? place_in_block(&f, &p)
					     : place_in_blob(&f, blob, layout->place, &p);
	if (r < 0)
		return r;
	if (p.pc_bytes > MAX_PC_BYTES || p.scope_bytes > MAX_SCOPE_BYTES)
		return -E2BIG;
	if (p.pc_bytes < layout->pc_bytes || !p.scope_bytes)
		return -ENODATA;
	p.code_start = wire->code_begin_kind == WIRE_CODE_BEGIN_POINTER
			       ? f.code_begin_word
			       : blob->start + (uint32_t)f.code_begin_word;
	*ret_place = p;
	return 0;
}

/* --- what it says ----------------------------------------------------------------------------- */

/* The number of ITEM of the JVM's table of metadata; there its first is 1. */
static int number_of_item(struct decoder *d, uint32_t item, uint32_t *ret_number)
{
	uint64_t number;

	if (item < 1 || item > MAX_METHODS)
		return -EBADMSG;
	if (!hmap_get(&d->method_of_item, item, &number)) {
		number = d->items.len;
		hmap_put(&d->method_of_item, item, number);
		vec_push(&d->items, item);
		d->max_item = MAX(d->max_item, item);
	}
	*ret_number = (uint32_t)number;
	return 0;
}

struct scope {
	uint32_t sender, item, bci;
};

static bool read_scope(struct decoder *d, uint32_t offset, struct scope *ret_scope)
{
	d->scopes.at = offset;
	return unsigned5_read(&d->scopes, &ret_scope->sender) &&
	       unsigned5_read(&d->scopes, &ret_scope->item) &&
	       unsigned5_read(&d->scopes, &ret_scope->bci);
}

/*
 * Graal has positions at no bytecode: before a method, behind it, unknown (jdk.vm.ci.code.BytecodeFrame). With -XX:+DebugNonSafepoints, which
 * async-profiler switches on, they are in its debug information.
 */
#define LEAST_BCI (-6)

/* Its node, whose sender's is SENDER. */
static int add_node(struct decoder *d, uint32_t offset, const struct scope *scope, uint32_t sender,
		    uint32_t *ret_node)
{
	/* A bytecode index is written as one more: -1 is the method's entry. */
	struct code_node node = { .bci = (int32_t)(scope->bci - 1), .caller = sender };
	int r = number_of_item(d, scope->item, &node.method);

	if (r < 0 || node.bci < LEAST_BCI || node.bci > UINT16_MAX)
		return -EBADMSG;
	node.bci = MAX(node.bci, -1);
	*ret_node = (uint32_t)d->nodes.len;
	hmap_put(&d->node_of_scope, offset, *ret_node);
	vec_push(&d->nodes, node);
	return 0;
}

/* More levels than anything inlines: C2's MaxInlineLevel is 15, method handles and JVMCI go on some more. */
#define MAX_LEVELS 256

/* How many nodes lead from NODE outwards, itself included; it is not counted past MAX_LEVELS. */
static unsigned int levels_of(const struct decoder *d, uint32_t node)
{
	unsigned int count = 0;

	for (; node != CODE_NO_NODE && count <= MAX_LEVELS; node = d->nodes.items[node].caller)
		count++;
	return count;
}

/*
 * The node of the scope at OFFSET. Those that it was inlined into were written before it, so that there is
 * no circle.
 */
static int node_of(struct decoder *d, uint32_t offset, uint32_t *ret_node)
{
	struct {
		uint32_t offset;
		struct scope scope;
	} chain[MAX_LEVELS];

	unsigned int count = 0;
	uint32_t node = CODE_NO_NODE;
	uint64_t known;
	int r = 0;

	for (uint32_t at = offset; at != NO_SCOPE; at = chain[count++].scope.sender) {
		if (hmap_get(&d->node_of_scope, at, &known)) {
			node = (uint32_t)known;
			break;
		}
		if (count == MAX_LEVELS || !read_scope(d, at, &chain[count].scope) ||
		    chain[count].scope.sender >= at)
			return -EBADMSG;
		chain[count].offset = at;
	}
	/* Who names such a chain reads a method for each. */
	if (count + levels_of(d, node) > MAX_LEVELS)
		return -EBADMSG;
	while (count-- > 0 && !r)
		r = add_node(d, chain[count].offset, &chain[count].scope, node, &node);
	*ret_node = node;
	return r;
}

static int32_t pc_field(const struct decoder *d, uint64_t desc, uint32_t field)
{
	int32_t value;

	memcpy(&value, d->pc_descs + desc * d->layout->pc_bytes + field, sizeof(value));
	return value;
}

/* The first and the last PcDesc only bound the others: -1 and INT_MAX. */
static int decode(struct decoder *d, uint64_t pc_bytes)
{
	int64_t last = -1;

	for (uint64_t i = 0; i < pc_bytes / d->layout->pc_bytes; i++) {
		int32_t offset = pc_field(d, i, d->layout->pc_offset);
		int32_t scope = pc_field(d, i, d->layout->pc_scope);
		struct code_pc pc = { (uint32_t)offset, CODE_NO_NODE };
		int r;

		if (offset < 0 || offset == INT32_MAX)
			continue;
		if (offset <= last || scope < 0)
			return -EBADMSG;
		last = offset;
		r = scope == NO_SCOPE ? 0 : node_of(d, (uint32_t)scope, &pc.node);
		if (r < 0)
			return r;
		vec_push(&d->pcs, pc);
	}
	return d->nodes.len ? 0 : -ENODATA;
}

static void release(struct decoder *d)
{
	hmap_release(&d->node_of_scope);
	hmap_release(&d->method_of_item);
	vec_release(&d->pcs);
	vec_release(&d->nodes);
	vec_release(&d->items);
}

/* --- all of it -------------------------------------------------------------------------------- */

static size_t block_bytes(size_t pcs, size_t nodes, size_t methods)
{
	return sizeof(struct code_scopes) + methods * sizeof(uint64_t) +
	       pcs * sizeof(struct code_pc) + nodes * sizeof(struct code_node);
}

size_t code_scopes_bytes(const struct code_scopes *scopes)
{
	return block_bytes(scopes->pc_count, scopes->node_count, scopes->method_count);
}

/* TABLE: the JVM's, as far as it is needed. */
static struct code_scopes *pack(const struct decoder *d, const uint64_t *table, uint64_t code_start)
{
	struct code_scopes *scopes = xmalloc(block_bytes(d->pcs.len, d->nodes.len, d->items.len));
	uint64_t *methods = (uint64_t *)(scopes + 1);
	struct code_pc *pcs = (struct code_pc *)(methods + d->items.len);
	struct code_node *nodes = (struct code_node *)(pcs + d->pcs.len);

	for (size_t i = 0; i < d->items.len; i++)
		methods[i] = table[d->items.items[i] - 1];
	memcpy(pcs, d->pcs.items, d->pcs.len * sizeof(*pcs));
	memcpy(nodes, d->nodes.items, d->nodes.len * sizeof(*nodes));
	*scopes = (struct code_scopes){ code_start,
					(uint32_t)d->pcs.len,
					(uint32_t)d->nodes.len,
					(uint32_t)d->items.len,
					pcs,
					nodes,
					methods };
	return scopes;
}

static int read_methods(const struct vm_memory *memory, const struct decoder *d,
			const struct place *place, struct code_scopes **ret_scopes)
{
	_cleanup_free_ uint64_t *table = xcalloc(d->max_item, WORD_BYTES);
	int r = vm_memory_read(memory, place->methods, table, (size_t)d->max_item * WORD_BYTES);

	if (r == 0)
		*ret_scopes = pack(d, table, place->code_start);
	return r;
}

/* As many methods as an nmethod may be expected to name; of more the table is read by itself. */
#define METHODS_AHEAD 32

void code_scopes_want(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
		      const struct scopes_layout *scopes, const struct code_blob *blob)
{
	struct place p;

	if (find_place(&reader->memory, &layout->wire, scopes, blob, &p) < 0)
		return;
	if (scopes->place == SCOPES_IN_BLOCK) {
		vm_ahead_want(reader, p.pcs, p.pc_bytes + p.scope_bytes);
		vm_ahead_want(reader, p.methods, METHODS_AHEAD * WORD_BYTES);
	} else {
		vm_ahead_want(reader, p.methods, p.pcs + p.pc_bytes - p.methods);
	}
}

int code_scopes_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		     const struct scopes_layout *scopes_layout, const struct code_blob *blob,
		     struct code_scopes **ret_scopes)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct decoder d = { .layout = scopes_layout };
	struct place place;
	int r = find_place(memory, &layout->wire, scopes_layout, blob, &place);

	if (r < 0)
		return r;
	bytes = xmalloc(place.pc_bytes + place.scope_bytes);
	const struct vm_span spans[] = {
		{ place.pcs, bytes, place.pc_bytes },
		{ place.scopes, bytes + place.pc_bytes, place.scope_bytes },
	};
	r = memory->read(memory, spans, ARRAY_SIZE(spans));
	if (r < 0)
		return r;
	d.pc_descs = bytes;
	d.scopes = (struct unsigned5){ bytes + place.pc_bytes, place.scope_bytes, 0,
				       layout->unsigned5_bias };
	r = decode(&d, place.pc_bytes);
	if (r == 0)
		r = read_methods(memory, &d, &place, ret_scopes);
	release(&d);
	return r;
}

uint32_t code_scopes_find(const struct code_scopes *scopes, uint64_t address)
{
	if (address < scopes->code_start || address - scopes->code_start > INT32_MAX)
		return CODE_NO_NODE;
	return code_chain_find(scopes->pcs, scopes->pc_count,
			       (uint32_t)(address - scopes->code_start));
}
