/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/code_names.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/method_chain.h"

/* A large program has 40,000 nmethods: 2 MB and their names. */
#define MAX_CACHE_BYTES (3U << 20)
/* Of a hash table's slots, which are at most three quarters full. */
#define INDEX_BYTES 32

#define NO_STRING UINT32_MAX

/* Names are ids in the intern table. */
struct code_name {
	uint64_t start, end;
	uint32_t compile_id;
	uint32_t class_name; /* NO_STRING: a stub */
	uint32_t name;
	uint32_t source;
};

struct code_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct method_names *methods; /* borrowed */
	/* A JVM gives a compile id once, so that an nmethod is found by it; stubs have none. */
	struct hmap nmethods; /* compile id -> entry */
	struct hmap stubs;    /* hash of address and what stood for the compile id -> entry */
	VEC(struct code_name) entries;
	struct intern strings;
	size_t limit_bytes;
};

struct code_names *code_names_new(const struct vm_memory *memory, const struct jvm_layout *layout,
				  struct method_names *methods)
{
	struct code_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	names->methods = methods;
	names->limit_bytes = MAX_CACHE_BYTES;
	return names;
}

void code_names_free(struct code_names *names)
{
	if (!names)
		return;
	hmap_release(&names->nmethods);
	hmap_release(&names->stubs);
	vec_release(&names->entries);
	intern_release(&names->strings);
	free(names);
}

void code_names_limit(struct code_names *names, size_t bytes)
{
	names->limit_bytes = MIN(bytes, MAX_CACHE_BYTES);
}

/* --- what is known ---------------------------------------------------------------------------- */

static uint64_t stub_key(uint64_t address, uint32_t compile_id)
{
	const uint64_t key[2] = { address, compile_id };

	return hash_bytes(key, sizeof(key));
}

/* NULL when there is none, or it lies elsewhere. */
static const struct code_name *entry_in(const struct code_names *names, const struct hmap *index,
					uint64_t key, uint64_t address)
{
	const struct code_name *entry;
	uint64_t at;

	if (!hmap_get(index, key, &at))
		return NULL;
	entry = &names->entries.items[at];
	return address >= entry->start && address < entry->end ? entry : NULL;
}

static const struct code_name *find_entry(const struct code_names *names, uint64_t address,
					  uint32_t compile_id)
{
	const struct code_name *entry = entry_in(names, &names->nmethods, compile_id, address);

	if (entry)
		return entry;
	entry = entry_in(names, &names->stubs, stub_key(address, compile_id), address);
	return entry && entry->compile_id == compile_id ? entry : NULL;
}

/* What is hot comes back at once; forgetting all keeps the tables simple. */
static void make_room(struct code_names *names)
{
	size_t bytes = names->strings.bytes +
		       names->entries.len * (sizeof(*names->entries.items) + INDEX_BYTES);

	if (bytes <= names->limit_bytes)
		return;
	hmap_clear(&names->nmethods);
	hmap_clear(&names->stubs);
	vec_release(&names->entries);
	intern_release(&names->strings);
}

static uint32_t intern_text(struct code_names *names, const char *text)
{
	return intern_put(&names->strings, text, strlen(text), NULL);
}

static const char *text_of(const struct code_names *names, uint32_t id)
{
	return intern_get(&names->strings, id, NULL);
}

static const struct code_name *add_entry(struct code_names *names, struct hmap *index, uint64_t key,
					 const struct code_name *entry)
{
	hmap_put(index, key, names->entries.len);
	vec_push(&names->entries, *entry);
	return &names->entries.items[names->entries.len - 1];
}

/* --- what is read ----------------------------------------------------------------------------- */

static const struct code_name *add_stub(struct code_names *names, const struct code_blob *blob,
					uint64_t address)
{
	struct code_name entry = { .start = blob->start,
				   .end = blob->end,
				   .compile_id = blob->compile_id,
				   .class_name = NO_STRING };

	make_room(names);
	entry.name = intern_text(names, blob->name);
	return add_entry(names, &names->stubs, stub_key(address, blob->compile_id), &entry);
}

/* Its Method is its own only as long as the nmethod is: look again when the names are read. */
static int read_nmethod(struct code_names *names, const struct code_blob *blob,
			const struct code_name **ret_entry)
{
	struct code_name entry = { blob->start, blob->end, blob->compile_id, 0, 0, 0 };
	struct method_chain chain;
	struct java_frame frame;
	int r = method_chain_follow(&names->memory, &names->layout, blob->method, &chain);

	if (r >= 0)
		r = method_names_find(names->methods, chain.method, chain.const_method,
				      chain.identity, 0, &frame);
	if (!code_blob_is_same(&names->memory, &names->layout, blob))
		return -ESTALE;
	if (r < 0)
		return r;
	make_room(names);
	entry.class_name = intern_text(names, frame.class_name);
	entry.name = intern_text(names, frame.method);
	entry.source = intern_text(names, frame.source);
	*ret_entry = add_entry(names, &names->nmethods, blob->compile_id, &entry);
	return 0;
}

/*
 * Where compilers work (share/c1/c1_Compilation.cpp, share/opto/output.cpp): this is never run, and
 * what it has not overwritten yet of an nmethod that was here may be that one's compile id.
 */
static bool is_never_run(const struct code_blob *blob)
{
	static const char *const buffers[] = { "Compile::", "C1 temporary CodeBuffer",
					       "Signature Handler Temp Buffer",
					       "JVMCI Compiler CodeBuffer" };

	for (unsigned int i = 0; i < ARRAY_SIZE(buffers); i++)
		if (!strncmp(blob->name, buffers[i], strlen(buffers[i])))
			return true;
	return false;
}

static int read_entry(struct code_names *names, uint64_t address, uint32_t compile_id,
		      const struct code_name **ret_entry)
{
	struct code_blob blob;
	int r = code_blob_find(&names->memory, &names->layout, address, &blob);

	if (r < 0)
		return r;
	/* Of a stub too: it must not name an nmethod that was here before. */
	if (blob.compile_id != compile_id)
		return -ESTALE;
	if (blob.is_nmethod)
		return blob.method ? read_nmethod(names, &blob, ret_entry) : -ESTALE;
	if (is_never_run(&blob))
		return -ESTALE;
	*ret_entry = add_stub(names, &blob, address);
	return 0;
}

/* Of what the layout knows: no compile id is asked for there. */
static const char *place_name(const struct wire_jvm *wire, uint64_t address)
{
	if (address && address == wire->call_stub_return)
		return "call_stub";
	if (address >= wire->interpreter_start && address < wire->interpreter_end)
		return "Interpreter";
	return NULL;
}

int code_names_find(struct code_names *names, uint64_t address, uint32_t compile_id,
		    struct java_frame *ret_frame, const char **ret_stub)
{
	const struct code_name *entry;

	*ret_stub = place_name(&names->layout.wire, address);
	if (*ret_stub)
		return 0;
	entry = find_entry(names, address, compile_id);
	if (!entry) {
		int r = read_entry(names, address, compile_id, &entry);

		if (r < 0)
			return r;
	}
	if (entry->class_name == NO_STRING) {
		*ret_stub = text_of(names, entry->name);
		return 0;
	}
	*ret_frame = (struct java_frame){
		.class_name = text_of(names, entry->class_name),
		.method = text_of(names, entry->name),
		.source = text_of(names, entry->source),
		.bci = -1,
	};
	return 0;
}
