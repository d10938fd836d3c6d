/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Virtual threads that park and leave their carrier. A wait begins where the frames go into the heap, and is over where they come back, maybe
 * on another carrier: the thread's number joins the two. Only waits for an object that is noted are told: a sleep, a yield and the wait for a
 * socket look the same otherwise, and are no waits for a lock.
 */
#ifndef HOSTPROF_BPF_SAMPLE_LOCKS_YIELD_PROBE_H
#define HOSTPROF_BPF_SAMPLE_LOCKS_YIELD_PROBE_H

#include "hotspot/yielding.h"
#include "sample/locks/park_probe.h"
#include "sample/yields.h"

/* The carrier TASK, whose JavaThread is at THREAD, puts a virtual thread's frames into the heap. */
static __always_inline void yield_begin(struct task_struct *task, wire_u64 thread)
{
	struct wire_parking *jvm = park_find_jvm(task);
	struct lock_book *book = lock_book_of(task); /* the carrier's */
	struct wire_yield yield = {};
	struct yielding yielding;
	struct blocker blocker = { .thread = thread };

	if (!jvm || !yielding_find(jvm, NULL, thread, &yielding) ||
	    !yielding_find_blocker(jvm, NULL, &yielding, &blocker))
		return;
	yield.begin_ns = bpf_ktime_get_ns();
	if (book && park_may_look(&book->looks, yield.begin_ns))
		yield.owner = lock_owner_of_object(jvm, NULL, &blocker);
	yield_note(WIRE_YIELD_OF_LOCK, task->tgid, yielding.id, &yield);
}

/* The virtual thread ID of process TGID has come back at NOW_NS. False: nothing is to be told of its wait. */
static __always_inline bool yield_end(struct lock_told *told, struct wire_pace *pace, wire_u32 tgid,
				      wire_u64 id, wire_u64 now_ns)
{
	struct wire_yield yield;

	if (!yield_take(WIRE_YIELD_OF_LOCK, tgid, id, now_ns, &yield))
		return false;
	told->length_ns = park_length(yield.begin_ns, now_ns, park_least_ns);
	told->owner = yield.owner;
	if (!told->length_ns)
		return false;
	told->chance = park_choose_here(pace, told->length_ns, now_ns);
	return told->chance;
}

/*
 * The carrier TASK, whose JavaThread is at THREAD, gets a virtual thread's frames back at NOW_NS: what is to be told of that one's wait,
 * NULL: nothing. Its stack is not the walk's.
 */
static __noinline struct lock_told *yield_tell(struct task_struct *task, wire_u64 thread,
					       wire_u64 now_ns)
{
	struct wire_parking *jvm = park_find_jvm(task);
	struct lock_book *book = lock_book_of(task);
	struct yielding yielding;
	struct blocker blocker;

	if (!jvm || !book || !yielding_find(jvm, NULL, thread, &yielding) ||
	    !yielding_find_blocker(jvm, NULL, &yielding, &blocker) ||
	    !yield_end(&book->told, &jvm->pace, task->tgid, yielding.id, now_ns))
		return NULL;
	book->told.object = blocker.object;
	book->told.klass = blocker.klass;
	book->told.thread = yielding.object;
	return &book->told;
}

static __always_inline bool yield_fill(struct trigger *trigger, wire_u64 thread)
{
	trigger->time_ns = bpf_ktime_get_ns();
	trigger->told = yield_tell(trigger->task, thread, trigger->time_ns);
	if (!trigger->told)
		return false;
	trigger->weight = trigger->told->length_ns * trigger->told->chance;
	return true;
}

#endif
