/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/jvm_private.h"
#include "jvm/layout/libjvm.h"

/* Samples are resolved within a second of being taken; the rest is for a busy host. */
#define TABLE_HISTORY_NS (10 * NSEC_PER_SEC)
#define TABLE_EXPIRE_NS	 NSEC_PER_SEC
/* The registry knows a process some hundred milliseconds after its events came, or never. */
#define TABLE_UNCLAIMED_NS (30 * NSEC_PER_SEC)

/* What one turn may take for all code maps: those that take the most wait for the next one. */
#define TABLE_POLL_NS (50 * NSEC_PER_MSEC)

/* To forget less than this makes no room. */
#define TABLE_SMALL_BYTES (1U << 20)

/* What the names of compiled code may take of memory, of all JVMs. */
#define TABLE_NAMES_BYTES (16U << 20)

/* What is known of one process. */
struct seat {
	struct attachment attachment;
	struct jvm *jvm;	  /* borrowed from the table; NULL: none */
	uint64_t mappings_serial; /* that was looked at for it */
};

struct jvm_table {
	VEC(struct jvm *) jvms;	       /* owned */
	VEC(struct jvm *) turn;	       /* the same, in the order of the last poll */
	struct book seats;	       /* of the processes that were asked for */
	struct vmstructs_cache *cache; /* owned */
	void *buffer;		       /* owned, CODEMAP_READ_BYTES */
	uint64_t expired_ns;
	size_t code_map_limit;		/* bytes of all stores; 0: none */
	uint64_t forgotten;		/* stores, for their size */
	uint32_t forgotten_pid;		/* the first one's */
	uint32_t past_without_inlining; /* of JVMs that have gone */
	uint32_t last_id;
	uint32_t alloc_interval; /* of every JVM */
	bool wants_locks;	 /* likewise, and what follows */
	uint64_t lock_least_ns;
	bool follows_objects; /* every JVM's agent */
	uint32_t shows;	      /* of every JVM */
};

struct jvm_table *jvm_table_new(void)
{
	struct jvm_table *table = xcalloc(1, sizeof(*table));

	table->cache = vmstructs_cache_new();
	table->buffer = xmalloc(CODEMAP_READ_BYTES);
	return table;
}

void jvm_table_sample_allocations(struct jvm_table *table, uint32_t interval)
{
	table->alloc_interval = interval;
}

void jvm_table_show(struct jvm_table *table, uint32_t shows)
{
	table->shows = shows;
}

void jvm_table_sample_locks(struct jvm_table *table, uint64_t least_ns)
{
	table->wants_locks = true;
	table->lock_least_ns = least_ns;
}

uint32_t jvm_table_without_locks(const struct jvm_table *table)
{
	uint32_t count = 0;

	for (size_t i = 0; i < table->jvms.len; i++)
		count += jvm_hides_locks(table->jvms.items[i]);
	return count;
}

void jvm_table_free(struct jvm_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->jvms.len; i++)
		jvm_free(table->jvms.items[i]);
	vec_release(&table->jvms);
	vec_release(&table->turn);
	for (size_t i = 0; i < table->seats.all.len; i++)
		free(container_of(table->seats.all.items[i], struct seat, attachment));
	book_release(&table->seats);
	vmstructs_cache_free(table->cache);
	free(table->buffer);
	free(table);
}

static bool hides_inlining(const struct jvm *jvm)
{
	return jvm->no_scopes && !jvm_has_code_map(jvm);
}

uint32_t jvm_table_without_inlining(const struct jvm_table *table)
{
	uint32_t count = table->past_without_inlining;

	for (size_t i = 0; i < table->jvms.len; i++)
		count += hides_inlining(table->jvms.items[i]);
	return count;
}

void jvm_table_for_each_unread(const struct jvm_table *table,
			       void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		if (table->jvms.items[i]->why[0])
			fn(table->jvms.items[i]->pid, table->jvms.items[i]->why, data);
}

static void remove_at(struct jvm_table *table, size_t at)
{
	table->past_without_inlining += hides_inlining(table->jvms.items[at]);
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

	jvm->alloc_interval = table->alloc_interval;
	jvm->wants_locks = table->wants_locks;
	jvm->lock_least_ns = table->lock_least_ns;
	jvm->live.follows = table->follows_objects;
	jvm->shown.wanted = table->shows;
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

/* Made before the registry knew of PROCESS, and after that began. */
static struct jvm *find_unclaimed(struct jvm_table *table, const struct process *process,
				  const struct mapping *libjvm)
{
	struct jvm *jvm = jvm_table_find(table, process->pid, libjvm, false);

	return jvm && !jvm->serial && jvm->made_ns >= process->begin_ns ? jvm : NULL;
}

static struct jvm *claim(struct jvm_table *table, const struct process *process,
			 const struct mapping *libjvm)
{
	struct jvm *jvm = find_unclaimed(table, process, libjvm);

	if (!jvm)
		jvm = make(table, process->pid, libjvm);
	jvm->serial = process->serial;
	return jvm;
}

static struct seat *find_seat(const struct jvm_table *table, const struct process *process)
{
	return book_entry(&table->seats, &process->attached, struct seat, attachment);
}

static struct seat *add_seat(struct jvm_table *table, struct process *process)
{
	struct seat *seat = xcalloc(1, sizeof(*seat));

	book_attach(&table->seats, &process->attached, &seat->attachment);
	return seat;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	struct seat *seat = find_seat(table, process);
	const struct mapping *libjvm;

	/* cheap for the many processes that are no JVM: until they map something more */
	if (seat && (seat->jvm || seat->mappings_serial == process->mappings_serial))
		return seat->jvm;
	if (!seat)
		seat = add_seat(table, process);
	seat->mappings_serial = process->mappings_serial;
	libjvm = libjvm_find_mapping(process);
	if (libjvm)
		seat->jvm = claim(table, process, libjvm);
	return seat->jvm;
}

static void remove_jvm(struct jvm_table *table, const struct jvm *jvm)
{
	for (size_t i = table->jvms.len; i-- > 0;)
		if (table->jvms.items[i] == jvm)
			remove_at(table, i);
}

void jvm_table_forget(struct jvm_table *table, struct process *process)
{
	struct seat *seat = find_seat(table, process);

	if (!seat)
		return;
	if (seat->jvm)
		remove_jvm(table, seat->jvm);
	book_detach(&table->seats, &process->attached, &seat->attachment);
	free(seat);
}

static void share_names(struct jvm_table *table)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		if (table->jvms.items[i]->code)
			code_names_limit(table->jvms.items[i]->code,
					 TABLE_NAMES_BYTES / table->jvms.len);
}

