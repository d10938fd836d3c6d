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

/* What libjvm calls nmethods: a constant of it each. */
static const char *const nmethod_texts[] = { "nmethod", "native nmethod" };

/* Where one is, and what was read there. */
struct known_text {
	uint64_t address; /* 0: not learnt yet */
	char bytes[CODE_BLOB_MAX_NAME];
};

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
	struct known_text known_texts[ARRAY_SIZE(nmethod_texts)];
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

/* The caller makes room. */
static void put_entry(struct code_names *names, uint64_t key, struct code_name *entry)
{
	lru_put(&names->entries, key, (uintptr_t)entry, entry_bytes(entry));
}

/* A blob may hold many. What is no part of them goes by the blob's name. */
static int stub_name(struct code_names *names, const struct code_blob *blob, uint64_t address,
		     const char **name)
{
	int error = vtable_stub_name(&names->memory, &names->layout, blob, address, name);

	if (error || *name)
		return error;
	*name = stub_list_find(&names->stubs, address);
	if (!*name && !names->stubs.searched)
		return -EBUSY;
	if (!*name)
		*name = blob->name;
	return 0;
}

static int add_stub(struct code_names *names, const struct code_blob *blob, uint64_t address)
{
	struct code_name *entry;
	const char *name;
	int error = stub_name(names, blob, address, &name);

	if (error)
		return error;
	entry = new_entry(blob);
	entry->stub = text_pool_ref(&names->texts, name);
	put_entry(names, stub_key(address, blob->compile_id), entry);
	return 0;
}

/* --- what is read ----------------------------------------------------------------------------- */

/* A place that is read beside others. */
struct work {
	struct code_place place;
	struct code_name *entry; /* of an nmethod; NULL: it has failed, or another work has it */
	struct code_blob blob;
	uint32_t kept;	/* of its names that were known before */
	uint32_t rides; /* which work reads this code; itself */
	bool is_new;	/* `entry` is not among the others yet */
	int error;
};

struct batch {
	unsigned int count;
	struct work works[CODE_NAMES_AT_ONCE];
	struct vm_ahead ahead;
	struct vm_ahead_reader readers[CODE_NAMES_AT_ONCE]; /* of each work */
};

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

static bool is_unknown(const struct batch *batch, unsigned int at)
{
	return batch->works[at].is_new && batch->works[at].rides == at;
}

/* So that the name of each need not be read. */
static void give_texts(const struct code_names *names, struct vm_ahead_reader *reader)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(names->known_texts); i++) {
		const struct known_text *text = &names->known_texts[i];

		if (text->address)
			vm_ahead_give(reader, text->address, text->bytes, sizeof(text->bytes));
	}
}

static void learn_text(struct code_names *names, const struct code_blob *blob)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(nmethod_texts); i++)
		if (strcmp(blob->name, nmethod_texts[i]) == 0) {
			names->known_texts[i].address = blob->name_address;
			memcpy(names->known_texts[i].bytes, blob->name, CODE_BLOB_MAX_NAME);
		}
}

/* 0: BLOB is the code of PLACE. */
static int check_blob(const struct code_blob *blob, const struct code_place *place)
{
	/* Of a stub too: it must not name an nmethod that was here before. */
	if (blob->compile_id != place->compile_id)
		return -ESTALE;
	if (blob->is_nmethod)
		return blob->method ? 0 : -ESTALE;
	return is_never_run(blob) ? -ESTALE : 0;
}

static void find_blob(struct code_names *names, struct work *work, struct vm_ahead_reader *reader)
{
	work->error =
		code_blob_find(&reader->memory, &names->layout, work->place.address, &work->blob);
	if (!work->error)
		work->error = check_blob(&work->blob, &work->place);
	if (work->error)
		return;
	if (!work->blob.is_nmethod) {
		work->error = add_stub(names, &work->blob, work->place.address);
		return;
	}
	learn_text(names, &work->blob);
	work->entry = new_entry(&work->blob);
	code_scopes_want(reader, &names->layout, &names->scopes, &work->blob);
}

/* The blobs of unknown code, and ahead what says where it is, what it is, and what was inlined. */
static void find_blobs(struct code_names *names, struct batch *batch)
{
	for (unsigned int i = 0; i < batch->count; i++)
		if (is_unknown(batch, i))
			code_blob_want_segments(&batch->readers[i], &names->layout,
						batch->works[i].place.address);
	vm_ahead_fetch(&batch->ahead);
	for (unsigned int i = 0; i < batch->count; i++)
		if (is_unknown(batch, i))
			code_blob_want_head(&batch->readers[i], &names->layout,
					    batch->works[i].place.address);
	vm_ahead_fetch(&batch->ahead);
	for (unsigned int i = 0; i < batch->count; i++)
		if (is_unknown(batch, i)) {
			give_texts(names, &batch->readers[i]);
			find_blob(names, &batch->works[i], &batch->readers[i]);
		}
	vm_ahead_fetch(&batch->ahead);
}

/*
 * Without debug information it is its method. What could not be read this time may be there the next time: one that is kept is
 * not asked again.
 */
static void read_scopes(struct code_names *names, struct work *work,
			const struct vm_ahead_reader *reader)
{
	struct code_scopes *scopes = NULL;
	int r = code_scopes_read(&reader->memory, &names->layout, &names->scopes, &work->blob,
				 &scopes);

	if (vm_error_passes(r)) {
		work->error = r;
		drop_entry((uintptr_t)TAKE_PTR(work->entry), names);
		return;
	}
	chain_names_init(&work->entry->chain, work->blob.method, scopes);
}

