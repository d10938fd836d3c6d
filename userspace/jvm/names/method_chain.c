/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_chain.h"

#include <errno.h>

static int gather_read(const struct vm_gather *g, const struct vm_memory *memory)
{
	int r = vm_gather_read(g, memory);

	return r == -EFAULT ? -EBADMSG : r;
}

/* --- the way ---------------------------------------------------------------------------------- */

/* The step that reads most of each: want_const_method(). */
_Static_assert(8 * METHOD_CHAINS_AT_ONCE <= VM_MEMORY_MAX_SPANS, "a step is one read");

/* A method on its way, and what is read beside the chain. */
struct walker {
	struct method_chain c;
	uint64_t const_method_now, class_word;
	const struct walker *mate; /* of the same class, before it: that is read once; NULL */
	int error;
};

static void want_method(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	VM_GATHER(g, w->c.method + l->method_const_method, w->c.const_method);
}

static int take_method(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	return w->c.const_method && w->c.const_method % METHOD_WORD_BYTES == 0 ? 0 : -EBADMSG;
}

static void want_const_method(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	VM_GATHER(g, c->method + l->method_const_method, w->const_method_now);
	VM_GATHER(g, c->const_method + l->const_method_constants, c->pool);
	VM_GATHER(g, c->const_method + l->const_method_name_index, c->name_index);
	VM_GATHER(g, c->const_method + l->const_method_signature_index, c->descriptor_index);
	VM_GATHER(g, c->const_method + l->const_method_code_size, c->code_size);
	VM_GATHER(g, c->const_method + l->const_method_size_words, c->size_words);
	if (l->const_method_flags != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, c->const_method + l->const_method_flags, c->flags);
	if (l->wire.const_method_ids)
		VM_GATHER(g, c->const_method + l->wire.const_method_ids, c->ids);
}

static int take_const_method(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	return w->const_method_now == w->c.const_method ? 0 : -ESTALE;
}

static void want_pool(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	VM_GATHER(g, method_pool_entry(l, c->pool, c->name_index), c->name_symbol);
	VM_GATHER(g, method_pool_entry(l, c->pool, c->descriptor_index), c->descriptor_symbol);
	if (w->mate)
		return;
	VM_GATHER(g, c->pool + l->pool_holder, c->holder);
	if (l->pool_source_index != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, c->pool + l->pool_source_index, c->source_index);
}

static int take_pool(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	w->c.name_symbol &= ~METHOD_POINTER_MARK;
	w->c.descriptor_symbol &= ~METHOD_POINTER_MARK;
	if (w->mate)
		w->c.holder = w->mate->c.holder;
	return 0;
}

static void want_klass(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	if (w->mate)
		return;
	VM_GATHER(g, c->holder + l->klass_name, c->class_symbol);
	if (l->pool_source_index == JVM_LAYOUT_ABSENT && l->klass_source_index != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, c->holder + l->klass_source_index, c->source_index);
}

static int take_klass(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	if (w->mate) {
		w->c.class_symbol = w->mate->c.class_symbol;
		w->c.source_index = w->mate->c.source_index;
	}
	return 0;
}

static void want_symbols(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	VM_GATHER(g, c->name_symbol + l->symbol_length, c->name_len);
	if (c->descriptor_symbol)
		VM_GATHER(g, c->descriptor_symbol + l->symbol_length, c->descriptor_len);
	if (w->mate)
		return;
	VM_GATHER(g, c->class_symbol, w->class_word);
	VM_GATHER(g, c->class_symbol + l->symbol_length, c->class_len);
}

static int take_symbols(const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	if (w->mate) {
		w->class_word = w->mate->class_word;
		c->class_len = w->mate->c.class_len;
	}
	c->identity = WIRE_METHOD_IDENTITY(
		WIRE_CLASS_IDENTITY(c->class_symbol, w->class_word, l->symbol_mask), c->ids);
	return c->class_len && c->name_len ? 0 : -EBADMSG;
}

static void want_source(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	if (w->c.source_index && !w->mate)
		VM_GATHER(g, method_pool_entry(l, w->c.pool, w->c.source_index),
			  w->c.source_symbol);
}

static int take_source(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	w->c.source_symbol &= ~METHOD_POINTER_MARK;
	if (w->mate)
		w->c.source_symbol = w->mate->c.source_symbol;
	return 0;
}

static void want_source_length(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	if (w->c.source_symbol && !w->mate)
		VM_GATHER(g, w->c.source_symbol + l->symbol_length, w->c.source_len);
}

