/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_chain.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

/* What is read of a method, each where an earlier one leads. */
enum place {
	METHOD, /* its ConstMethod */
	CONST_METHOD,
	POOL,
	NAME_ENTRY,
	DESCRIPTOR_ENTRY,
	KLASS,		 /* its name */
	KLASS_OF_SOURCE, /* of JDK 8 to 16: the source's index */
	SOURCE_ENTRY,
	NAME,
	DESCRIPTOR,
	CLASS,
	SOURCE,
	PLACES,
};

_Static_assert(METHOD_CHAINS_AT_ONCE *PLACES <= WALL_MAX_HOPS, "all is one call");

/* Most names end in it, and so do most line tables: one read less. The rest is read when it is needed. */
#define TEXT_AHEAD 64
#define CODE_AHEAD 256

/* --- where to ------------------------------------------------------------------------------------------------------------ */

static struct wall_hop hop_to(size_t offset, size_t len, unsigned int base, size_t base_at)
{
	return (struct wall_hop){ .address = offset,
				  .len = (uint32_t)len,
				  .base = (uint16_t)base,
				  .base_at = (uint16_t)base_at,
				  .index = WALL_NO_HOP };
}

/* The entry of the pool whose index stands AT in FROM. */
static struct wall_hop hop_to_entry(const struct jvm_layout *l, unsigned int first,
				    unsigned int from, size_t at)
{
	struct wall_hop hop = hop_to(l->pool_bytes, METHOD_WORD_BYTES, first + CONST_METHOD,
				     l->const_method_constants);

	hop.index = (uint16_t)(first + from);
	hop.index_at = (uint16_t)at;
	return hop;
}

/* The Symbol that ENTRY leads to, and what fits of its text. */
static struct wall_hop hop_to_symbol(const struct jvm_layout *l, unsigned int entry)
{
	size_t len = MAX((size_t)METHOD_WORD_BYTES, l->symbol_length + sizeof(uint16_t));
	struct wall_hop hop = hop_to(0, MAX(len, (size_t)l->symbol_body), entry, 0);

	hop.more = TEXT_AHEAD;
	return hop;
}

/* No read: this release has no such thing. */
static const struct wall_hop no_hop = { .base = WALL_NO_HOP, .index = WALL_NO_HOP };

static void plan_source(const struct jvm_layout *l, unsigned int first, struct wall_hop *hops)
{
	hops[KLASS_OF_SOURCE] = hops[SOURCE_ENTRY] = hops[SOURCE] = no_hop;
	if (l->pool_source_index != JVM_LAYOUT_ABSENT) {
		hops[SOURCE_ENTRY] = hop_to_entry(l, first, POOL, l->pool_source_index);
	} else if (l->klass_source_index != JVM_LAYOUT_ABSENT) {
		hops[KLASS_OF_SOURCE] = hop_to(l->klass_source_index, sizeof(uint16_t),
					       first + POOL, l->pool_holder);
		hops[SOURCE_ENTRY] = hop_to_entry(l, first, KLASS_OF_SOURCE, 0);
	} else {
		return;
	}
	hops[SOURCE] = hop_to_symbol(l, first + SOURCE_ENTRY);
}

/* Of all PLACES; FIRST is the number of the first one. */
static void plan(const struct jvm_layout *l, uint64_t method, unsigned int first,
		 struct wall_hop *hops)
{
	size_t ids_end = l->wire.const_method_ids + sizeof(uint64_t);

	hops[METHOD] = hop_to(method + l->method_const_method, METHOD_WORD_BYTES, WALL_NO_HOP, 0);
	hops[CONST_METHOD] = hop_to(0, MAX(l->const_method_bytes, ids_end), first + METHOD, 0);
	hops[CONST_METHOD].more = CODE_AHEAD;
	hops[POOL] = hop_to(0, l->pool_bytes, first + CONST_METHOD, l->const_method_constants);
	hops[NAME_ENTRY] = hop_to_entry(l, first, CONST_METHOD, l->const_method_name_index);
	hops[DESCRIPTOR_ENTRY] =
		hop_to_entry(l, first, CONST_METHOD, l->const_method_signature_index);
	hops[KLASS] = hop_to(l->klass_name, METHOD_WORD_BYTES, first + POOL, l->pool_holder);
	hops[NAME] = hop_to_symbol(l, first + NAME_ENTRY);
	hops[DESCRIPTOR] = hop_to_symbol(l, first + DESCRIPTOR_ENTRY);
	hops[CLASS] = hop_to_symbol(l, first + KLASS);
	plan_source(l, first, hops);
}

