/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_text.h"

#include <errno.h>
#include <string.h>

/* share/oops/constMethodFlags.hpp: has_linenumber_table, in every release. */
#define HAS_LINES 1

/* A table takes about two bytes per line; the largest methods have 64 KiB of bytecodes. */
#define MAX_LINE_BYTES (64 << 10)

static int gather_read(const struct vm_gather *g, const struct vm_memory *memory)
{
	int r = vm_gather_read(g, memory);

	return r == -EFAULT ? -EBADMSG : r;
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
	int64_t bytes = (int64_t)c->size_words * METHOD_WORD_BYTES - head;

	*ret_address = c->const_method + (uint64_t)head;
	return c->flags & HAS_LINES ? (size_t)MIN(MAX(bytes, 0), MAX_LINE_BYTES) : 0;
}

/* The same words again. */
struct second_look {
	uint64_t const_method, pool, ids, holder, name_symbol, descriptor_symbol, class_symbol;
	uint64_t class_word;
};

static bool is_same(const struct jvm_layout *l, const struct method_chain *c,
		    const struct second_look *look)
{
	uint64_t class_identity =
		WIRE_CLASS_IDENTITY(look->class_symbol, look->class_word, l->symbol_mask);

	return look->const_method == c->const_method && look->pool == c->pool &&
	       look->holder == c->holder && look->class_symbol == c->class_symbol &&
	       (look->name_symbol & ~METHOD_POINTER_MARK) == c->name_symbol &&
	       (look->descriptor_symbol & ~METHOD_POINTER_MARK) == c->descriptor_symbol &&
	       WIRE_METHOD_IDENTITY(class_identity, look->ids) == c->identity;
}

enum {
	WITH_SOURCE = 1,
	WITH_LINES = 2,
};

/* A chain whose names are read, and what is read. */
struct reading {
	const struct method_chain *c;
	struct method_text *text;
	size_t class_len, name_len, source_len, descriptor_len;
	uint64_t line_address;
	struct second_look look;
};

static struct reading plan(const struct jvm_layout *layout, const struct method_chain *c,
			   unsigned int with, struct method_text *text, struct strbuf *lines)
{
	struct reading rd = { .c = c,
			      .text = text,
			      .class_len = MIN(c->class_len, METHOD_MAX_NAME),
			      .name_len = MIN(c->name_len, METHOD_MAX_NAME),
			      .descriptor_len = descriptor_bytes(c) };

	if (with & WITH_SOURCE)
		rd.source_len = MIN(c->source_len, METHOD_MAX_NAME);
	text->line_bytes = with & WITH_LINES ? line_bytes(layout, c, &rd.line_address) : 0;
	text->line_at = lines->len;
	strbuf_grow(lines, text->line_bytes);
	lines->len += text->line_bytes;
	lines->buf[lines->len] = '\0';
	return rd;
}

/* LEN bytes at ADDRESS, unless they have been read from AHEAD's AT on. */
static void want(struct vm_gather *g, uint64_t address, void *data, size_t len,
		 const struct method_ahead *ahead, size_t at)
{
	if (at <= ahead->len && len <= ahead->len - at)
		memcpy(data, ahead->data + at, len);
	else
		vm_gather_add(g, address, data, len);
}

static void want_text(struct vm_gather *g, const struct jvm_layout *layout, uint64_t symbol,
		      char *text, size_t len, const struct method_ahead *ahead)
{
	if (len)
		want(g, symbol + layout->symbol_body, text, len, ahead, 0);
}

static void want_texts(struct vm_gather *g, const struct jvm_layout *layout, struct reading *rd,
		       struct strbuf *lines)
{
	const struct method_chain *c = rd->c;
	struct method_text *text = rd->text;

