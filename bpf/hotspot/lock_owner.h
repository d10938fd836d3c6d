/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Who has the lock that a thread is about to wait for?
 *
 * A monitor's is in ObjectMonitor::_owner (share/runtime/objectMonitor.hpp), to which the thread's own JavaThread::_current_pending_monitor
 * leads while it waits. Up to JDK 23 that is a JavaThread, or, where another thread made the monitor of a lock that its owner had on
 * its stack, a place there (a BasicLock). From 24 on it is the number of a Thread, maybe a virtual one. From 21 on it is ANONYMOUS_OWNER where
 * another thread made the monitor of a lightweight lock: its owner alone has noted it.
 *
 * A lock of java.util.concurrent has it in AbstractOwnableSynchronizer.exclusiveOwnerThread. Whether an object is one its class says, which
 * has the classes that it comes from in an array, Object first (Klass::_primary_supers, share/oops/klass.hpp).
 *
 * Who has a lock does not end before it gives it back, and is asked while the lock is held, or was a moment ago.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_LOCK_OWNER_H
#define HOSTPROF_BPF_HOTSPOT_LOCK_OWNER_H

#include "hotspot/blocker.h"

/* WIRE_OWNER(TID, …) of the JavaThread at ADDRESS, 0: it is none. OWN is a JavaThread: objects of one class have one first word. */
static inline wire_u64 lock_owner_thread(const struct wire_lock_owner *o,
					 struct unwind_memory *memory, wire_u64 own,
					 wire_u64 address)
{
	wire_u64 first, own_first, os;
	wire_u32 tid;

	if (!cursor_is_user(address) || address & 7 || memory_read(memory, &first, 8, address) ||
	    memory_read(memory, &own_first, 8, own) || first != own_first ||
	    memory_read(memory, &os, 8, address + o->os_thread) || !cursor_is_user(os) ||
	    memory_read(memory, &tid, 4, os + o->os_tid))
		return 0;
	return tid ? WIRE_OWNER(TID, tid) : 0;
}

/*
 * Of the thread whose thread pointer is FS and whose stack pointer is SP, which waits to enter a monitor; 0: not known. *RET_MONITOR is
 * that which does not tell, and of which userspace may find it out; else it is not touched.
 */
static inline wire_u64 lock_owner_of_monitor(const struct wire_parking *jvm,
					     struct unwind_memory *memory, wire_u64 fs, wire_u64 sp,
					     wire_u64 *ret_monitor)
{
	const struct wire_lock_owner *o = &jvm->owner;
	struct own_thread own;
	wire_u64 monitor, owner, known;

	if (!o->pending || !own_thread_find(&jvm->own, memory, fs, sp, &own) ||
	    memory_read(memory, &monitor, 8, own.thread + o->pending) || !cursor_is_user(monitor) ||
	    memory_read(memory, &owner, 8, monitor + o->monitor_owner) || !owner)
		return 0;
	if (o->is_anonymous && owner == WIRE_MONITOR_ANONYMOUS) {
		*ret_monitor = monitor;
		return 0;
	}
	if (o->has_ids)
		return WIRE_OWNER(NUMBER, owner);
	known = lock_owner_thread(o, memory, own.thread, owner);
	return known ? known : WIRE_OWNER(PLACE, owner);
}

static inline bool lock_owner_is_lock(const struct wire_lock_owner *o, struct unwind_memory *memory,
				      wire_u64 klass)
{
	wire_u64 super;

	return o->synchronizer && !memory_read(memory, &super, 8, klass + o->supers) &&
	       super == o->synchronizer;
}

/* A virtual one has no JavaThread, or its carrier's while it is on that. */
static inline bool lock_owner_is_virtual(const struct wire_parking *jvm,
					 struct unwind_memory *memory, wire_u64 thread,
					 wire_u64 java_thread)
{
	return !java_thread || (jvm->yielding.klass &&
				object_klass(&jvm->object, memory, thread) == jvm->yielding.klass);
}

/* Of the object that a thread parks for, which may be a lock; 0: nobody has it, or it is none. A thread does not wait for itself. */
static inline wire_u64 lock_owner_of_object(const struct wire_parking *jvm,
					    struct unwind_memory *memory,
					    const struct blocker *blocker)
{
	const struct wire_lock_owner *o = &jvm->owner;
	wire_u64 thread, java_thread, number;

	if (!lock_owner_is_lock(o, memory, blocker->klass) ||
	    !blocker_read_reference(&jvm->blocker, memory, blocker->object + o->exclusive,
				    &thread) ||
	    !cursor_is_user(thread) || memory_read(memory, &java_thread, 8, thread + o->eetop))
		return 0;
	if (!lock_owner_is_virtual(jvm, memory, thread, java_thread))
		return java_thread == blocker->thread
			       ? 0
			       : lock_owner_thread(o, memory, blocker->thread, java_thread);
	if (memory_read(memory, &number, 8, thread + o->thread_id))
		return 0;
	return number ? WIRE_OWNER(VIRTUAL, number) : 0;
}

#endif
