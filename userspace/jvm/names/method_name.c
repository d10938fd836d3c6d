/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_name.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache/lru.h"
#include "base/cache/text_pool.h"
#include "base/vec.h"
#include "jvm/java_name.h"
#include "jvm/names/line_table.h"
#include "jvm/names/method_text.h"

/* Memory of one JVM's names: 20 JVMs must fit into the 64 MB that all of hostprof may use. */
#define MAX_CACHE_BYTES (1U << 20)

/* Lines of one method; bytecodes are at most 64 KiB, and few have a line each. */
#define MAX_LINES 8192

/* What malloc adds to an entry. */
#define MALLOC_BYTES 8

/* Texts are the pool's. */
struct method_entry {
	uint64_t method, const_method, identity;
	const char *class_name, *name, *source, *descriptor;
	uint16_t code_size;
	uint16_t line_count;
	struct line_entry lines[];
};

/* Who a method was when it was followed last: most that is inlined is inlined often. A power of two. */
#define LAST_SEEN 1024

struct last_seen {
	uint64_t method, const_method, identity;
};

struct method_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct lru entries; /* entry_key() → struct method_entry, owned */
	struct text_pool texts;
	VEC(uint64_t) unproven;		       /* keys of what method_names_follow() has read */
	struct last_seen last_seen[LAST_SEEN]; /* by last_slot() */
	uint64_t replaced[LAST_SEEN];	       /* Method*, by the same: was noted as two of them */
	struct method_text *texts_read;	       /* scratch: of methods that are read together */
	struct strbuf bytes;		       /* scratch: their line tables */
	struct strbuf dotted;		       /* scratch: the class's name as it is shown */
	struct strbuf descriptor;	       /* scratch */
	struct line_entry decoded[MAX_LINES];
};

static void drop_entry(uint64_t value, void *data)
{
	struct method_entry *entry = (struct method_entry *)(uintptr_t)value;
	struct method_names *names = data;

	text_pool_unref(&names->texts, entry->class_name);
	text_pool_unref(&names->texts, entry->name);
	text_pool_unref(&names->texts, entry->source);
	text_pool_unref(&names->texts, entry->descriptor);
	free(entry);
}

struct method_names *method_names_new(const struct vm_memory *memory,
				      const struct jvm_layout *layout)
{
	struct method_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	lru_init(&names->entries, SIZE_MAX, drop_entry, names);
	return names;
}

void method_names_free(struct method_names *names)
{
	if (!names)
		return;
	lru_clear(&names->entries);
	text_pool_release(&names->texts);
	vec_release(&names->unproven);
	strbuf_release(&names->bytes);
	strbuf_release(&names->dotted);
	strbuf_release(&names->descriptor);
	free(names);
}

static uint64_t entry_key(uint64_t method, uint64_t const_method, uint64_t identity)
{
	const uint64_t key[3] = { method, const_method, identity };

	return hash_bytes(key, sizeof(key));
}

/* Their number. */
static size_t decode_lines(struct method_names *names, const struct method_text *text)
{
	if (!text->line_bytes)
		return 0;
	return line_table_decode(names->bytes.buf + text->line_at, text->line_bytes,
				 names->layout.unsigned5_bias, names->decoded, MAX_LINES);
}

/* Of what was read into the scratch. Texts are shared, so that room is made afterwards. */
static const struct method_entry *add_entry(struct method_names *names,
					    const struct method_chain *chain,
					    const struct method_text *text)
{
	size_t lines = decode_lines(names, text), line_bytes = lines * sizeof(names->decoded[0]);
	struct method_entry *entry = xmalloc(sizeof(*entry) + line_bytes);

	strbuf_reset(&names->dotted);
	java_name_add_class(&names->dotted, text->class_name, strlen(text->class_name));
	strbuf_reset(&names->descriptor);
	java_name_add_descriptor(&names->descriptor, text->descriptor, strlen(text->descriptor));
	*entry = (struct method_entry){
		.method = chain->method,
		.const_method = chain->const_method,
		.identity = chain->identity,
		.class_name = text_pool_ref(&names->texts, strbuf_str(&names->dotted)),
		.name = text_pool_ref(&names->texts, text->name),
		.source = text_pool_ref(&names->texts, text->source),
		.descriptor = text_pool_ref(&names->texts, strbuf_str(&names->descriptor)),
		.code_size = chain->code_size,
		.line_count = (uint16_t)lines,
	};
	memcpy(entry->lines, names->decoded, line_bytes);
	lru_put(&names->entries, entry_key(chain->method, chain->const_method, chain->identity),
		(uintptr_t)entry, sizeof(*entry) + line_bytes + MALLOC_BYTES);
	while (names->entries.len > 1 &&
	       names->entries.bytes + names->texts.bytes > MAX_CACHE_BYTES)
		lru_drop_oldest(&names->entries);
	return entry;
}

