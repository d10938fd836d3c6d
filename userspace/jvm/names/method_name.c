/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/method_name.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/vec.h"
#include "jvm/names/line_table.h"
#include "jvm/names/method_chain.h"

/* Memory of one JVM's names: 20 JVMs must fit into the 64 MB that all of hostprof may use. */
#define MAX_CACHE_BYTES (1U << 20)

/* Lines of one method; bytecodes are at most 64 KiB, and few have a line each. */
#define MAX_LINES 8192

struct method_entry {
	struct method_chain chain;
	uint32_t class_name, name, source; /* in the intern table */
	uint32_t first_line, line_count;   /* in the line array */
};

struct method_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct hmap index; /* hash of the key -> entry */
	VEC(struct method_entry) entries;
	VEC(struct line_entry) lines;
	struct intern strings;
	struct method_text text; /* scratch */
	struct strbuf bytes;	 /* scratch */
	struct line_entry decoded[MAX_LINES];
};

struct method_names *method_names_new(const struct vm_memory *memory,
				      const struct jvm_layout *layout)
{
	struct method_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	return names;
}

void method_names_free(struct method_names *names)
{
	if (!names)
		return;
	hmap_release(&names->index);
	vec_release(&names->entries);
	vec_release(&names->lines);
	intern_release(&names->strings);
	strbuf_release(&names->bytes);
	free(names);
}

static size_t cache_bytes(const struct method_names *names)
{
	return names->strings.bytes + names->entries.len * sizeof(*names->entries.items) +
	       names->lines.len * sizeof(*names->lines.items);
}

/* What is hot comes back at once; forgetting all keeps the tables simple. */
static void cache_clear(struct method_names *names)
{
	hmap_clear(&names->index);
	vec_release(&names->entries);
	vec_release(&names->lines);
	intern_release(&names->strings);
}

static uint64_t entry_key(uint64_t method, uint64_t const_method, uint64_t identity)
{
	const uint64_t key[3] = { method, const_method, identity };

	return hash_bytes(key, sizeof(key));
}

static uint32_t intern_text(struct method_names *names, const char *text)
{
	return intern_put(&names->strings, text, strlen(text), NULL);
}

static const char *text_of(const struct method_names *names, uint32_t id)
{
	return intern_get(&names->strings, id, NULL);
}

/* Of names->bytes. */
static void add_lines(struct method_names *names, struct method_entry *entry)
{
	size_t count;

	entry->first_line = (uint32_t)names->lines.len;
	if (!names->bytes.len)
		return;
	count = line_table_decode(names->bytes.buf, names->bytes.len, names->layout.unsigned5_bias,
				  names->decoded, MAX_LINES);
	for (size_t i = 0; i < count; i++)
		vec_push(&names->lines, names->decoded[i]);
	entry->line_count = (uint32_t)count;
}

/* "a/B+0x1f" → "a.B/0x1f": as Class.getName() writes a hidden class (JDK 15 and later). */
static void make_dotted(char *name)
{
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
		else if (*c == '+' && c[1] == '0' && c[2] == 'x')
			*c = '/';
}

/*
 * Names and lines are read between two looks at the identity: what is unloaded meanwhile is not
 * named.
 */
static int read_names(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, struct method_chain *ret_chain)
{
	struct method_chain again;
	int r = method_chain_read(&names->memory, &names->layout, method, const_method, identity,
				  ret_chain);

	if (!r)
		r = method_chain_read_text(&names->memory, &names->layout, ret_chain, &names->text);
	strbuf_reset(&names->bytes);
	/* A table that cannot be read costs the line, not the name. */
	if (!r)
		(void)method_chain_read_lines(&names->memory, &names->layout, ret_chain,
					      &names->bytes);
	if (!r)
		r = method_chain_read(&names->memory, &names->layout, method, const_method,
				      identity, &again);
	return r;
}

static int read_entry(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, const struct method_entry **ret_entry)
{
	struct method_entry entry = { 0 };
	int r = read_names(names, method, const_method, identity, &entry.chain);

	if (r < 0)
		return r;
	if (cache_bytes(names) > MAX_CACHE_BYTES)
		cache_clear(names);
	make_dotted(names->text.class_name);
	entry.class_name = intern_text(names, names->text.class_name);
	entry.name = intern_text(names, names->text.name);
	entry.source = intern_text(names, names->text.source);
	add_lines(names, &entry);
	hmap_put(&names->index, entry_key(method, const_method, identity), names->entries.len);
	vec_push(&names->entries, entry);
	*ret_entry = &names->entries.items[names->entries.len - 1];
	return 0;
}

/* What was read once under an identity holds for good. */
static const struct method_entry *find_entry(const struct method_names *names, uint64_t method,
					     uint64_t const_method, uint64_t identity)
{
	const struct method_entry *entry;
	uint64_t at;

	if (!hmap_get(&names->index, entry_key(method, const_method, identity), &at))
		return NULL;
	entry = &names->entries.items[at];
	if (entry->chain.method != method || entry->chain.const_method != const_method ||
	    entry->chain.identity != identity)
		return NULL;
	return entry;
}

static int32_t bci_of(const struct method_names *names, const struct method_entry *entry,
		      uint64_t bcp)
{
	uint64_t first = entry->chain.const_method + names->layout.const_method_bytes;

	if (bcp < first || bcp - first >= entry->chain.code_size)
		return -1;
	return (int32_t)(bcp - first);
}

/* BPF met a page on the way that was not in memory: the sample is young, and so the class. */
static int read_identity(struct method_names *names, uint64_t method, uint64_t const_method,
			 uint64_t *ret_identity)
{
	struct method_chain chain;
	int r = method_chain_follow(&names->memory, &names->layout, method, &chain);

	if (r < 0)
		return r;
	if (chain.const_method != const_method)
		return -ESTALE;
	*ret_identity = chain.identity;
	return 0;
}

int method_names_find(struct method_names *names, uint64_t method, uint64_t const_method,
		      uint64_t identity, uint64_t bcp, struct java_frame *ret_frame)
{
	const struct method_entry *entry;
	int32_t bci;
	int r;

	if (!identity) {
		r = read_identity(names, method, const_method, &identity);
		if (r < 0)
			return r;
	}
	entry = find_entry(names, method, const_method, identity);
	if (!entry) {
		r = read_entry(names, method, const_method, identity, &entry);
		if (r < 0)
			return r;
	}
	bci = bci_of(names, entry, bcp);
	*ret_frame = (struct java_frame){
		.class_name = text_of(names, entry->class_name),
		.method = text_of(names, entry->name),
		.source = text_of(names, entry->source),
		.bci = bci,
	};
	if (bci >= 0 && entry->line_count)
		ret_frame->line = line_table_find(&names->lines.items[entry->first_line],
						  entry->line_count, (uint16_t)bci);
	return 0;
}