	want_text(g, layout, c->class_symbol, text->class_name, rd->class_len, &c->class_name);
	want_text(g, layout, c->name_symbol, text->name, rd->name_len, &c->name);
	want_text(g, layout, c->source_symbol, text->source, rd->source_len, &c->source);
	want_text(g, layout, c->descriptor_symbol, text->descriptor, rd->descriptor_len,
		  &c->descriptor);
	if (text->line_bytes)
		want(g, rd->line_address, lines->buf + text->line_at, text->line_bytes, &c->code,
		     c->code_size);
}

/* After what they lead to: pieces of a read are read one after the other. */
static void look_again(struct vm_gather *g, const struct jvm_layout *l, struct reading *rd)
{
	const struct method_chain *c = rd->c;
	struct second_look *look = &rd->look;

	look->ids = c->ids;
	VM_GATHER(g, c->method + l->method_const_method, look->const_method);
	VM_GATHER(g, c->const_method + l->const_method_constants, look->pool);
	if (l->wire.const_method_ids)
		VM_GATHER(g, c->const_method + l->wire.const_method_ids, look->ids);
	VM_GATHER(g, method_pool_entry(l, c->pool, c->name_index), look->name_symbol);
	VM_GATHER(g, method_pool_entry(l, c->pool, c->descriptor_index), look->descriptor_symbol);
	VM_GATHER(g, c->pool + l->pool_holder, look->holder);
	VM_GATHER(g, c->holder + l->klass_name, look->class_symbol);
	VM_GATHER(g, c->class_symbol, look->class_word);
}

static void finish_texts(const struct reading *rd)
{
	const struct method_chain *c = rd->c;
	struct method_text *text = rd->text;

	finish_text(text->class_name, rd->class_len, rd->class_len < c->class_len);
	finish_text(text->name, rd->name_len, rd->name_len < c->name_len);
	finish_text(text->source, rd->source_len, rd->source_len < c->source_len);
	finish_text(text->descriptor, rd->descriptor_len, false);
}

static int read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
		      const struct method_chain *c, unsigned int with, struct method_text *text,
		      struct strbuf *lines)
{
	size_t before = lines->len;
	struct reading rd = plan(layout, c, with, text, lines);
	struct vm_gather g;
	int r;

	vm_gather_init(&g);
	want_texts(&g, layout, &rd, lines);
	look_again(&g, layout, &rd);
	r = gather_read(&g, memory);
	if (r == 0 && !is_same(layout, c, &rd.look))
		r = -ESTALE;
	if (r < 0)
		lines->len = before;
	else
		finish_texts(&rd);
	return r;
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

/* Five texts of each. */
_Static_assert(5 * METHOD_CHAINS_AT_ONCE <= VM_MEMORY_MAX_SPANS, "all is one read");

/* More bytes of line tables than 64 methods have. */
#define MAX_TOGETHER (64U << 10)

static bool read_together(const struct vm_memory *memory, const struct jvm_layout *layout,
			  struct reading *readings, unsigned int count, struct strbuf *lines)
{
	struct vm_gather g;

	/* Only now: lines have been moved while they grew. */
	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		want_texts(&g, layout, &readings[i], lines);
	return gather_read(&g, memory) == 0;
}

void method_chains_read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
			      const struct method_chain *chains, unsigned int count,
			      struct method_text *ret_texts, struct strbuf *lines, int *ret_errors)
{
	struct reading readings[METHOD_CHAINS_AT_ONCE];
	size_t before = lines->len;
	bool together;

	for (unsigned int i = 0; i < count; i++)
		readings[i] =
			plan(layout, &chains[i], WITH_SOURCE | WITH_LINES, &ret_texts[i], lines);
	together = lines->len - before <= MAX_TOGETHER &&
		   read_together(memory, layout, readings, count, lines);
	if (!together)
		lines->len = before;
	for (unsigned int i = 0; i < count; i++) {
		ret_errors[i] = 0;
		if (together)
			finish_texts(&readings[i]);
		else
			ret_errors[i] = method_chain_read_names(memory, layout, &chains[i],
								&ret_texts[i], lines);
	}
}
