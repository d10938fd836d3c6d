/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_chain.h"

#include <errno.h>
#include <string.h>

/* share/oops/constMethodFlags.hpp: has_linenumber_table, in every release. */
#define HAS_LINES 1

/* A table takes about two bytes per line; the largest methods have 64 KiB of bytecodes. */
#define MAX_LINE_BYTES (64 << 10)

#define POOL_ENTRY_BYTES 8
#define WORD_BYTES	 8
/* Resolved entries had the lowest bit as a mark in JDK 8. */
#define POINTER_MARK 1ULL

static int gather_read(const struct vm_gather *g, const struct vm_memory *memory)
{
	int r = vm_gather_read(g, memory);

	return r == -EFAULT ? -EBADMSG : r;
}

static uint64_t pool_entry(const struct jvm_layout *l, uint64_t pool, uint16_t index)
{
	return pool + l->pool_bytes + (uint64_t)index * POOL_ENTRY_BYTES;
}

/* --- the way ---------------------------------------------------------------------------------- */

/* A method on its way, and what is read beside the chain. */
struct walker {
	struct method_chain c;
	uint64_t const_method_now, class_word;
	int error;
};

static void want_method(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	VM_GATHER(g, w->c.method + l->method_const_method, w->c.const_method);
}

static int take_method(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	return w->c.const_method && w->c.const_method % WORD_BYTES == 0 ? 0 : -EBADMSG;
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

	VM_GATHER(g, c->pool + l->pool_holder, c->holder);
	VM_GATHER(g, pool_entry(l, c->pool, c->name_index), c->name_symbol);
	VM_GATHER(g, pool_entry(l, c->pool, c->descriptor_index), c->descriptor_symbol);
	if (l->pool_source_index != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, c->pool + l->pool_source_index, c->source_index);
}

static int take_pool(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	w->c.name_symbol &= ~POINTER_MARK;
	w->c.descriptor_symbol &= ~POINTER_MARK;
	return 0;
}

static void want_klass(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	VM_GATHER(g, c->holder + l->klass_name, c->class_symbol);
	if (l->pool_source_index == JVM_LAYOUT_ABSENT && l->klass_source_index != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, c->holder + l->klass_source_index, c->source_index);
}

static int take_klass(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	(void)w;
	return 0;
}

static void want_symbols(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	VM_GATHER(g, c->class_symbol, w->class_word);
	VM_GATHER(g, c->class_symbol + l->symbol_length, c->class_len);
	VM_GATHER(g, c->name_symbol + l->symbol_length, c->name_len);
	if (c->descriptor_symbol)
		VM_GATHER(g, c->descriptor_symbol + l->symbol_length, c->descriptor_len);
}

static int take_symbols(const struct jvm_layout *l, struct walker *w)
{
	struct method_chain *c = &w->c;

	c->identity = WIRE_METHOD_IDENTITY(
		WIRE_CLASS_IDENTITY(c->class_symbol, w->class_word, l->symbol_mask), c->ids);
	return c->class_len && c->name_len ? 0 : -EBADMSG;
}

static void want_source(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	if (w->c.source_index)
		VM_GATHER(g, pool_entry(l, w->c.pool, w->c.source_index), w->c.source_symbol);
}

static int take_source(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	w->c.source_symbol &= ~POINTER_MARK;
	return 0;
}

static void want_source_length(struct vm_gather *g, const struct jvm_layout *l, struct walker *w)
{
	if (w->c.source_symbol)
		VM_GATHER(g, w->c.source_symbol + l->symbol_length, w->c.source_len);
}

static int take_source_length(const struct jvm_layout *l, struct walker *w)
{
	(void)l;
	(void)w;
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

static void walk(const struct vm_memory *memory, const struct jvm_layout *l, size_t first_step,
		 struct walker *walkers, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!walkers[i].c.method || walkers[i].c.method % WORD_BYTES)
			walkers[i].error = -EBADMSG;
	for (size_t i = first_step; i < ARRAY_SIZE(steps); i++)
		step_together(memory, l, &steps[i], walkers, count);
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
			ret_chains[done + i] = walkers[i].c;
			ret_errors[done + i] = walkers[i].error;
		}
	}
}

/* --- what is there ---------------------------------------------------------------------------- */

/* End TEXT of LEN bytes; of a cut name not half a character stays. Control characters go. */
static void finish_text(char *text, size_t len, bool cut)
{
	while (cut && len && (unsigned char)text[len - 1] >= 0x80)
		len--;
	text[len] = 0;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
}

/* 0: none that can be shown. */
static size_t descriptor_bytes(const struct method_chain *c)
{
	return c->descriptor_len <= JAVA_MAX_DESCRIPTOR ? c->descriptor_len : 0;
}

