/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/jvm_private.h"

/* Samples are resolved within a second of being taken; the rest is for a busy host. */
#define TABLE_HISTORY_NS (10 * NSEC_PER_SEC)
#define TABLE_EXPIRE_NS	 NSEC_PER_SEC
/* The registry knows a process some hundred milliseconds after its events came, or never. */
#define TABLE_UNCLAIMED_NS (30 * NSEC_PER_SEC)

/* What the names of compiled code may take of memory, of all JVMs. */
#define TABLE_NAMES_BYTES (16U << 20)

struct jvm_table {
	VEC(struct jvm *) jvms;	       /* owned */
	struct hmap looked;	       /* process serial -> mappings_serial without libjvm.so */
	struct vmstructs_cache *cache; /* owned */
	void *buffer;		       /* owned, CODEMAP_READ_BYTES */
	uint64_t expired_ns;
	uint32_t last_id;
};

int jvm_table_new(struct jvm_table **ret_table, struct err *err)
{
	struct jvm_table *table = xcalloc(1, sizeof(*table));

	(void)err;
	table->cache = vmstructs_cache_new();
	table->buffer = xmalloc(CODEMAP_READ_BYTES);
	*ret_table = table;
	return 0;
}

void jvm_table_free(struct jvm_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->jvms.len; i++)
		jvm_free(table->jvms.items[i]);
	vec_release(&table->jvms);
	hmap_release(&table->looked);
	vmstructs_cache_free(table->cache);
	free(table->buffer);
	free(table);
}

static void remove_at(struct jvm_table *table, size_t at)
{
	jvm_free(table->jvms.items[at]);
	table->jvms.items[at] = table->jvms.items[--table->jvms.len];
}

/* What the registry never heard of. */
static void remove_unclaimed(struct jvm_table *table, uint64_t now_ns)
{
	for (size_t i = table->jvms.len; i-- > 0;)
		if (!table->jvms.items[i]->serial &&
		    now_ns - table->jvms.items[i]->made_ns > TABLE_UNCLAIMED_NS)
			remove_at(table, i);
}

static struct jvm *make(struct jvm_table *table, uint32_t pid, const struct mapping *libjvm)
{
	struct jvm *jvm = jvm_new(pid, libjvm, table->cache);

	jvm->id = ++table->last_id;
	vec_push(&table->jvms, jvm);
	return jvm;
}

struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid, const struct mapping *libjvm,
			   bool make_new)
{
	for (size_t i = table->jvms.len; i-- > 0;) {
		struct jvm *jvm = table->jvms.items[i];

		if (jvm->pid == pid && jvm->libjvm.start == libjvm->start &&
		    jvm->libjvm.key.inode == libjvm->key.inode)
			return jvm;
	}
	return make_new ? make(table, pid, libjvm) : NULL;
}

static const struct mapping *find_libjvm(const struct process *process)
{
	for (size_t i = 0; i < process->mappings.len; i++) {
		const struct mapping *m = &process->mappings.items[i];

		if (m->path && vmstructs_is_libjvm(m->path, strlen(m->path)))
			return m;
	}
	return NULL;
}

/* Cheap for the many processes that are no JVM: one look-up until they map something more. */
static bool nothing_new(struct jvm_table *table, const struct process *process)
{
	uint64_t serial;

	return hmap_get(&table->looked, process->serial, &serial) &&
	       serial == process->mappings_serial;
}

/* Made before the registry knew of PROCESS, and after that began. */
static struct jvm *find_unclaimed(struct jvm_table *table, const struct process *process,
				  const struct mapping *libjvm)
{
	struct jvm *jvm = jvm_table_find(table, process->pid, libjvm, false);

	return jvm && !jvm->serial && jvm->made_ns >= process->begin_ns ? jvm : NULL;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	const struct mapping *libjvm;
	struct jvm *jvm;

	if (process->jvm)
		return process->jvm;
	if (nothing_new(table, process))
		return NULL;
	libjvm = find_libjvm(process);
	if (!libjvm) {
		hmap_put(&table->looked, process->serial, process->mappings_serial);
		return NULL;
	}
	jvm = find_unclaimed(table, process, libjvm);
	if (!jvm)
		jvm = make(table, process->pid, libjvm);
	jvm->serial = process->serial;
	process->jvm = jvm;
	return jvm;
}

void jvm_table_forget(struct jvm_table *table, struct process *process)
{
	hmap_remove(&table->looked, process->serial);
	for (size_t i = table->jvms.len; i-- > 0;)
		if (table->jvms.items[i]->serial == process->serial)
			remove_at(table, i);
	process->jvm = NULL;
}

static void share_names(struct jvm_table *table)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		if (table->jvms.items[i]->code)
			code_names_limit(table->jvms.items[i]->code,
					 TABLE_NAMES_BYTES / table->jvms.len);
}

void jvm_table_poll(struct jvm_table *table)
{
	uint64_t now_ns = clock_now_ns();
	bool expire = now_ns - table->expired_ns > TABLE_EXPIRE_NS;

	for (size_t i = 0; i < table->jvms.len; i++) {
		jvm_poll(table->jvms.items[i], table->buffer, now_ns);
		if (expire)
			jvm_expire(table->jvms.items[i], now_ns - TABLE_HISTORY_NS);
	}
	if (expire) {
		share_names(table);
		table->expired_ns = now_ns;
		remove_unclaimed(table, now_ns);
	}
}

bool jvm_table_replayed(const struct jvm_table *table)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < table->jvms.len; i++)
		if (!jvm_is_replayed(table->jvms.items[i], now_ns))
			return false;
	return true;
}

void jvm_table_release_leases(struct jvm_table *table)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		codemap_reader_release_lease(&table->jvms.items[i]->reader);
}