void jvm_table_limit_code_maps(struct jvm_table *table, size_t bytes)
{
	table->code_map_limit = bytes;
}

static size_t store_bytes(const struct jvm *jvm)
{
	return jvm->store ? codemap_store_bytes(jvm->store) : 0;
}

bool jvm_table_forget_largest(struct jvm_table *table)
{
	struct jvm **jvm, *largest = NULL;

	vec_for_each (jvm, &table->jvms)
		if (store_bytes(*jvm) > (largest ? store_bytes(largest) : TABLE_SMALL_BYTES))
			largest = *jvm;
	if (!largest)
		return false;
	codemap_store_forget(largest->store, clock_now_ns());
	if (!table->forgotten++)
		table->forgotten_pid = largest->pid;
	return true;
}

uint64_t jvm_table_forgotten(const struct jvm_table *table, uint32_t *ret_pid)
{
	*ret_pid = table->forgotten_pid;
	return table->forgotten;
}

static void limit_code_maps(struct jvm_table *table)
{
	size_t sum;
	struct jvm **jvm;

	do {
		sum = 0;
		vec_for_each (jvm, &table->jvms)
			sum += store_bytes(*jvm);
	} while (table->code_map_limit && sum > table->code_map_limit &&
		 jvm_table_forget_largest(table));
}

/* --- threads ---------------------------------------------------------------------------------- */

/* There may be one that the registry does not know yet, and an older one. */
void jvm_table_note_thread(struct jvm_table *table, uint32_t pid, uint32_t tid, bool begins,
			   uint64_t time_ns)
{
	struct jvm **jvm;

	vec_for_each (jvm, &table->jvms)
		if ((*jvm)->pid == pid)
			thread_names_mark(&(*jvm)->threads.names, tid,
					  begins ? THREAD_BEGINS : THREAD_COMM, time_ns);
}

void jvm_table_note_loss(struct jvm_table *table, uint64_t time_ns)
{
	struct jvm **jvm;

	vec_for_each (jvm, &table->jvms)
		thread_names_lose(&(*jvm)->threads.names, time_ns);
}

/* --- turns ------------------------------------------------------------------------------------ */

static int compare_costs(const void *a, const void *b)
{
	uint64_t x = (*(struct jvm *const *)a)->poll_cost_ns;
	uint64_t y = (*(struct jvm *const *)b)->poll_cost_ns;

	return (x > y) - (x < y);
}

/*
 * The cheapest first: who writes as much as it can has what the others leave. All of them keep
 * their leases.
 */
static void poll_code_maps(struct jvm_table *table, uint64_t now_ns)
{
	struct jvm **jvm;

	table->turn.len = 0;
	vec_for_each (jvm, &table->jvms)
		vec_push(&table->turn, *jvm);
	if (table->turn.len)
		qsort(table->turn.items, table->turn.len, sizeof(*jvm), compare_costs);
	vec_for_each (jvm, &table->turn)
		jvm_poll(*jvm, table->buffer, now_ns, now_ns + TABLE_POLL_NS);
}

static void expire(struct jvm_table *table, uint64_t now_ns)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		jvm_expire(table->jvms.items[i], now_ns - TABLE_HISTORY_NS);
	share_names(table);
	table->expired_ns = now_ns;
	remove_unclaimed(table, now_ns);
}

void jvm_table_poll(struct jvm_table *table)
{
	uint64_t now_ns = clock_now_ns();

	poll_code_maps(table, now_ns);
	jvm_read_threads(table->jvms.items, table->jvms.len);
	limit_code_maps(table);
	if (now_ns - table->expired_ns > TABLE_EXPIRE_NS)
		expire(table, now_ns);
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

/* --- objects that agents follow --------------------------------------------------------------- */

void jvm_table_follow_objects(struct jvm_table *table)
{
	table->follows_objects = true;
}

void jvm_table_take_gone(struct jvm_table *table, uint64_t until_ns, jvm_gone_fn fn, void *data)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		jvm_live_hand_out_gone(table->jvms.items[i], until_ns, fn, data);
}

void jvm_table_ask_live(struct jvm_table *table, bool collect, uint64_t until_ns)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		jvm_live_ask(table->jvms.items[i], collect, until_ns);
}

bool jvm_table_told_live(const struct jvm_table *table, uint64_t now_ns)
{
	for (size_t i = 0; i < table->jvms.len; i++)
		if (jvm_live_is_waited_for(table->jvms.items[i], now_ns))
			return false;
	return true;
}

void jvm_table_for_each_live(const struct jvm_table *table,
			     void (*fn)(const struct jvm_live_report *report, void *data),
			     void *data)
{
	for (size_t i = 0; i < table->jvms.len; i++) {
		struct jvm_live_report report;

		if (jvm_live_report(table->jvms.items[i], &report))
			fn(&report, data);
	}
}
