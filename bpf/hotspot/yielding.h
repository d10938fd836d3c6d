/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Which virtual thread is about to leave its carrier, or comes back to one? VirtualThread.yieldContinuation() has made the carrier its own
 * Thread.currentThread() before its frames go into the heap, and makes it the virtual one's when they are back (java/lang/VirtualThread.java,
 * JDK 21 to 28), so JavaThread::_vthread does not tell. But the ContinuationEntry knows its Continuation (share/runtime/continuationEntry.hpp),
 * whose field "target" is an object of VirtualThread's inner class that has two references, one of them to the VirtualThread: which
 * one its class says. The thread is "in Java" where this is read, in a leaf function of libjvm, so that no collection that stops Java begins meanwhile.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_YIELDING_H
#define HOSTPROF_BPF_HOTSPOT_YIELDING_H

#include "hotspot/blocker.h"
#include "hotspot/frozen.h"

#define YIELDING_REFERENCES 2

struct yielding {
	wire_u64 object; /* the VirtualThread */
	wire_u64 id;	 /* its number */
};

/* What the Continuation runs into which the JavaThread at THREAD has gone, 0: none, or it cannot be read. */
static inline wire_u64 yielding_target(const struct wire_parking *jvm, struct unwind_memory *memory,
				       wire_u64 thread)
{
	wire_u64 entry, cont, target;

	if (!jvm->yielding.klass || !cursor_is_user(thread) ||
	    memory_read(memory, &entry, 8, thread + jvm->yielding.entry) ||
	    !cursor_is_user(entry) || memory_read(memory, &cont, 8, entry + FROZEN_ENTRY_CONT) ||
	    !cursor_is_user(cont) ||
	    !blocker_read_reference(&jvm->blocker, memory, cont + jvm->yielding.target, &target) ||
	    !cursor_is_user(target))
		return 0;
	return target;
}

/* Of the JavaThread at THREAD. False: it has gone into no virtual thread, or it cannot be read. */
static inline bool yielding_find(const struct wire_parking *jvm, struct unwind_memory *memory,
				 wire_u64 thread, struct yielding *ret)
{
	wire_u64 at = yielding_target(jvm, memory, thread);

	if (!at)
		return false;
	at += jvm->yielding.first;
	for (int i = 0; i < YIELDING_REFERENCES; i++) {
		if (!blocker_read_reference(&jvm->blocker, memory, at, &ret->object))
			return false;
		if (object_klass(&jvm->object, memory, ret->object) == jvm->yielding.klass)
			return !memory_read(memory, &ret->id, 8, ret->object + jvm->yielding.id) &&
			       ret->id;
		at += jvm->blocker.oop_bytes;
	}
	return false;
}

/* What it parks for, into *RET. False: for nothing that it has noted, or not at all. */
static inline bool yielding_find_blocker(const struct wire_parking *jvm,
					 struct unwind_memory *memory,
					 const struct yielding *yielding, struct blocker *ret)
{
	if (!jvm->blocker.field ||
	    !blocker_read_reference(&jvm->blocker, memory, yielding->object + jvm->blocker.field,
				    &ret->object))
		return false;
	ret->klass = object_klass(&jvm->object, memory, ret->object);
	return ret->klass;
}

#endif
