/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The kernel's side of park.h: Unsafe_Park() (share/prims/unsafe.cpp) has a probe at its begin and one at its end, in builds for Linux from JDK 11 on. */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_PARK_PROBE_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_PARK_PROBE_H

#include "hotspot/lock_owner.h"
#include "sample/draw.h"
#include "sample/locks/lock_book.h"
#include "sample/locks/park.h"
#include "sample/thin.h"
#include "sample/trigger.h"

/* Parks had become rare, since for so long none was looked at. */
#define PARK_LOOKS_FORGET_NS 1000000000ULL

/* Shorter ones are not wanted. */
const volatile wire_u64 park_least_ns;
/* In a window of thin.h, of all JVMs on a cpu. */
const volatile wire_u32 park_most = WIRE_PARK_MOST;
/* --waker: of each wait somebody is to tell who ended it. */
const volatile bool lock_tells_wakers;

/* The JVMs that are probed: tgid -> what is known of it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_JVMS);
	__type(key, wire_u32);
	__type(value, struct wire_parking);
} parking_jvms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lock_book);
} lock_books SEC(".maps");

/* NULL: it has none yet. */
static __always_inline struct lock_book *lock_book_find(struct task_struct *task)
{
	return bpf_task_storage_get(&lock_books, task, 0, 0);
}

/* Made if need be; NULL: no memory. */
static __always_inline struct lock_book *lock_book_of(struct task_struct *task)
{
	return bpf_task_storage_get(&lock_books, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* NULL: it is not known, or is another process by now. */
static __always_inline struct wire_parking *park_find_jvm(struct task_struct *task)
{
	wire_u64 start_ns = task->group_leader->start_time;
	wire_u32 tgid = task->tgid;
	struct wire_parking *jvm = bpf_map_lookup_elem(&parking_jvms, &tgid);

	return jvm && target_is_same(&jvm->start_ns, start_ns) ? jvm : NULL;
}

/* May it be asked who has the lock? That takes a microsecond, half of what a park takes: of a thread that parks too often now and then. */
static __always_inline bool park_may_look(struct wire_pace *looks, wire_u64 now_ns)
{
	if (now_ns - looks->window_ns > PARK_LOOKS_FORGET_NS)
		looks->doubled = 0;
	if (!draw_is_taken(looks->doubled, bpf_get_prandom_u32()))
		return false;
	thin_count(looks, now_ns);
	return true;
}

/* When it goes on its lock is somebody else's, or its own. */
static __always_inline wire_u64 park_find_owner(struct task_struct *task)
{
	struct wire_parking *jvm = park_find_jvm(task);
	struct blocker blocker;
	wire_u64 thread;

	if (!jvm || !jvm->owner.synchronizer)
		return 0;
	thread = own_thread_read(&jvm->own, NULL, task->thread.fsbase);
	if (!thread || !blocker_find_of(jvm, NULL, thread, &blocker) || !blocker.object)
		return 0;
	return lock_owner_of_object(jvm, NULL, &blocker);
}

static __always_inline void park_begin(struct task_struct *task)
{
	struct lock_book *book = lock_book_of(task);

	if (!book)
		return;
	book->park_ns = bpf_ktime_get_ns();
	book->owner = park_may_look(&book->looks, book->park_ns) ? park_find_owner(task) : 0;
	if (lock_tells_wakers)
		lock_book_begin(book, book->park_ns);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_pace);
} park_paces SEC(".maps");

/* Of all JVMs on this cpu. */
static __always_inline struct wire_pace *park_pace_of_all(void)
{
	wire_u32 zero = 0;

	return bpf_map_lookup_elem(&park_paces, &zero);
}

/* As park_choose(), of a JVM among all of the host. */
static __always_inline wire_u32 park_choose_here(struct wire_pace *pace, wire_u64 length_ns,
						 wire_u64 now_ns)
{
	wire_u32 random = bpf_get_prandom_u32();
	struct wire_pace *all = park_pace_of_all();

	if (!all)
		return park_choose(pace, length_ns, now_ns, random);
	return park_choose_of_all(pace, all, park_most, length_ns, now_ns, random);
}

/*
 * Of a wait that the agent has chosen already, which weighs WEIGHT_NS since: only all JVMs' pace is asked. Who multiplies the two chances has sums that
 * stay, too.
 */
static __always_inline wire_u32 park_choose_again(wire_u64 weight_ns, wire_u64 now_ns)
{
	struct wire_pace *all = park_pace_of_all();

	if (!all)
		return 1;
	return park_choose_of(all, park_most, weight_ns, now_ns, bpf_get_prandom_u32());
}

/* Of a thread that goes on: how long it had parked, 0: nothing is to be told of it. */
static __always_inline wire_u64 park_end(struct trigger *trigger, struct wire_pace *pace,
					 wire_u32 *ret_chance)
{
	struct lock_book *book = lock_book_find(trigger->task);
	wire_u64 length_ns;

	if (!book)
		return 0;
	length_ns = park_length(book->park_ns, trigger->time_ns, park_least_ns);
	trigger->wait_number = lock_book_end(book, book->park_ns);
	book->park_ns = 0;
	if (!length_ns)
		return 0;
	*ret_chance = park_choose_here(pace, length_ns, trigger->time_ns);
	if (!*ret_chance)
		return 0;
	trigger->lock_owner = book->owner;
	return length_ns;
}

static __always_inline void park_tell_object(struct trigger *trigger,
					     const struct wire_parking *jvm, wire_u64 sp)
{
	struct blocker blocker = {};

	if (!blocker_find(jvm, NULL, trigger->task->thread.fsbase, sp, &blocker))
		return;
	trigger->alloc_object = blocker.object;
	trigger->alloc_class = blocker.object ? blocker.klass : WIRE_PARKED_FOR_NOTHING;
}

/* False: nothing is to be told. */
static __always_inline bool park_fill(struct trigger *trigger, wire_u64 sp)
{
	struct wire_parking *jvm = park_find_jvm(trigger->task);
	wire_u32 chance = 1;

	if (!jvm)
		return false;
	trigger->time_ns = bpf_ktime_get_ns();
	trigger->alloc_size = park_end(trigger, &jvm->pace, &chance);
	if (!trigger->alloc_size)
		return false;
	trigger->alloc_interval = chance;
	trigger->weight = trigger->alloc_size * chance;
	park_tell_object(trigger, jvm, sp);
	return true;
}

#endif
