/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a JVM: their tids, and their names by time, which its agent tells and which are read from outside.
 *
 * The tid of a Java thread: JavaThread -> OSThread -> _thread_id. Source:
 * src/hotspot/share/runtime/{thread,javaThread,osThread}.hpp; _osthread is a JavaThread's in the
 * tables of JDK 8 to 21 and a Thread's from 25 on.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/jvm_private.h"
#include "jvm/layout/vm_memory.h"
#include "process/proc.h"

/* What reading names takes of the loop's time, for each JVM: 30 us a name alone, 10 us among others. */
static const struct name_allowance allowance = { 20 * NSEC_PER_MSEC, 20 };
/* A JVM that starts does not know its classes yet. */
#define LAYOUT_WAIT_NS	   (20 * NSEC_PER_MSEC)
#define LAYOUT_MAX_WAIT_NS (2 * NSEC_PER_SEC)
/* To list threads; of 2,000 it takes a millisecond. */
#define LIST_NS (10 * NSEC_PER_MSEC)
/* Ways to names that are looked at again: of five hundred threads. Others are read anew. */
#define KNOWN_BYTES (256U << 10)

struct known_name {
	uint64_t id;
	char *name;			/* owned */
	struct java_thread_trail trail; /* as much of it as there is */
};

static bool find_offsets(const struct vmstructs *vs, uint64_t *ret_osthread, uint64_t *ret_tid)
{
	if (vmstructs_field_offset(vs, "JavaThread", "_osthread", ret_osthread) &&
	    vmstructs_field_offset(vs, "Thread", "_osthread", ret_osthread))
		return false;
	return !vmstructs_field_offset(vs, "OSThread", "_thread_id", ret_tid);
}

/* In the JVM's pid namespace; 0 when it cannot be told. */
static uint32_t read_tid(const struct vmstructs *vs, uint64_t java_thread)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t osthread_at, tid_at, osthread;
	int32_t tid;

	if (!find_offsets(vs, &osthread_at, &tid_at) ||
	    vm_memory_read_u64(memory, java_thread + osthread_at, &osthread) ||
	    vm_memory_read(memory, osthread + tid_at, &tid, sizeof(tid)))
		return 0;
	return tid > 0 ? (uint32_t)tid : 0;
}

void jvm_take_event(const struct codemap_event *event, void *data)
{
	struct jvm *jvm = data;
	struct codemap_event thread;

	if (event->kind == CODEMAP_GONE || event->kind == CODEMAP_LIVE ||
	    event->kind == CODEMAP_LIVE_END) {
		jvm_live_take(jvm, event);
		return;
	}
	if (event->kind != CODEMAP_THREAD_SEEN) {
		codemap_store_add(jvm->store, event);
		return;
	}
	thread = *event;
	thread.kind = CODEMAP_THREAD;
	thread.thread.tid = jvm->vs ? read_tid(jvm->vs, event->thread.java_thread) : 0;
	if (thread.thread.tid)
		codemap_store_add(jvm->store, &thread);
}

/* --- names from outside ----------------------------------------------------------------------- */

void jvm_release_threads(struct jvm_names_of_threads *threads)
{
	thread_names_release(&threads->names);
	lru_clear(&threads->known);
	java_thread_list_release(&threads->list);
	vec_release(&threads->again);
	free(threads->layout);
}

void jvm_learn_tids(struct jvm *jvm)
{
	struct proc_status status;

	if (!jvm->knows_same_tids)
		jvm->same_tids = proc_read_status(jvm->pid, &status) || status.ns_pid == jvm->pid;
	jvm->knows_same_tids = true;
}

uint32_t jvm_ns_tid(struct jvm *jvm, uint32_t tid)
{
	struct proc_status status;
	uint64_t value;

	jvm_learn_tids(jvm);
	if (jvm->same_tids)
		return tid;
	if (lru_get(&jvm->ns_tids, tid, &value))
		return (uint32_t)value;
	value = proc_read_thread_status(jvm->pid, tid, &status) < 0 ? 0 : status.ns_pid;
	if (value)
		lru_put(&jvm->ns_tids, tid, value, 0);
	return (uint32_t)value;
}

