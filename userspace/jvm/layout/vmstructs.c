/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vmstructs.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache/lru.h"
#include "base/hmap.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/libjvm.h"

/* A host has few different builds. */
#define CACHE_MAX_BUILDS 32

/*
 * What a process says of itself holds for itself. It may have written into its copy of the tables; so they
 * are read of each process, and kept once for those that say the same.
 */
struct build {
	struct vmtables *tables; /* a reference; with what the file's symbols add */
	struct file_id file;	 /* whose symbols these are */
};

struct vmstructs_cache {
	struct lru builds; /* hash of what was read → struct build, owned */
};

struct vmstructs {
	struct vm_memory memory;
	uint64_t bias;
	struct vmtables *tables; /* a reference */
};

static void drop_build(uint64_t value, void *data)
{
	struct build *build = (struct build *)(uintptr_t)value;

	(void)data;
	vmtables_unref(build->tables);
	free(build);
}

struct vmstructs_cache *vmstructs_cache_new(void)
{
	struct vmstructs_cache *cache = xcalloc(1, sizeof(*cache));

	lru_init(&cache->builds, CACHE_MAX_BUILDS * LRU_ENTRY_BYTES, drop_build, NULL);
	return cache;
}

void vmstructs_cache_free(struct vmstructs_cache *cache)
{
	if (!cache)
		return;
	lru_clear(&cache->builds);
	free(cache);
}

static const struct build *cache_find(struct vmstructs_cache *cache, const struct vmtables *tables)
{
	const struct build *build;
	uint64_t value;

	if (!cache || !lru_get(&cache->builds, vmtables_hash(tables), &value))
		return NULL;
	build = (const struct build *)(uintptr_t)value;
	return vmtables_equal(build->tables, tables, false) ? build : NULL;
}

static void cache_add(struct vmstructs_cache *cache, struct vmtables *tables,
		      const struct libjvm *lib)
{
	struct build *build = xcalloc(1, sizeof(*build));

	build->tables = vmtables_ref(tables);
	build->file = lib->id;
	lru_put(&cache->builds, vmtables_hash(tables), (uintptr_t)build, 0);
}

static int find_symbols(const struct libjvm *lib, uint64_t ret_addresses[VM_SYMBOL_COUNT])
{
	int r = libjvm_find_symbols(lib, vmtables_symbol_names, VM_SYMBOL_COUNT, ret_addresses);

	for (unsigned int i = 0; r == 0 && i < VM_SYMBOL_COUNT; i++) {
		if (ret_addresses[i] == READER_NOT_THERE)
			return -ENODATA;
		ret_addresses[i] += lib->bias;
	}
	return r;
}

/* Not in the VMStructs of every release that has them, but in a library that was not stripped. */
enum { SYMBOL_STATICS = 3 };

static const char *const symbol_names[SYMBOL_STATICS] = {
	"_ZN12StubRoutines19_cont_returnBarrierE",
	"_ZN17ContinuationEntry10_return_pcE",
	"_ZL20freeze_preempt_entry",
};

static const struct {
	const char *type, *field;
} symbol_statics[SYMBOL_STATICS] = {
	{ "StubRoutines", "_cont_returnBarrier" },
	{ "ContinuationEntry", "_return_pc" },
	{ "Continuation", "freeze_preempt_entry" },
};

static void add_symbol_statics(struct vmtables *tables, const struct libjvm *lib)
{
	uint64_t addresses[SYMBOL_STATICS];

	if (libjvm_find_symbols(lib, symbol_names, SYMBOL_STATICS, addresses) < 0)
		return;
	for (unsigned int i = 0; i < SYMBOL_STATICS; i++)
		if (addresses[i] != READER_NOT_THERE)
			vmtables_add_static(tables, symbol_statics[i].type, symbol_statics[i].field,
					    "address", addresses[i]);
}

static int read_tables(struct vmstructs *vs, const struct libjvm *lib, struct err *err)
{
	uint64_t addresses[VM_SYMBOL_COUNT];
	int r = find_symbols(lib, addresses);

	if (r < 0)
		return err_set(err, r, "libjvm.so of process %u is not HotSpot's: no VMStructs",
			       vs->memory.pid);
	vmtables_unref(TAKE_PTR(vs->tables));
	r = vmtables_read(&vs->memory, addresses, lib->bias, &vs->tables);
	/* Pointers that ld.so has not relocated yet lead nowhere. */
	if (r == -EFAULT)
		r = -EAGAIN;
	if (r == -EAGAIN)
		return err_set(err, r, "the JVM of process %u is still starting", vs->memory.pid);
	return r < 0 ? err_sys(err, r, "cannot read VMStructs of process %u", vs->memory.pid) : 0;
}

/*
 * The interpreter is made late in a JVM's start, long after the constructors that fill the tables:
 * a JVM that has one is ready to be read, and its tables may be shared.
 */
