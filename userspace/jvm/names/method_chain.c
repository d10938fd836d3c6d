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

/* A gathered read in the making. */
struct gather {
	struct vm_span spans[VM_MEMORY_MAX_SPANS];
	unsigned int count;
};

static void gather_add(struct gather *g, uint64_t address, void *data, size_t len)
{
	g->spans[g->count++] = (struct vm_span){ address, data, len };
}

#define GATHER(g, address, variable) gather_add(g, address, &(variable), sizeof(variable))

static int gather_read(const struct gather *g, const struct vm_memory *memory)
{
	int r = memory->read(memory, g->spans, g->count);

	return r == -EFAULT ? -EBADMSG : r;
}

static uint64_t pool_entry(const struct jvm_layout *l, uint64_t pool, uint16_t index)
{
	return pool + l->pool_bytes + (uint64_t)index * POOL_ENTRY_BYTES;
}

static int read_const_method(const struct vm_memory *memory, const struct jvm_layout *l,
			     struct method_chain *c)
{
	uint64_t now = 0;
	struct gather g = { .count = 0 };
	int r;

	GATHER(&g, c->method + l->method_const_method, now);
	GATHER(&g, c->const_method + l->const_method_constants, c->pool);
	GATHER(&g, c->const_method + l->const_method_name_index, c->name_index);
	GATHER(&g, c->const_method + l->const_method_code_size, c->code_size);
	GATHER(&g, c->const_method + l->const_method_size_words, c->size_words);
	if (l->const_method_flags != JVM_LAYOUT_ABSENT)
		GATHER(&g, c->const_method + l->const_method_flags, c->flags);
	if (l->wire.const_method_ids)
		GATHER(&g, c->const_method + l->wire.const_method_ids, c->ids);
	r = gather_read(&g, memory);
	if (r < 0)
		return r;
	return now == c->const_method ? 0 : -ESTALE;
}

static int read_pool(const struct vm_memory *memory, const struct jvm_layout *l,
		     struct method_chain *c)
{
	struct gather g = { .count = 0 };
	int r;

	GATHER(&g, c->pool + l->pool_holder, c->holder);
	GATHER(&g, pool_entry(l, c->pool, c->name_index), c->name_symbol);
	if (l->pool_source_index != JVM_LAYOUT_ABSENT)
		GATHER(&g, c->pool + l->pool_source_index, c->source_index);
	r = gather_read(&g, memory);
	c->name_symbol &= ~POINTER_MARK;
	return r;
}

static int read_klass(const struct vm_memory *memory, const struct jvm_layout *l,
		      struct method_chain *c)
{
	struct gather g = { .count = 0 };
	int r;

	GATHER(&g, c->holder + l->klass_name, c->class_symbol);
	if (l->pool_source_index == JVM_LAYOUT_ABSENT && l->klass_source_index != JVM_LAYOUT_ABSENT)
		GATHER(&g, c->holder + l->klass_source_index, c->source_index);
	r = gather_read(&g, memory);
	return r;
}

/*
 * The pools of method handle intrinsics have nothing behind their source's index: a source that
 * cannot be read costs no name.
 */
static void read_source(const struct vm_memory *memory, const struct jvm_layout *l,
			struct method_chain *c)
{
	struct gather g = { .count = 0 };

	if (!c->source_index)
		return;
	GATHER(&g, pool_entry(l, c->pool, c->source_index), c->source_symbol);
	if (gather_read(&g, memory) < 0)
		c->source_symbol = 0;
	c->source_symbol &= ~POINTER_MARK;
	if (!c->source_symbol)
		return;
	g.count = 0;
	GATHER(&g, c->source_symbol + l->symbol_length, c->source_len);
	if (gather_read(&g, memory) < 0)
		c->source_symbol = c->source_len = 0;
}

static int read_lengths(const struct vm_memory *memory, const struct jvm_layout *l,
			struct method_chain *c)
{
	struct gather g = { .count = 0 };
	uint64_t word;
	int r;