static int read_layout(struct jvm *jvm, uint64_t now_ns)
{
	struct jvm_names_of_threads *t = &jvm->threads;
	struct java_thread_layout layout;
	int r;

	if (t->layout || t->refused)
		return t->refused;
	if (!jvm_has_layout(jvm) || now_ns < t->retry_ns)
		return -EAGAIN;
	r = java_thread_layout_read(jvm->vs, &jvm->layout, &layout);
	if (!r)
		t->layout = xmemdup(&layout, sizeof(layout));
	if (r == -EOPNOTSUPP)
		t->refused = r;
	t->wait_ns = t->wait_ns ? MIN(2 * t->wait_ns, LAYOUT_MAX_WAIT_NS) : LAYOUT_WAIT_NS;
	t->retry_ns = now_ns + t->wait_ns;
	return r;
}

static bool find_thread(const struct java_thread_list *list, uint32_t ns_tid,
			struct java_thread_at *ret_at)
{
	const struct java_thread_at *at;

	vec_for_each (at, &list->items) {
		if (at->tid != ns_tid)
			continue;
		*ret_at = *at;
		return true;
	}
	return false;
}

static bool list_is_same(const struct jvm_names_of_threads *t)
{
	struct java_trail_look look = { t->layout, java_thread_list_trail(&t->list), false };

	if (look.trail.count)
		java_thread_trails_check(&look, 1);
	return look.same;
}

/* The list as it is now, if it is older than SINCE_NS. False: it is not, is as it was, or cannot be had. */
static bool list_anew(struct jvm_names_of_threads *t, uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (t->listed_ns >= since_ns)
		return false;
	t->listed_ns = now_ns;
	if (list_is_same(t))
		return false;
	return java_thread_list_read(t->layout, now_ns + LIST_NS, &t->list) == 0;
}

static bool look_for(struct jvm *jvm, const uint32_t *tids, unsigned int count,
		     struct java_thread_read *reads)
{
	bool all = true;

	for (unsigned int i = 0; i < count; i++) {
		free(reads[i].name);
		reads[i] = (struct java_thread_read){ .trail = reads[i].trail };
		find_thread(&jvm->threads.list, jvm_ns_tid(jvm, tids[i]), &reads[i].at);
	}
	java_thread_read(jvm->threads.layout, reads, count);
	for (unsigned int i = 0; i < count; i++)
		all &= reads[i].result != -ESRCH;
	return all;
}

static void drop_known(uint64_t value, void *data)
{
	struct known_name *known =
		(struct known_name *)(uintptr_t)value; /* NOLINT: a pointer that was put there */

	(void)data;
	free(known->name);
	free(known);
}

static void keep_known(struct jvm_names_of_threads *t, uint32_t tid,
		       const struct java_thread_read *read)
{
	size_t trail_bytes = java_thread_trail_bytes(read->trail);
	size_t bytes = offsetof(struct known_name, trail) + trail_bytes;
	struct known_name *known = xmalloc(bytes);

	known->id = read->id;
	known->name = xstrdup(read->name);
	memcpy(&known->trail, read->trail, trail_bytes);
	if (!t->known.limit_bytes)
		lru_init(&t->known, KNOWN_BYTES, drop_known, NULL);
	lru_put(&t->known, tid, (uintptr_t)known, bytes + strlen(known->name) + 1);
}

static void take_name(struct jvm_names_of_threads *t, uint32_t tid, uint64_t begin_ns,
		      struct java_thread_read *read)
{
	const struct thread_reading reading = { begin_ns, clock_now_ns(), read->name,
						read->result ? 0 : read->id };