/* All names that are wanted, together. */
static void read_names(struct code_names *names, struct batch *batch)
{
	struct chain_wants wants = { .places = VEC_INIT };

	for (unsigned int i = 0; i < batch->count; i++) {
		const struct work *work = &batch->works[i];
		struct code_name *entry = batch->works[work->rides].entry;

		if (entry && work->rides == i)
			entry->chain.error = 0;
		if (entry && work->place.address - entry->start < entry->bytes)
			chain_names_want(&entry->chain, work->place.address, &wants);
	}
	chain_wants_read(&wants, names->methods, &names->texts);
	chain_wants_release(&wants);
}

/* SAME: it was itself before and after its names were read. */
static void keep(struct code_names *names, struct work *work, bool same)
{
	struct chain_names *chain = &work->entry->chain;
	uint64_t key = nmethod_key(work->entry->compile_id);

	work->error = same ? chain->error : -ESTALE;
	if (!same)
		chain_names_drop(chain, work->kept, &names->texts);
	if (!work->is_new)
		lru_resize(&names->entries, key, entry_bytes(work->entry));
	else if (!work->error)
		put_entry(names, key, work->entry);
	else
		drop_entry((uintptr_t)work->entry, names);
}

/* Methods are an nmethod's own only as long as it is: look again when they are read. */
static void keep_proven(struct code_names *names, struct batch *batch)
{
	const struct code_blob *blobs[CODE_NAMES_AT_ONCE] = { NULL };
	struct work *works[CODE_NAMES_AT_ONCE];
	bool same[CODE_NAMES_AT_ONCE];
	unsigned int count = 0;
	bool all = true;

	for (unsigned int i = 0; i < batch->count; i++)
		if (batch->works[i].entry) {
			blobs[count] = &batch->works[i].blob;
			works[count++] = &batch->works[i];
		}
	code_blobs_check(&names->memory, &names->layout, blobs, count, same);
	for (unsigned int i = 0; i < count; i++) {
		keep(names, works[i], same[i]);
		all = all && same[i];
	}
	if (!all)
		method_names_forget_unproven(names->methods);
	make_room(names);
}

static void read_batch(struct code_names *names, struct batch *batch)
{
	vm_ahead_init(&batch->ahead, &names->memory, batch->readers, batch->count);
	find_blobs(names, batch);
	for (unsigned int i = 0; i < batch->count; i++)
		if (batch->works[i].is_new && batch->works[i].entry)
			read_scopes(names, &batch->works[i], &batch->readers[i]);
	read_names(names, batch);
	keep_proven(names, batch);
	vm_ahead_release(&batch->ahead);
}

/* The work of BATCH that reads this code. */
static uint32_t find_work(const struct batch *batch, uint32_t compile_id)
{
	uint32_t at = 0;

	while (at < batch->count && batch->works[at].place.compile_id != compile_id)
		at++;
	return at;
}

/* ENTRY: of the code that is known; NULL. */
static void add_work(struct batch *batch, const struct code_place *place, struct code_name *entry)
{
	uint32_t at = find_work(batch, place->compile_id);
	struct work *work = &batch->works[batch->count++];

	*work = (struct work){ .place = *place, .rides = at, .is_new = !entry };
	if (!entry || work != &batch->works[at])
		return;
	/* Another place of it. When it is gone, its method is all that is left of it. */
	work->entry = entry;
	work->kept = entry->chain.count;
	work->blob = (struct code_blob){ .start = entry->start,
					 .method = entry->chain.method,
					 .compile_id = entry->compile_id };
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

static bool is_known(const struct code_name *entry, uint64_t address)
{
	return entry && (entry->stub || chain_names_has(&entry->chain, address));
}

void code_names_meet(struct code_names *names, const struct code_place *places, unsigned int count)
{
	struct batch batch;

	batch.count = 0;
	for (unsigned int i = 0; i < count; i++) {
		const struct code_place *place = &places[i];
		struct code_name *entry = find_entry(names, place->address, place->compile_id);

		if (!is_known(entry, place->address) &&
		    !place_name(&names->layout.wire, place->address))
			add_work(&batch, place, entry);
		if (batch.count == CODE_NAMES_AT_ONCE) {
			read_batch(names, &batch);
			batch.count = 0;
		}
	}
	if (batch.count)
		read_batch(names, &batch);
}

/* One alone; why it could not be read, or 0. */
static int read_place(struct code_names *names, uint64_t address, uint32_t compile_id,
		      struct code_name *entry)
{
	struct batch batch;

	batch.count = 0;
	add_work(&batch, &(struct code_place){ address, compile_id }, entry);
	read_batch(names, &batch);
	return batch.works[0].error;
}

int code_names_find(struct code_names *names, uint64_t address, uint32_t compile_id,
		    struct java_answer *ret_answer)
{
	struct code_name *entry;
	int r = -ESTALE;

	ret_answer->count = 0;
	ret_answer->stub = place_name(&names->layout.wire, address);
	if (ret_answer->stub)
		return 0;
	entry = find_entry(names, address, compile_id);
	if (!is_known(entry, address)) {
		r = read_place(names, address, compile_id, entry);
		entry = find_entry(names, address, compile_id);
	}
	if (!entry)
		return r;
	ret_answer->stub = entry->stub;
	if (entry->stub)
		return 0;
	ret_answer->count = chain_names_find(&entry->chain, address, ret_answer->frames);
	if (ret_answer->count)
		return 0;
	/* Who is told of its method alone does not ask again. */
	if (vm_error_passes(r))
		return r;
	ret_answer->count = chain_names_own(&entry->chain, ret_answer->frames);
	return 0;
}