static int check_started(const struct vmstructs *vs, struct err *err)
{
	uint64_t code;
	int r = vmstructs_static_u64(vs, "AbstractInterpreter", "_code", &code);

	if (r == -ENODATA)
		return err_set(err, r, "VMStructs of process %u tell of no interpreter",
			       vs->memory.pid);
	if (r < 0)
		return err_sys(err, r, "cannot read the memory of process %u", vs->memory.pid);
	if (!code)
		return err_set(err, -EAGAIN, "the JVM of process %u is still starting",
			       vs->memory.pid);
	return 0;
}

/*
 * Has another process said the same? Then it is ready to be used, and kept once when the files' symbols
 * say the same, too.
 */
static bool is_known(struct vmstructs_cache *cache, const struct libjvm *lib, struct vmstructs *vs)
{
	const struct build *build = cache_find(cache, vs->tables);

	if (!build)
		return false;
	if (!file_id_equal(&build->file, &lib->id)) {
		add_symbol_statics(vs->tables, lib);
		if (!vmtables_equal(build->tables, vs->tables, true))
			return true;
	}
	vmtables_unref(vs->tables);
	vs->tables = vmtables_ref(build->tables);
	return true;
}

static int open_build(struct vmstructs_cache *cache, const struct libjvm *lib, struct vmstructs *vs,
		      struct err *err)
{
	int r;

	vs->bias = lib->bias;
	r = read_tables(vs, lib, err);
	if (!r)
		r = check_started(vs, err);
	if (r || is_known(cache, lib, vs))
		return r;
	/* What was read may have been half made, though the JVM is ready by now. */
	r = read_tables(vs, lib, err);
	if (r || is_known(cache, lib, vs))
		return r;
	/* Late: they are searched among 100,000 symbols. */
	add_symbol_statics(vs->tables, lib);
	if (cache)
		cache_add(cache, vs->tables, lib);
	return 0;
}

int vmstructs_open(struct vmstructs_cache *cache, uint32_t pid, const struct mapping *libjvm,
		   struct vmstructs **ret_vs, struct err *err)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = xcalloc(1, sizeof(*vs));
	_cleanup_(libjvm_close) struct libjvm lib = LIBJVM_INIT;
	int r = libjvm_open(pid, libjvm, &lib, err);

	vm_memory_init_process(&vs->memory, pid);
	if (!r)
		r = open_build(cache, &lib, vs, err);
	if (r == -EPERM)
		return err_hint(err, "run as root");
	if (r < 0)
		return r;
	*ret_vs = TAKE_PTR(vs);
	return 0;
}

int vmstructs_open_memory(const struct vm_memory *memory, const uint64_t symbols[VM_SYMBOL_COUNT],
			  struct vmstructs **ret_vs)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = xcalloc(1, sizeof(*vs));
	int r = vmtables_read(memory, symbols, 0, &vs->tables);

	if (r < 0)
		return r;
	vs->memory = *memory;
	*ret_vs = TAKE_PTR(vs);
	return 0;
}

void vmstructs_close(struct vmstructs *vs)
{
	if (!vs)
		return;
	vmtables_unref(vs->tables);
	free(vs);
}

const struct vm_memory *vmstructs_memory(const struct vmstructs *vs)
{
	return &vs->memory;
}

int vmstructs_field_offset(const struct vmstructs *vs, const char *type, const char *field,
			   uint64_t *ret_offset)
{
	const struct vmtables_field *f = vmtables_find_field(vs->tables, type, field);

	if (!f || f->is_static)
		return -ENODATA;
	*ret_offset = f->value;
	return 0;
}

int vmstructs_near_offset(const struct vmstructs *vs, const char *type, const char *field,
			  uint16_t *ret_offset)
{
	uint64_t offset;

	if (vmstructs_field_offset(vs, type, field, &offset) < 0 || offset > JVM_LAYOUT_MAX_STRUCT)
		return -EOPNOTSUPP;
	*ret_offset = (uint16_t)offset;
	return 0;
}

int vmstructs_static(const struct vmstructs *vs, const char *type, const char *field,
		     uint64_t *ret_address)
{
	const struct vmtables_field *f = vmtables_find_field(vs->tables, type, field);

	if (!f || !f->is_static)
		return -ENODATA;
	*ret_address = f->value + vs->bias;
	return 0;
}

int vmstructs_static_u64(const struct vmstructs *vs, const char *type, const char *field,
			 uint64_t *ret_value)
{
	uint64_t address;
	int r = vmstructs_static(vs, type, field, &address);

	return r < 0 ? r : vm_memory_read_u64(&vs->memory, address, ret_value);
}

const char *vmstructs_field_type(const struct vmstructs *vs, const char *type, const char *field)
{
	const struct vmtables_field *f = vmtables_find_field(vs->tables, type, field);

	return f ? f->ctype : NULL;
}

int vmstructs_sizeof(const struct vmstructs *vs, const char *type, uint64_t *ret_size)
{
	return vmtables_find_size(vs->tables, type, ret_size) ? 0 : -ENODATA;
}

int vmstructs_int_const(const struct vmstructs *vs, const char *name, int64_t *ret_value)
{
	return vmtables_find_const(vs->tables, name, ret_value) ? 0 : -ENODATA;
}