	if (!read->result || read->result == -ENODATA || read->result == -ESRCH)
		thread_names_add(&t->names, tid, &reading);
	else
		thread_names_add_failure(&t->names, tid, reading.end_ns);
	if (!read->result)
		keep_known(t, tid, read);
	free(TAKE_PTR(read->name));
}

/* The names of up to JAVA_THREAD_READS threads, whose samples are older than SINCE_NS. */
static void read_names(struct jvm *jvm, const uint32_t *tids, unsigned int count, uint64_t since_ns)
{
	_cleanup_free_ struct java_thread_trail *trails = xmalloc(count * sizeof(*trails));
	struct java_thread_read reads[JAVA_THREAD_READS] = { 0 };
	struct jvm_names_of_threads *t = &jvm->threads;
	uint64_t begin_ns = clock_now_ns();

	for (unsigned int i = 0; i < count; i++)
		reads[i].trail = &trails[i];
	if (!look_for(jvm, tids, count, reads) && list_anew(t, since_ns)) {
		begin_ns = clock_now_ns();
		look_for(jvm, tids, count, reads);
	}
	for (unsigned int i = 0; i < count; i++)
		take_name(t, tids[i], begin_ns, &reads[i]);
}

static bool may_read(struct jvm *jvm, uint64_t now_ns)
{
	return name_time_is_left_of(&jvm->threads.time, &allowance, now_ns) &&
	       read_layout(jvm, now_ns) == 0;
}

/* Those of COUNT threads, as far as there is time. */
static void try_names(struct jvm *jvm, const uint32_t *tids, size_t count, uint64_t since_ns)
{
	struct jvm_names_of_threads *t = &jvm->threads;
	unsigned int n;

	for (; count; tids += n, count -= n) {
		uint64_t now_ns = clock_now_ns();
		bool may = may_read(jvm, now_ns);

		n = (unsigned int)MIN(count, JAVA_THREAD_READS);
		if (may)
			read_names(jvm, tids, n, since_ns);
		for (unsigned int i = 0; !may && i < n; i++)
			thread_names_add_failure(&t->names, tids[i], now_ns);
		name_time_take(&t->time, clock_now_ns() - now_ns);
	}
}

void jvm_note_thread(struct jvm *jvm, uint32_t tid, bool runs_java, uint64_t time_ns)
{
	struct jvm_names_of_threads *t = &jvm->threads;

	if (t->refused)
		return;
	switch (thread_names_want(&t->names, tid, runs_java, clock_now_ns())) {
	case THREAD_NOW: try_names(jvm, &tid, 1, time_ns); break;
	case THREAD_AGAIN: vec_push(&t->again, tid); break;
	case THREAD_KNOWN: break;
	}
}

/* --- names that are confirmed ----------------------------------------------------------------- */

/* Of a JVM in a turn: who makes each call of the broker last as long as it may has three of them. The names of the others are read anew. */
#define MOST_CONFIRMED 128

/* Of a thread that is due again. */
struct confirmation {
	struct jvm *jvm;
	uint32_t tid;
	const struct known_name *known; /* NULL: it had no name, as it was not in the list */
	size_t look;			/* of its own way, or that to the list */
};

struct confirmations {
	VEC(struct confirmation) items;
	VEC(struct java_trail_look) looks; /* those of a JVM one behind the other */
};

static const struct known_name *find_known(struct jvm_names_of_threads *t, uint32_t tid)
{
	uint64_t value;

	if (!lru_get(&t->known, tid, &value))
		return NULL;
	return (const struct known_name *)(uintptr_t)
		value; /* NOLINT: a pointer that was put there */
}

static size_t add_look(struct confirmations *c, struct jvm *jvm, struct java_trail trail)
{
	const struct java_trail_look look = { jvm->threads.layout, trail, false };

	vec_push(&c->looks, look);
	return c->looks.len - 1;
}