static int take_source_length(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	if (w->mate)
		w->c.source_len = w->mate->c.source_len;
	return 0;
}

/*
 * Each is one read, of all methods that go the way together. The pools of method handle intrinsics have
 * nothing behind their source's index: a source that cannot be read costs no name.
 */
static const struct step {
	void (*want)(struct vm_gather *g, const struct jvm_layout *l, struct walker *w);
	int (*take)(const struct jvm_layout *l, struct walker *w);
	bool of_source;
} steps[] = {
	{ want_method, take_method, false },
	{ want_const_method, take_const_method, false },
	{ want_pool, take_pool, false },
	{ want_klass, take_klass, false },
	{ want_symbols, take_symbols, false },
	{ want_source, take_source, true },
	{ want_source_length, take_source_length, true },
};

/* Whose ConstMethod is known begins with this one. */
#define STEP_CONST_METHOD 1

static void step_alone(const struct vm_memory *memory, const struct jvm_layout *l,
		       const struct step *step, struct walker *w)
{
	struct vm_gather g = { .count = 0 };
	int r;

	step->want(&g, l, w);
	r = gather_read(&g, memory);
	if (r == 0)
		r = step->take(l, w);
	if (r < 0 && step->of_source)
		w->c.source_symbol = w->c.source_len = 0;
	else
		w->error = r;
}

/* One that cannot be read must not take the others with it. */
static void step_together(const struct vm_memory *memory, const struct jvm_layout *l,
			  const struct step *step, struct walker *walkers, unsigned int count)
{
	struct vm_gather g = { .count = 0 };

	for (unsigned int i = 0; i < count; i++)
		if (!walkers[i].error)
			step->want(&g, l, &walkers[i]);
	if (gather_read(&g, memory) < 0) {
		for (unsigned int i = 0; i < count; i++)
			if (!walkers[i].error)
				step_alone(memory, l, step, &walkers[i]);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		if (!walkers[i].error)
			walkers[i].error = step->take(l, &walkers[i]);
}

static void find_mates(struct walker *walkers, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		for (unsigned int k = 0; k < i && !walkers[i].mate; k++)
			if (!walkers[k].error && !walkers[k].mate &&
			    walkers[k].c.pool == walkers[i].c.pool)
				walkers[i].mate = &walkers[k];
}

static void walk(const struct vm_memory *memory, const struct jvm_layout *l, size_t first_step,
		 struct walker *walkers, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!walkers[i].c.method || walkers[i].c.method % METHOD_WORD_BYTES)
			walkers[i].error = -EBADMSG;
	for (size_t i = first_step; i < ARRAY_SIZE(steps); i++) {
		step_together(memory, l, &steps[i], walkers, count);
		if (i == STEP_CONST_METHOD)
			find_mates(walkers, count);
	}
}

/* The one that spoke for its class has failed. */
static void walk_without_mate(const struct vm_memory *memory, const struct jvm_layout *l,
			      struct walker *w)
{
	if (!w->mate || !w->mate->error)
		return;
	*w = (struct walker){ .c.method = w->c.method };
	walk(memory, l, 0, w, 1);
}

int method_chain_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t method, uint64_t const_method, uint64_t identity,
		      struct method_chain *ret_chain)
{
	struct walker w = { .c = { .method = method, .const_method = const_method } };

	if (take_method(layout, &w) < 0)
		return -EBADMSG;
	walk(memory, layout, STEP_CONST_METHOD, &w, 1);
	if (w.error)
		return w.error;
	if (w.c.identity != identity)
		return -ESTALE;
	*ret_chain = w.c;
	return 0;
}

void method_chains_follow(const struct vm_memory *memory, const struct jvm_layout *layout,
			  const uint64_t *methods, unsigned int count,
			  struct method_chain *ret_chains, int *ret_errors)
{
	struct walker walkers[METHOD_CHAINS_AT_ONCE];

	for (unsigned int done = 0; done < count; done += METHOD_CHAINS_AT_ONCE) {
		unsigned int some = MIN(count - done, METHOD_CHAINS_AT_ONCE);

		for (unsigned int i = 0; i < some; i++)
			walkers[i] = (struct walker){ .c.method = methods[done + i] };
		walk(memory, layout, 0, walkers, some);
		for (unsigned int i = 0; i < some; i++) {
			walk_without_mate(memory, layout, &walkers[i]);
			ret_chains[done + i] = walkers[i].c;
			ret_errors[done + i] = walkers[i].error;
		}
	}
}
