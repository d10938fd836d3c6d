/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/code_names.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache/lru.h"
#include "base/cache/text_pool.h"
#include "jvm/names/chain_names.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/stub_list.h"
#include "jvm/names/vtable_stub.h"

/* The 10,000 nmethods that a large program runs most, with their debug information and names. */
#define MAX_CACHE_BYTES (6U << 20)
/* What malloc adds to an entry. */
#define MALLOC_BYTES 8

struct code_name {
	uint64_t start;
	uint32_t bytes;
	uint32_t compile_id;
	const char *stub; /* the pool's; NULL: an nmethod */
	struct chain_names chain;
};

struct code_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct scopes_layout scopes;
	struct method_names *methods; /* borrowed */
	struct lru entries;	      /* nmethod_key() or stub_key() → struct code_name, owned */
	struct text_pool texts;
	struct stub_list stubs;
	size_t limit_bytes;
};

static void drop_entry(uint64_t value, void *data)
{
	struct code_name *entry = (struct code_name *)(uintptr_t)value;
	struct code_names *names = data;

	text_pool_unref(&names->texts, entry->stub);
	chain_names_release(&entry->chain, &names->texts);
	free(entry);
}

struct code_names *code_names_new(const struct vm_memory *memory, const struct jvm_layout *layout,
				  const struct scopes_layout *scopes, struct method_names *methods)
{
	struct code_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	names->scopes = *scopes;
	names->methods = methods;
	stub_list_init(&names->stubs, &names->memory, &names->layout);
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
	stub_list_release(&names->stubs);
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
static struct code_name *entry_of(struct code_names *names, uint64_t key, uint64_t address,
				  uint32_t compile_id)
{
	struct code_name *entry;
	uint64_t value;

	if (!lru_get(&names->entries, key, &value))
		return NULL;
	entry = (struct code_name *)(uintptr_t)value;
	if (entry->compile_id != compile_id || address - entry->start >= entry->bytes)
		return NULL;
	return entry;
}

static struct code_name *find_entry(struct code_names *names, uint64_t address, uint32_t compile_id)
{
	struct code_name *entry = entry_of(names, nmethod_key(compile_id), address, compile_id);

	return entry ? entry : entry_of(names, stub_key(address, compile_id), address, compile_id);
}

static struct code_name *new_entry(const struct code_blob *blob)
{
	struct code_name *entry = xcalloc(1, sizeof(*entry));

	entry->start = blob->start;
	entry->bytes = (uint32_t)(blob->end - blob->start);
	entry->compile_id = blob->compile_id;
	return entry;
}

static size_t entry_bytes(const struct code_name *entry)
{
	return sizeof(*entry) + MALLOC_BYTES + chain_names_bytes(&entry->chain);
}

static void put_entry(struct code_names *names, uint64_t key, struct code_name *entry)
{
	lru_put(&names->entries, key, (uintptr_t)entry, entry_bytes(entry));
	make_room(names);
}

/* A blob may hold many. What is no part of them goes by the blob's name. */
static const char *stub_name(struct code_names *names, const struct code_blob *blob,
			     uint64_t address)
{
	const char *name = vtable_stub_name(&names->memory, &names->layout, blob, address);

	if (!name)
		name = stub_list_find(&names->stubs, address);
	return name ? name : blob->name;
}

static struct code_name *add_stub(struct code_names *names, uint64_t key,
				  const struct code_blob *blob, uint64_t address)
{
	struct code_name *entry = new_entry(blob);

	entry->stub = text_pool_ref(&names->texts, stub_name(names, blob, address));
	put_entry(names, key, entry);
	return entry;
}

/* --- what is read ----------------------------------------------------------------------------- */

/*
 * The names of ENTRY, an nmethod of BLOB, at ADDRESS. Its methods are its own only as long as the nmethod is:
 * look again when they are read.
 */
static int read_names(struct code_names *names, struct code_name *entry,
		      const struct code_blob *blob, uint64_t address)
{
	uint32_t kept = entry->chain.count;
	int r = chain_names_read(&entry->chain, address, names->methods, &names->texts);

	if (!code_blob_is_same(&names->memory, &names->layout, blob)) {
		chain_names_drop(&entry->chain, kept, &names->texts);
		r = -ESTALE;
	}
	return r;
}

/* Without its debug information it is its method. */
static int read_nmethod(struct code_names *names, const struct code_blob *blob, uint64_t address,
			struct code_name **ret_entry)
{
	struct code_name *entry = new_entry(blob);
	struct code_scopes *scopes = NULL;
	int r;

	(void)code_scopes_read(&names->memory, &names->layout, &names->scopes, blob, &scopes);
	chain_names_init(&entry->chain, blob->method, scopes);
	r = read_names(names, entry, blob, address);
	if (!entry->chain.count) {
		drop_entry((uintptr_t)entry, names);
		return r;
	}
	put_entry(names, nmethod_key(blob->compile_id), entry);
	*ret_entry = entry;
	return 0;
}

/* Another place of code that is known. When that is gone, its method is all that is left of it. */
static unsigned int read_place(struct code_names *names, struct code_name *entry, uint64_t address,
			       struct java_answer *answer)
{
	const struct code_blob blob = { .start = entry->start,
					.method = entry->chain.method,
					.compile_id = entry->compile_id };

	if (read_names(names, entry, &blob, address) < 0)
		return chain_names_own(&entry->chain, answer->frames);
	lru_resize(&names->entries, nmethod_key(entry->compile_id), entry_bytes(entry));
	make_room(names);
	return chain_names_find(&entry->chain, address, answer->frames);
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
		      struct code_name **ret_entry)
{
	struct code_blob blob;
	int r = code_blob_find(&names->memory, &names->layout, address, &blob);

	if (r < 0)
		return r;
	/* Of a stub too: it must not name an nmethod that was here before. */
	if (blob.compile_id != compile_id)
		return -ESTALE;
	if (blob.is_nmethod)
		return blob.method ? read_nmethod(names, &blob, address, ret_entry) : -ESTALE;
	if (is_never_run(&blob))
		return -ESTALE;
	*ret_entry = add_stub(names, stub_key(address, compile_id), &blob, address);
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
		    struct java_answer *ret_answer)
{
	struct code_name *entry;
	int r = 0;

	ret_answer->count = 0;
	ret_answer->stub = place_name(&names->layout.wire, address);
	if (ret_answer->stub)
		return 0;
	entry = find_entry(names, address, compile_id);
	if (!entry)
		r = read_entry(names, address, compile_id, &entry);
	if (r < 0)
		return r;
	ret_answer->stub = entry->stub;
	if (entry->stub)
		return 0;
	ret_answer->count = chain_names_find(&entry->chain, address, ret_answer->frames);
	if (!ret_answer->count)
		ret_answer->count = read_place(names, entry, address, ret_answer);
	return 0;
}