static int read_chain_names(struct method_names *names, const struct method_chain *chain,
			    const struct method_entry **ret_entry)
{
	struct method_text text;
	int r;

	strbuf_reset(&names->bytes);
	r = method_chain_read_names(&names->memory, &names->layout, chain, &text, &names->bytes);
	if (r == 0)
		*ret_entry = add_entry(names, chain, &text);
	return r;
}

static int read_entry(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, const struct method_entry **ret_entry)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct method_chain chain;
	int r = method_chain_read(&names->memory, &names->layout, method, const_method, identity,
				  &chain, &bytes);

	return r < 0 ? r : read_chain_names(names, &chain, ret_entry);
}

/* What was read once under an identity holds for good. */
static const struct method_entry *find_entry(struct method_names *names, uint64_t method,
					     uint64_t const_method, uint64_t identity)
{
	const struct method_entry *entry;
	uint64_t value;

	if (!lru_get(&names->entries, entry_key(method, const_method, identity), &value))
		return NULL;
	entry = (const struct method_entry *)(uintptr_t)value;
	if (entry->method != method || entry->const_method != const_method ||
	    entry->identity != identity)
		return NULL;
	return entry;
}

static int32_t bci_of(const struct method_names *names, const struct method_entry *entry,
		      uint64_t bcp)
{
	uint64_t first = entry->const_method + names->layout.const_method_bytes;

	if (bcp < first || bcp - first >= entry->code_size)
		return -1;
	return (int32_t)(bcp - first);
}

/* BPF met a page on the way that was not in memory: the sample is young, and so the class. */
static int read_identity(struct method_names *names, uint64_t method, uint64_t const_method,
			 uint64_t *ret_identity)
{
	struct method_chain chain;
	int r;

	free(method_chains_follow(&names->memory, &names->layout, &method, &(bool){ false }, 1,
				  &chain, &r));
	if (r < 0)
		return r;
	if (chain.const_method != const_method)
		return -ESTALE;
	*ret_identity = chain.identity;
	return 0;
}

static unsigned int last_slot(uint64_t method)
{
	return hash_bytes(&method, sizeof(method)) % LAST_SEEN;
}

static bool is_another(const struct last_seen *last, uint64_t method, uint64_t const_method,
		       uint64_t identity)
{
	return last->method == method &&
	       (last->const_method != const_method || last->identity != identity);
}

bool method_names_was_another(const struct method_names *names, uint64_t method,
			      uint64_t const_method, uint64_t identity)
{
	unsigned int slot = last_slot(method);

	return names->replaced[slot] == method ||
	       is_another(&names->last_seen[slot], method, const_method, identity);
}

void method_names_note(struct method_names *names, uint64_t method, uint64_t const_method,
		       uint64_t identity)
{
	unsigned int slot = last_slot(method);

	if (!identity)
		return;
	if (is_another(&names->last_seen[slot], method, const_method, identity))
		names->replaced[slot] = method;
	names->last_seen[slot] = (struct last_seen){ method, const_method, identity };
}

static int name_method(struct method_names *names, uint64_t method, uint64_t const_method,
		       uint64_t identity, const struct method_entry **ret_entry)
{
	*ret_entry = find_entry(names, method, const_method, identity);
	return *ret_entry ? 0 : read_entry(names, method, const_method, identity, ret_entry);
}

static void fill_frame(const struct method_entry *entry, int32_t bci, struct java_frame *ret_frame)
{
	*ret_frame = (struct java_frame){
		.class_name = entry->class_name,
		.method = entry->name,
		.source = entry->source,
		.descriptor = entry->descriptor,
		.bci = bci,
	};
	if (bci >= 0 && entry->line_count)
		ret_frame->line = line_table_find(entry->lines, entry->line_count, (uint16_t)bci);
}

int method_names_find(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, uint64_t bcp, struct java_frame *ret_frame)
{
	const struct method_entry *entry;
	int r = 0;

	if (!identity)
		r = read_identity(names, method, const_method, &identity);
	if (!r)
		r = name_method(names, method, const_method, identity, &entry);
	if (!r)
		fill_frame(entry, bci_of(names, entry, bcp), ret_frame);
	return r;
}

/* --- many ------------------------------------------------------------------------------------- */

#define MAX_PLACES 512

/* Methods that are named together, each once, and which of them the places are. */
struct group {
	const struct method_place *places;
	unsigned int place_count, count;
	uint8_t of_place[MAX_PLACES];
	uint64_t methods[METHOD_CHAINS_AT_ONCE];
	struct method_chain chains[METHOD_CHAINS_AT_ONCE];
	int errors[METHOD_CHAINS_AT_ONCE];
};