/* Where the line table is; 0 bytes when the method has none. */
static size_t line_bytes(const struct jvm_layout *layout, const struct method_chain *c,
			 uint64_t *ret_address)
{
	int64_t head = (int64_t)layout->const_method_bytes + c->code_size;
	int64_t bytes = (int64_t)c->size_words * WORD_BYTES - head;

	*ret_address = c->const_method + (uint64_t)head;
	return c->flags & HAS_LINES ? (size_t)MIN(MAX(bytes, 0), MAX_LINE_BYTES) : 0;
}

/* The same words again, after what they lead to: pieces of a read are read one after the other. */
struct second_look {
	uint64_t const_method, pool, ids, holder, name_symbol, descriptor_symbol, class_symbol;
	uint64_t class_word;
};

static void look_again(struct vm_gather *g, const struct jvm_layout *l,
		       const struct method_chain *c, struct second_look *look)
{
	look->ids = c->ids;
	VM_GATHER(g, c->method + l->method_const_method, look->const_method);
	VM_GATHER(g, c->const_method + l->const_method_constants, look->pool);
	if (l->wire.const_method_ids)
		VM_GATHER(g, c->const_method + l->wire.const_method_ids, look->ids);
	VM_GATHER(g, c->pool + l->pool_holder, look->holder);
	VM_GATHER(g, pool_entry(l, c->pool, c->name_index), look->name_symbol);
	VM_GATHER(g, pool_entry(l, c->pool, c->descriptor_index), look->descriptor_symbol);
	VM_GATHER(g, c->holder + l->klass_name, look->class_symbol);
	VM_GATHER(g, c->class_symbol, look->class_word);
}

static bool is_same(const struct jvm_layout *l, const struct method_chain *c,
		    const struct second_look *look)
{
	uint64_t class_identity =
		WIRE_CLASS_IDENTITY(look->class_symbol, look->class_word, l->symbol_mask);

	return look->const_method == c->const_method && look->pool == c->pool &&
	       look->holder == c->holder && look->class_symbol == c->class_symbol &&
	       (look->name_symbol & ~POINTER_MARK) == c->name_symbol &&
	       (look->descriptor_symbol & ~POINTER_MARK) == c->descriptor_symbol &&
	       WIRE_METHOD_IDENTITY(class_identity, look->ids) == c->identity;
}

enum {
	WITH_SOURCE = 1,
	WITH_LINES = 2,
};

/* Texts, as WITH says, and the second look, in one read. */
static int read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
		      const struct method_chain *c, unsigned int with, struct method_text *text,
		      struct strbuf *lines)
{
	size_t class_len = MIN(c->class_len, METHOD_MAX_NAME);
	size_t name_len = MIN(c->name_len, METHOD_MAX_NAME);
	size_t source_len = with & WITH_SOURCE ? MIN(c->source_len, METHOD_MAX_NAME) : 0;
	size_t descriptor_len = descriptor_bytes(c);
	uint64_t line_address;
	size_t line_len = with & WITH_LINES ? line_bytes(layout, c, &line_address) : 0;
	struct second_look look;
	struct vm_gather g = { .count = 0 };
	int r;

	vm_gather_add(&g, c->class_symbol + layout->symbol_body, text->class_name, class_len);
	vm_gather_add(&g, c->name_symbol + layout->symbol_body, text->name, name_len);
	if (descriptor_len)
		vm_gather_add(&g, c->descriptor_symbol + layout->symbol_body, text->descriptor,
			      descriptor_len);
	if (source_len)
		vm_gather_add(&g, c->source_symbol + layout->symbol_body, text->source, source_len);
	if (line_len) {
		strbuf_grow(lines, line_len);
		vm_gather_add(&g, line_address, lines->buf + lines->len, line_len);
	}
	look_again(&g, layout, c, &look);
	r = gather_read(&g, memory);
	if (r < 0)
		return r;
	if (!is_same(layout, c, &look))
		return -ESTALE;
	if (line_len) {
		lines->len += line_len;
		lines->buf[lines->len] = '\0';
	}
	finish_text(text->class_name, class_len, class_len < c->class_len);
	finish_text(text->name, name_len, name_len < c->name_len);
	finish_text(text->source, source_len, source_len < c->source_len);
	finish_text(text->descriptor, descriptor_len, false);
	return 0;
}

int method_chain_read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
			    const struct method_chain *chain, struct method_text *ret_text,
			    struct strbuf *lines)
{
	static const unsigned int tries[] = { WITH_SOURCE | WITH_LINES, WITH_SOURCE, WITH_LINES,
					      0 };
	int r = -EBADMSG;

	for (unsigned int i = 0; i < ARRAY_SIZE(tries) && r == -EBADMSG; i++)
		r = read_names(memory, layout, chain, tries[i], ret_text, lines);
	return r;
}
