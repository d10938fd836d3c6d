/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: share/runtime/{javaThread,lockStack,objectMonitor,basicLock}.hpp, JDK 8 to 28. LockStack::_top counts bytes from the JavaThread
 * on, JDK 21 to 28.
 */
#include "jvm/shown/lock_owner_find.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "jvm/heap/java_thread_list.h"
#include "wire.h"

/* LockStack::CAPACITY */
#define LOCK_STACK_SLOTS 8
/* So many threads are looked at in one call, by three pieces of each at most. */
#define BATCH (VM_MEMORY_MAX_SPANS / 3)

/* Of a thread what tells whether it has the lock. */
struct look {
	uint64_t first, second;
	uint64_t slots[LOCK_STACK_SLOTS];
};

/* How it is looked at. */
struct search {
	const struct vmstructs *vs;
	const struct vm_memory *memory;
	struct java_thread_list list; /* owned */
	uint64_t wanted;
	uint64_t first_at, second_at, slots_at;		/* in a JavaThread */
	uint32_t first_bytes, second_bytes, slot_count; /* 0: not read */
	bool (*is_it)(const struct search *s, uint64_t thread, const struct look *look);
};

static int begin(struct search *s, const struct vmstructs *vs, uint64_t deadline_ns)
{
	struct java_thread_layout l;
	int r = java_thread_layout_read_list(vs, &l);

	s->vs = vs;
	s->memory = vmstructs_memory(vs);
	return r < 0 ? r : java_thread_list_read(&l, deadline_ns, &s->list);
}

static void add(struct vm_gather *g, uint64_t at, void *data, size_t len)
{
	if (len)
		vm_gather_add(g, at, data, len);
}

static void add_look(const struct search *s, struct vm_gather *g, uint64_t thread,
		     struct look *look)
{
	*look = (struct look){ 0 };
	add(g, thread + s->first_at, &look->first, s->first_bytes);
	add(g, thread + s->second_at, &look->second, s->second_bytes);
	add(g, thread + s->slots_at, look->slots, s->slot_count * sizeof(look->slots[0]));
}

/* Those of a thread that has ended meanwhile are 0. */
static int read_looks(const struct search *s, const struct java_thread_at *threads,
		      unsigned int count, struct look *looks)
{
	_cleanup_free_ struct vm_gather *g = xmalloc(sizeof(*g));
	int r;

	vm_gather_init(g);
	for (unsigned int i = 0; i < count; i++)
		add_look(s, g, threads[i].address, &looks[i]);
	r = vm_gather_read(g, s->memory);
	for (unsigned int i = 0; r == -EFAULT && i < count; i++) {
		vm_gather_init(g);
		add_look(s, g, threads[i].address, &looks[i]);
		if (vm_gather_read(g, s->memory) < 0)
			looks[i] = (struct look){ 0 };
	}
	return r == -EFAULT ? 0 : r;
}

/* The first thread that is it; NULL: none is. */
static int look_at_all(const struct search *s, const struct java_thread_at **ret_thread)
{
	_cleanup_free_ struct look *looks = xcalloc(BATCH, sizeof(*looks));

	*ret_thread = NULL;
	for (size_t at = 0; at < s->list.items.len; at += BATCH) {
		const struct java_thread_at *threads = &s->list.items.items[at];
		unsigned int count = (unsigned int)MIN(s->list.items.len - at, BATCH);
		int r = read_looks(s, threads, count, looks);

		if (r < 0)
			return r;
		for (unsigned int i = 0; i < count; i++) {
			if (!s->is_it(s, threads[i].address, &looks[i]))
				continue;
			*ret_thread = &threads[i];
			return 0;
		}
	}
	return 0;
}

/* --- what it is known by ---------------------------------------------------------------------- */

static bool is_at_place(const struct search *s, uint64_t thread, const struct look *look)
{
	return s->wanted == thread || look->first - s->wanted - 1 < look->second;
}

static bool has_number(const struct search *s, uint64_t thread, const struct look *look)
{
	(void)thread;
	return look->first == s->wanted;
}

static bool has_on_lock_stack(const struct search *s, uint64_t thread, const struct look *look)
{
	uint64_t count = (look->first - s->slots_at) / sizeof(look->slots[0]);

	(void)thread;
	for (size_t i = 0; i < LOCK_STACK_SLOTS && i < count; i++)
		if (look->slots[i] == s->wanted)
			return true;
	return false;
}

/* --- virtual threads -------------------------------------------------------------------------- */

static uint64_t read_handle(const struct search *s, uint64_t thread, const char *field)
{
	uint64_t offset, handle, object;

	if (vmstructs_field_offset(s->vs, "JavaThread", field, &offset) < 0 ||
	    vm_memory_read_u64(s->memory, thread + offset, &handle) < 0 ||
	    vm_memory_read_u64(s->memory, handle, &object) < 0)
		return 0;
	return object;
}