/* Of the first places, as many as there is room for. */
static void gather_methods(struct group *group, const struct method_place *places,
			   unsigned int count)
{
	group->places = places;
	group->place_count = 0;
	group->count = 0;
	for (unsigned int i = 0; i < count && i < MAX_PLACES; i++) {
		unsigned int at = 0;

		while (at < group->count && group->methods[at] != places[i].method)
			at++;
		if (at == METHOD_CHAINS_AT_ONCE)
			return;
		group->methods[at] = places[i].method;
		group->count = MAX(group->count, at + 1);
		group->of_place[group->place_count++] = (uint8_t)at;
	}
}

static const struct method_entry *entry_of_chain(struct method_names *names,
						 const struct method_chain *c)
{
	return find_entry(names, c->method, c->const_method, c->identity);
}

/* A name that is known is not read again: only whether it is still this method's. */
static uint8_t *follow_known(struct method_names *names, struct group *group)
{
	bool known[METHOD_CHAINS_AT_ONCE];

	for (unsigned int i = 0; i < group->count; i++) {
		const struct last_seen *last = &names->last_seen[last_slot(group->methods[i])];

		known[i] = last->method == group->methods[i] &&
			   find_entry(names, last->method, last->const_method, last->identity);
	}
	return method_chains_follow(&names->memory, &names->layout, group->methods, known,
				    group->count, group->chains, group->errors);
}

/* Of a method that is another one now, or whose name had to go. */
static int read_anew(struct method_names *names, uint64_t method, struct method_chain *ret_chain,
		     const struct method_entry **ret_entry)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	int r;

	bytes = method_chains_follow(&names->memory, &names->layout, &method, &(bool){ false }, 1,
				     ret_chain, &r);
	return r < 0 ? r : read_chain_names(names, ret_chain, ret_entry);
}

static void note_unproven(struct method_names *names, const struct method_chain *c)
{
	vec_push(&names->unproven, entry_key(c->method, c->const_method, c->identity));
	method_names_note(names, c->method, c->const_method, c->identity);
}

/* Names of those that were never met. */
static void read_unknown(struct method_names *names, struct group *group)
{
	struct method_chain unknown[METHOD_CHAINS_AT_ONCE];
	int errors[METHOD_CHAINS_AT_ONCE];
	uint8_t index[METHOD_CHAINS_AT_ONCE];
	unsigned int count = 0;

	for (unsigned int i = 0; i < group->count; i++) {
		const struct method_chain *c = &group->chains[i];

		if (group->errors[i] || !c->name_len || entry_of_chain(names, c))
			continue;
		index[count] = (uint8_t)i;
		unknown[count++] = *c;
	}
	strbuf_reset(&names->bytes);
	method_chains_read_names(&names->memory, &names->layout, unknown, count, names->texts_read,
				 &names->bytes, errors);
	for (unsigned int i = 0; i < count; i++) {
		group->errors[index[i]] = errors[i];
		if (errors[i])
			continue;
		add_entry(names, &unknown[i], &names->texts_read[i]);
		note_unproven(names, &unknown[i]);
	}
}

/* All places of one method. Where room is short, one of many may have gone again. */
static void tell_method(struct method_names *names, const struct group *group, unsigned int at,
			unsigned int first, method_named_fn *fn, void *data)
{
	const struct method_entry *entry = NULL;
	struct method_chain again;
	int r = group->errors[at];

	if (!r)
		entry = entry_of_chain(names, &group->chains[at]);
	if (!r && !entry) {
		r = read_anew(names, group->methods[at], &again, &entry);
		if (!r)
			note_unproven(names, &again);
	}
	for (unsigned int i = 0; i < group->place_count; i++) {
		int32_t bci = group->places[i].bci;
		struct java_frame frame;

		if (group->of_place[i] != at)
			continue;
		if (!r)
			fill_frame(entry, bci < entry->code_size ? bci : -1, &frame);
		fn(first + i, r, r ? NULL : &frame, data);
	}
}

void method_names_follow(struct method_names *names, const struct method_place *places,
			 unsigned int count, method_named_fn *fn, void *data)
{
	struct group group;

	names->unproven.len = 0;
	names->texts_read = xmalloc(METHOD_CHAINS_AT_ONCE * sizeof(*names->texts_read));
	for (unsigned int first = 0; first < count; first += group.place_count) {
		uint8_t *bytes;

		gather_methods(&group, places + first, count - first);
		bytes = follow_known(names, &group);
		read_unknown(names, &group);
		for (unsigned int i = 0; i < group.count; i++)
			tell_method(names, &group, i, first, fn, data);
		free(bytes);
	}
	free(TAKE_PTR(names->texts_read));
}

void method_names_forget_unproven(struct method_names *names)
{
	const uint64_t *key;

	vec_for_each (key, &names->unproven)
		lru_drop(&names->entries, *key);
	names->unproven.len = 0;
}