/* What tells whether it is still that method is read, and no names. */
static void leave_names_out(struct wall_hop *hops)
{
	static const enum place names[] = {
		NAME_ENTRY, DESCRIPTOR_ENTRY, KLASS_OF_SOURCE, SOURCE_ENTRY,
		NAME,	    DESCRIPTOR,	      SOURCE
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct wall_hop *hop = &hops[names[i]];
		uint32_t room = hop->len + hop->more;

		*hop = no_hop;
		hop->more = room;
	}
}

/* --- what is there ------------------------------------------------------------------------------------------------------- */

/* Of one method. */
struct found {
	const struct jvm_layout *layout;
	const struct wall_hop *hops;
	const uint8_t *data[PLACES];
};

static bool take(const struct found *f, enum place place, size_t offset, void *value, size_t len)
{
	if (f->hops[place].len < offset + len)
		return false;
	memcpy(value, f->data[place] + offset, len);
	return true;
}

#define TAKE(f, place, offset, variable) take(f, place, offset, &(variable), sizeof(variable))

static struct method_ahead rest_of(const struct found *f, enum place place, size_t offset)
{
	if (f->hops[place].len <= offset)
		return (struct method_ahead){ NULL, 0 };
	return (struct method_ahead){ f->data[place] + offset, f->hops[place].len - offset };
}

static bool take_const_method(const struct found *f, struct method_chain *c)
{
	const struct jvm_layout *l = f->layout;

	if (l->const_method_flags != JVM_LAYOUT_ABSENT)
		TAKE(f, CONST_METHOD, l->const_method_flags, c->flags);
	if (l->wire.const_method_ids)
		TAKE(f, CONST_METHOD, l->wire.const_method_ids, c->ids);
	c->code = rest_of(f, CONST_METHOD, l->const_method_bytes);
	return TAKE(f, CONST_METHOD, l->const_method_constants, c->pool) &&
	       TAKE(f, CONST_METHOD, l->const_method_name_index, c->name_index) &&
	       TAKE(f, CONST_METHOD, l->const_method_signature_index, c->descriptor_index) &&
	       TAKE(f, CONST_METHOD, l->const_method_code_size, c->code_size) &&
	       TAKE(f, CONST_METHOD, l->const_method_size_words, c->size_words);
}

/* Its length, and where its text is; false: there is none. */
static bool take_symbol(const struct found *f, enum place place, uint64_t *symbol, uint16_t *len,
			struct method_ahead *ret_text)
{
	if (!TAKE(f, place, f->layout->symbol_length, *len)) {
		*symbol = 0;
		return false;
	}
	*symbol = f->hops[place].address;
	*ret_text = rest_of(f, place, f->layout->symbol_body);
	return true;
}

static bool take_identity(const struct found *f, struct method_chain *c)
{
	uint64_t word;

	if (!TAKE(f, POOL, f->layout->pool_holder, c->holder) ||
	    !take_symbol(f, CLASS, &c->class_symbol, &c->class_len, &c->class_name) ||
	    !TAKE(f, CLASS, 0, word))
		return false;
	c->identity = WIRE_METHOD_IDENTITY(
		WIRE_CLASS_IDENTITY(c->class_symbol, word, f->layout->symbol_mask), c->ids);
	return c->class_len;
}

