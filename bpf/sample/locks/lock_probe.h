/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of lock.h: a wait to enter a monitor has begun, which is when it is known who has that. */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_PROBE_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_LOCK_PROBE_H

#include "sample/locks/lock.h"
#include "sample/locks/park_probe.h"

/* A wait by its begin: a virtual thread may end it on another thread than it began on. */
struct lock_key {
	wire_u64 begin_ns;
	wire_u64 tgid;
};

/* Who had the monitor. Waits that never end, or were too short to be told, go as the oldest. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* WIRE_LOCK_WAITS where the event is wanted */
	__type(key, struct lock_key);
	__type(value, wire_u64);
} lock_owners SEC(".maps");

/* What cannot be sent is not known. */
static __always_inline void lock_ask(struct task_struct *task, struct cpu_state *state,
				     wire_u64 monitor, wire_u64 begin_ns)
{
	struct wire_lock_begin begin = { .size = sizeof(begin),
					 .kind = WIRE_LOCK_BEGIN,
					 .begin_ns = begin_ns,
					 .monitor = monitor,
					 .tgid = task->tgid,
					 .tid = task->pid };
	wire_u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (ring)
		bpf_ringbuf_output(ring, &begin, sizeof(begin),
				   emit_wakeup(state, ring, sizeof(begin), true));
}

/* Whoever wakes it is told of, too. */
static __always_inline void lock_note_begin(struct task_struct *task, wire_u64 begin_ns)
{
	struct lock_book *book;

	if (!lock_tells_wakers)
		return;
	book = lock_book_of(task);
	if (book)
		lock_book_begin(book, begin_ns);
}

/* Of the wait that began at BEGIN_NS and is over; 0: nobody is told of. */
static __always_inline wire_u32 lock_note_end(struct task_struct *task, wire_u64 begin_ns)
{
	struct lock_book *book;

	if (!lock_tells_wakers)
		return 0;
	book = lock_book_find(task);
	return book ? lock_book_end(book, begin_ns) : 0;
}

static __always_inline void lock_begin(struct trigger *trigger, struct cpu_state *state,
				       wire_u64 begin_ns, wire_u64 sp)
{
	struct lock_key key = { begin_ns, trigger->task->tgid };
	struct wire_parking *jvm = park_find_jvm(trigger->task);
	wire_u64 owner, monitor = 0;

	if (!jvm || !jvm->owner.pending)
		return;
	owner = lock_owner_of_monitor(jvm, NULL, trigger->task->thread.fsbase, sp, &monitor);
	if (monitor)
		owner = WIRE_OWNER(ANONYMOUS, begin_ns);
	if (!owner)
		return;
	bpf_map_update_elem(&lock_owners, &key, &owner, BPF_ANY);
	if (monitor)
		lock_ask(trigger->task, state, monitor, begin_ns);
}

/* Of the wait that began at BEGIN_NS; 0: not known. */
static __always_inline wire_u64 lock_owner_at(struct task_struct *task, wire_u64 begin_ns)
{
	struct lock_key key = { begin_ns, task->tgid };
	wire_u64 *known = bpf_map_lookup_elem(&lock_owners, &key), owner;

	if (!known)
		return 0;
	owner = *known;
	bpf_map_delete_elem(&lock_owners, &key);
	return owner;
}

/* --- who lets go of it ------------------------------------------------------------------------ */

/* TASK is woken: of which of its waits is to be told who does it, 0: of none. Runs with its lock held, and interrupts off. */
static __always_inline wire_u32 lock_wake(struct task_struct *task, wire_u64 now_ns)
{
	struct lock_book *book = lock_book_find(task);

	return book ? lock_book_wake(book, now_ns, park_least_ns) : 0;
}

#endif