/* Thread.currentThread() of a carrier is not the carrier. */
static bool runs_virtual(const struct search *s, uint64_t thread)
{
	uint64_t current = read_handle(s, thread, "_vthread");

	return current && current != read_handle(s, thread, "_threadObj");
}

static int finish(struct search *s, int r, struct lock_owner_found *ret_found)
{
	const struct java_thread_at *thread = NULL;

	if (!r)
		r = look_at_all(s, &thread);
	if (!r && thread)
		*ret_found =
			(struct lock_owner_found){ .tid = thread->tid,
						   .is_virtual = runs_virtual(s, thread->address) };
	else if (!r)
		*ret_found = (struct lock_owner_found){ 0 };
	java_thread_list_release(&s->list);
	return r;
}

/* --- the three -------------------------------------------------------------------------------- */

static int find_field(const struct vmstructs *vs, const char *type, const char *field,
		      uint64_t *ret_at)
{
	return vmstructs_field_offset(vs, type, field, ret_at) < 0 ? -EOPNOTSUPP : 0;
}

int lock_owner_find_place(const struct vmstructs *vs, uint64_t place, uint64_t deadline_ns,
			  struct lock_owner_found *ret_found)
{
	struct search s = { .list = { .items = VEC_INIT },
			    .wanted = place,
			    .first_bytes = 8,
			    .second_bytes = 8,
			    .is_it = is_at_place };
	int r = begin(&s, vs, deadline_ns);

	if (!r)
		r = find_field(vs, "JavaThread", "_stack_base", &s.first_at);
	if (!r)
		r = find_field(vs, "JavaThread", "_stack_size", &s.second_at);
	return finish(&s, r, ret_found);
}

int lock_owner_find_number(const struct vmstructs *vs, uint64_t number, uint64_t deadline_ns,
			   struct lock_owner_found *ret_found)
{
	struct search s = { .list = { .items = VEC_INIT },
			    .wanted = number,
			    .first_bytes = 8,
			    .is_it = has_number };
	int r = begin(&s, vs, deadline_ns);

	if (!r)
		r = find_field(vs, "JavaThread", "_monitor_owner_id", &s.first_at);
	return finish(&s, r, ret_found);
}

/* A WeakHandle: the address of a slot with the object's. */
static int read_object(const struct vmstructs *vs, uint64_t monitor, uint64_t *ret_object)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t offset, handle;
	int r = find_field(vs, "ObjectMonitor", "_object", &offset);

	if (!r)
		r = vm_memory_read_u64(memory, monitor + offset, &handle);
	if (!r)
		r = vm_memory_read_u64(memory, handle, ret_object);
	return r < 0 ? r : *ret_object ? 0 : -ESTALE;
}

static int find_lock_stack(struct search *s)
{
	uint64_t stack, top, base;
	int r = find_field(s->vs, "JavaThread", "_lock_stack", &stack);

	if (!r)
		r = find_field(s->vs, "LockStack", "_top", &top);
	if (!r)
		r = find_field(s->vs, "LockStack", "_base[0]", &base);
	if (r < 0)
		return r;
	s->first_at = stack + top;
	s->first_bytes = sizeof(uint32_t);
	s->slots_at = stack + base;
	s->slot_count = LOCK_STACK_SLOTS;
	return 0;
}

/* Who gives it back says first that it has it. */
static int is_still_anonymous(const struct vmstructs *vs, uint64_t monitor, uint64_t object)
{
	uint64_t offset, owner, now;
	int r = find_field(vs, "ObjectMonitor", "_owner", &offset);

	if (!r)
		r = vm_memory_read_u64(vmstructs_memory(vs), monitor + offset, &owner);
	if (!r)
		r = read_object(vs, monitor, &now);
	if (r < 0)
		return r;
	return owner == WIRE_MONITOR_ANONYMOUS && now == object ? 0 : -ESTALE;
}

int lock_owner_find_anonymous(const struct vmstructs *vs, uint64_t monitor, uint64_t deadline_ns,
			      struct lock_owner_found *ret_found)
{
	struct search s = { .list = { .items = VEC_INIT }, .is_it = has_on_lock_stack };
	struct lock_owner_found found = { 0 };
	int r = begin(&s, vs, deadline_ns);

	if (!r)
		r = find_lock_stack(&s);
	if (!r)
		r = read_object(vs, monitor, &s.wanted);
	r = finish(&s, r, &found);
	if (!r)
		r = is_still_anonymous(vs, monitor, s.wanted);
	if (!r)
		*ret_found = found;
	return r;
}