/* What there is of a descriptor and a source; without them a name is whole. */
static bool take_names(const struct found *f, struct method_chain *c)
{
	take_symbol(f, DESCRIPTOR, &c->descriptor_symbol, &c->descriptor_len, &c->descriptor);
	take_symbol(f, SOURCE, &c->source_symbol, &c->source_len, &c->source);
	return take_symbol(f, NAME, &c->name_symbol, &c->name_len, &c->name) && c->name_len;
}

/* EXPECTED: its ConstMethod; 0: any. */
static int take_all(const struct found *f, uint64_t expected, bool known, struct method_chain *c)
{
	if (!TAKE(f, METHOD, 0, c->const_method))
		return -EBADMSG;
	if (expected && c->const_method != expected)
		return -ESTALE;
	if (!c->const_method || c->const_method % METHOD_WORD_BYTES || !take_const_method(f, c) ||
	    !take_identity(f, c))
		return -EBADMSG;
	return known || take_names(f, c) ? 0 : -EBADMSG;
}

/* --- the way ------------------------------------------------------------------------------------------------------------- */

struct walk {
	struct wall_hop hops[METHOD_CHAINS_AT_ONCE * PLACES];
	uint8_t *data;
	size_t at[PLACES]; /* in the data of a method */
	size_t bytes;	   /* of a method */
};

static bool is_aligned(uint64_t address)
{
	return address && address % METHOD_WORD_BYTES == 0;
}

static int read_all(const struct vm_memory *memory, const struct jvm_layout *layout,
		    const uint64_t *methods, const bool *known, unsigned int count,
		    struct walk *walk)
{
	int r;

	for (unsigned int i = 0; i < count; i++) {
		struct wall_hop *hops = walk->hops + (size_t)i * PLACES;

		plan(layout, is_aligned(methods[i]) ? methods[i] : 0, i * PLACES, hops);
		if (known[i])
			leave_names_out(hops);
	}
	for (unsigned int i = 0; i < PLACES; i++)
		walk->at[i] = wall_hops_bytes(walk->hops, i);
	walk->bytes = wall_hops_bytes(walk->hops, PLACES);
	walk->data = xmalloc(count * walk->bytes);
	r = vm_memory_follow(memory, walk->hops, count * PLACES, walk->data, count * walk->bytes);
	return r == -EINVAL || r == -E2BIG ? -EBADMSG : r;
}

static int take_one(const struct jvm_layout *layout, const struct walk *walk, unsigned int number,
		    uint64_t expected, bool known, struct method_chain *ret_chain)
{
	struct found f = { .layout = layout, .hops = walk->hops + (size_t)number * PLACES };

	for (unsigned int i = 0; i < PLACES; i++)
		f.data[i] = walk->data + number * walk->bytes + walk->at[i];
	return take_all(&f, expected, known, ret_chain);
}

uint8_t *method_chains_follow(const struct vm_memory *memory, const struct jvm_layout *layout,
			      const uint64_t *methods, const bool *known, unsigned int count,
			      struct method_chain *ret_chains, int *ret_errors)
{
	struct walk walk;
	int r = read_all(memory, layout, methods, known, count, &walk);

	for (unsigned int i = 0; i < count; i++) {
		ret_chains[i] = (struct method_chain){ .method = methods[i] };
		ret_errors[i] = is_aligned(methods[i]) ? r : -EBADMSG;
		if (!ret_errors[i])
			ret_errors[i] = take_one(layout, &walk, i, 0, known[i], &ret_chains[i]);
	}
	return walk.data;
}

int method_chain_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t method, uint64_t const_method, uint64_t identity,
		      struct method_chain *ret_chain, uint8_t **ret_bytes)
{
	struct method_chain chain = { .method = method };
	struct walk walk;
	int r = -EBADMSG;

	*ret_bytes = NULL;
	if (!is_aligned(method) || !is_aligned(const_method))
		return r;
	r = read_all(memory, layout, &method, &(bool){ false }, 1, &walk);
	*ret_bytes = walk.data;
	if (!r)
		r = take_one(layout, &walk, 0, const_method, false, &chain);
	if (!r && chain.identity != identity)
		r = -ESTALE;
	*ret_chain = chain;
	return r;
}