	GATHER(&g, c->class_symbol, word);
	GATHER(&g, c->class_symbol + l->symbol_length, c->class_len);
	GATHER(&g, c->name_symbol + l->symbol_length, c->name_len);
	r = gather_read(&g, memory);
	if (r < 0)
		return r;
	c->identity = WIRE_METHOD_IDENTITY(
		WIRE_CLASS_IDENTITY(c->class_symbol, word, l->symbol_mask), c->ids);
	return c->class_len && c->name_len ? 0 : -EBADMSG;
}

static int read_chain(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t method, uint64_t const_method, struct method_chain *ret_chain)
{
	struct method_chain c = { .method = method, .const_method = const_method };
	int r;

	if (!method || !const_method || method % WORD_BYTES || const_method % WORD_BYTES)
		return -EBADMSG;
	r = read_const_method(memory, layout, &c);
	if (!r)
		r = read_pool(memory, layout, &c);
	if (!r)
		r = read_klass(memory, layout, &c);
	if (!r)
		r = read_lengths(memory, layout, &c);
	if (r < 0)
		return r;
	read_source(memory, layout, &c);
	*ret_chain = c;
	return 0;
}

int method_chain_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t method, uint64_t const_method, uint64_t identity,
		      struct method_chain *ret_chain)
{
	struct method_chain c;
	int r = read_chain(memory, layout, method, const_method, &c);

	if (r < 0)
		return r;
	if (c.identity != identity)
		return -ESTALE;
	*ret_chain = c;
	return 0;
}

int method_chain_follow(const struct vm_memory *memory, const struct jvm_layout *layout,
			uint64_t method, struct method_chain *ret_chain)
{
	struct gather g = { .count = 0 };
	uint64_t const_method = 0;
	int r;

	GATHER(&g, method + layout->method_const_method, const_method);
	r = gather_read(&g, memory);
	return r ? r : read_chain(memory, layout, method, const_method, ret_chain);
}

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

int method_chain_read_text(const struct vm_memory *memory, const struct jvm_layout *layout,
			   const struct method_chain *c, struct method_text *ret_text)
{
	size_t class_len = MIN(c->class_len, METHOD_MAX_NAME);
	size_t name_len = MIN(c->name_len, METHOD_MAX_NAME);
	size_t source_len = MIN(c->source_len, METHOD_MAX_NAME);
	struct gather g = { .count = 0 };
	int r;

	gather_add(&g, c->class_symbol + layout->symbol_body, ret_text->class_name, class_len);
	gather_add(&g, c->name_symbol + layout->symbol_body, ret_text->name, name_len);
	r = gather_read(&g, memory);
	if (r < 0)
		return r;
	if (source_len && vm_memory_read(memory, c->source_symbol + layout->symbol_body,
					 ret_text->source, source_len) < 0)
		source_len = 0;
	finish_text(ret_text->class_name, class_len, class_len < c->class_len);
	finish_text(ret_text->name, name_len, name_len < c->name_len);
	finish_text(ret_text->source, source_len, source_len < c->source_len);
	return 0;
}

int method_chain_read_lines(const struct vm_memory *memory, const struct jvm_layout *layout,
			    const struct method_chain *c, struct strbuf *out)
{
	int64_t head = (int64_t)layout->const_method_bytes + c->code_size;
	int64_t bytes = (int64_t)c->size_words * WORD_BYTES - head;
	size_t len = (size_t)MIN(MAX(bytes, 0), MAX_LINE_BYTES);
	int r;

	if (!(c->flags & HAS_LINES) || !len)
		return 0;
	strbuf_grow(out, len);
	r = vm_memory_read(memory, c->const_method + (uint64_t)head, out->buf + out->len, len);
	if (r < 0)
		return r == -EFAULT ? -EBADMSG : r;
	out->len += len;
	out->buf[out->len] = 0;
	return 0;
}