/* Those that are none of Java's have one look together; who came into the list meanwhile is looked for. */
static void add_due(struct confirmations *c, struct jvm *jvm, uint64_t now_ns)
{
	struct jvm_names_of_threads *t = &jvm->threads;
	size_t count = MIN(t->again.len, MOST_CONFIRMED), list = SIZE_MAX;

	if (!count || !may_read(jvm, now_ns))
		return;
	for (size_t i = 0; i < count; i++) {
		struct confirmation it = { .jvm = jvm, .tid = t->again.items[i] };
		struct java_thread_at at;

		it.known = find_known(t, it.tid);
		if (it.known) {
			it.look = add_look(c, jvm, java_thread_trail_whole(&it.known->trail));
		} else if (find_thread(&t->list, jvm_ns_tid(jvm, it.tid), &at)) {
			it.look = add_look(c, jvm, java_thread_trail_whole(NULL));
		} else {
			if (list == SIZE_MAX)
				list = add_look(c, jvm, java_thread_list_trail(&t->list));
			it.look = list;
		}
		vec_push(&c->items, it);
	}
	vec_remove(&t->again, 0, count);
}

/* Of what was read between BEGIN_NS and now. Who is not confirmed stays due. */
static void take_confirmed(const struct confirmations *c, uint64_t begin_ns)
{
	uint64_t end_ns = clock_now_ns();

	for (size_t i = 0; i < c->items.len; i++) {
		const struct confirmation *it = &c->items.items[i];
		struct jvm_names_of_threads *t = &it->jvm->threads;
		struct thread_reading reading = { begin_ns, end_ns, NULL, 0 };

		name_time_take(&t->time, (end_ns - begin_ns) / c->items.len);
		if (!c->looks.items[it->look].same) {
			vec_push(&t->again, it->tid);
			continue;
		}
		if (it->known) {
			reading.name = it->known->name;
			reading.java_tid = it->known->id;
		} else {
			t->listed_ns = begin_ns;
		}
		thread_names_add(&t->names, it->tid, &reading);
	}
}

/* Is somebody due? Then all that soon will be are read with him. */
static void join_due(struct jvm *const *jvms, size_t count, uint64_t now_ns)
{
	uint32_t tids[MOST_CONFIRMED];
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= jvms[i]->threads.again.len > 0;
	for (size_t i = 0; any && i < count; i++) {
		struct jvm_names_of_threads *t = &jvms[i]->threads;
		size_t room = MOST_CONFIRMED - MIN(t->again.len, MOST_CONFIRMED);
		size_t n = thread_names_take_due(&t->names, now_ns, tids, room);

		for (size_t k = 0; k < n; k++)
			vec_push(&t->again, tids[k]);
	}
}

void jvm_read_threads(struct jvm *const *jvms, size_t count)
{
	struct confirmations c = { VEC_INIT, VEC_INIT };
	uint64_t begin_ns = clock_now_ns();

	join_due(jvms, count, begin_ns);
	for (size_t i = 0; i < count; i++)
		add_due(&c, jvms[i], begin_ns);
	if (c.items.len) {
		java_thread_trails_check(c.looks.items, c.looks.len);
		take_confirmed(&c, begin_ns);
	}
	vec_release(&c.items);
	vec_release(&c.looks);
	for (size_t i = 0; i < count; i++) {
		struct jvm_names_of_threads *t = &jvms[i]->threads;

		if (t->again.len)
			try_names(jvms[i], t->again.items, t->again.len, clock_now_ns());
		t->again.len = 0;
	}
}

/* --- by time ---------------------------------------------------------------------------------- */

/* Agents are not told when a thread is renamed: what was read says it. */
const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns, uint64_t *ret_java_tid)
{
	const char *name = thread_names_find(&jvm->threads.names, tid, time_ns, ret_java_tid);

	if (name || !jvm->store || thread_names_was_renamed(&jvm->threads.names, tid, time_ns))
		return name;
	return codemap_store_thread_name(jvm->store, jvm_ns_tid(jvm, tid), time_ns, ret_java_tid);
}
