/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/code_names.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache/lru.h"
#include "base/cache/text_pool.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/method_chain.h"

/* The 20,000 nmethods that a large program runs most, with their names. */
#define MAX_CACHE_BYTES (3U << 20)
/* What malloc adds to an entry. */
#define MALLOC_BYTES 8

/* Texts are the pool's. */
struct code_name {
	uint64_t start;
	uint32_t bytes;
	uint32_t compile_id;
	const char *class_name; /* NULL: a stub */
	const char *name;
	const char *source; /* NULL: a stub */
};

struct code_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct method_names *methods; /* borrowed */
	struct lru entries;	      /* nmethod_key() or stub_key() → struct code_name, owned */
	struct text_pool texts;
	size_t limit_bytes;
};

static void drop_entry(uint64_t value, void *data)
{
	struct code_name *entry = (struct code_name *)(uintptr_t)value;
	struct code_names *names = data;

	text_pool_unref(&names->texts, entry->class_name);
	text_pool_unref(&names->texts, entry->name);
	text_pool_unref(&names->texts, entry->source);
	free(entry);
}

struct code_names *code_names_new(const struct vm_memory *memory, const struct jvm_layout *layout,
				  struct method_names *methods)
{
	struct code_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	names->methods = methods;
	names->limit_bytes = MAX_CACHE_BYTES;
	lru_init(&names->entries, SIZE_MAX, drop_entry, names);
	return names;
}

void code_names_free(struct code_names *names)
{
	if (!names)
		return;
	lru_clear(&names->entries);
	text_pool_release(&names->texts);
	free(names);
}

/* Texts are shared: what an entry takes is known only when it is gone. The newest one stays. */
static void make_room(struct code_names *names)
{
	while (names->entries.len > 1 &&
	       names->entries.bytes + names->texts.bytes > names->limit_bytes)
		lru_drop_oldest(&names->entries);
}

void code_names_limit(struct code_names *names, size_t bytes)
{
	names->limit_bytes = MIN(bytes, MAX_CACHE_BYTES);
	make_room(names);
}

/* --- what is known ---------------------------------------------------------------------------- */

/* A JVM gives a compile id once, so that an nmethod is found by it; stubs have none. */
static uint64_t nmethod_key(uint32_t compile_id)
{
	return compile_id;
}

/* By what stood for the compile id. */
static uint64_t stub_key(uint64_t address, uint32_t compile_id)
{
	const uint64_t key[2] = { address, compile_id };

	return hash_bytes(key, sizeof(key)) | 1ULL << 63; /* none of an nmethod's */
}

/* NULL when there is none, or it lies elsewhere. */
static const struct code_name *entry_of(struct code_names *names, uint64_t key, uint64_t address,
					uint32_t compile_id)
{
	const struct code_name *entry;
	uint64_t value;

	if (!lru_get(&names->entries, key, &value))
		return NULL;
	entry = (const struct code_name *)(uintptr_t)value;
	if (entry->compile_id != compile_id || address - entry->start >= entry->bytes)
		return NULL;
	return entry;
}

static const struct code_name *find_entry(struct code_names *names, uint64_t address,
					  uint32_t compile_id)
{
	const struct code_name *entry =
		entry_of(names, nmethod_key(compile_id), address, compile_id);

	return entry ? entry : entry_of(names, stub_key(address, compile_id), address, compile_id);
}

/* FRAME: NULL for a stub. */
static const struct code_name *add_entry(struct code_names *names, uint64_t key,
					 const struct code_blob *blob,
					 const struct java_frame *frame)
{
	struct code_name *entry = xcalloc(1, sizeof(*entry));

	entry->start = blob->start;
	entry->bytes = (uint32_t)(blob->end - blob->start);
	entry->compile_id = blob->compile_id;
	entry->name = text_pool_ref(&names->texts, frame ? frame->method : blob->name);
	if (frame) {
		entry->class_name = text_pool_ref(&names->texts, frame->class_name);
		entry->source = text_pool_ref(&names->texts, frame->source);
	}
	lru_put(&names->entries, key, (uintptr_t)entry, sizeof(*entry) + MALLOC_BYTES);
	make_room(names);
	return entry;
}

/* --- what is read ----------------------------------------------------------------------------- */

/* Its Method is its own only as long as the nmethod is: look again when the names are read. */
static int read_nmethod(struct code_names *names, const struct code_blob *blob,
			const struct code_name **ret_entry)
{
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
	*ret_entry = add_entry(names, nmethod_key(blob->compile_id), blob, &frame);
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
	*ret_entry = add_entry(names, stub_key(address, compile_id), &blob, NULL);
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
	if (!entry->class_name) {
		*ret_stub = entry->name;
		return 0;
	}
	*ret_frame = (struct java_frame){
		.class_name = entry->class_name,
		.method = entry->name,
		.source = entry->source,
		.bci = -1,
	};
	return 0;
}
