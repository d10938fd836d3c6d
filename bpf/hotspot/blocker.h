/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What does a thread that has parked wait for? LockSupport.park(Object) notes it in the field parkBlocker of who calls, a java.lang.Thread
 * (java/util/concurrent/locks/LockSupport.java, JDK 8 to 28), which JavaThread::_threadObj leads to, and from JDK 21 on _vthread, which
 * may be a virtual one. This is read while the thread is in Unsafe_Park() (share/prims/unsafe.cpp): it is "in the VM" at the
 * probes there, and no collection that stops Java can begin before it leaves.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_BLOCKER_H
#define HOSTPROF_BPF_HOTSPOT_BLOCKER_H

#include "hotspot/object.h"
#include "hotspot/own_thread.h"

struct blocker {
	wire_u64 thread; /* whose it is: a JavaThread */
	wire_u64 object; /* address; 0: nothing was noted */
	wire_u64 klass;	 /* address of its Klass */
};

/* The object to which the word at ADDRESS in another one refers. Inline, as Linux 6.1 does not see what a function of its own writes by a pointer. */
static __always_inline bool blocker_read_reference(const struct wire_blocker *b,
						   struct unwind_memory *memory, wire_u64 address,
						   wire_u64 *ret_object)
{
	wire_u64 bits = 0;

	if (memory_read(memory, &bits, b->oop_bytes == 4 ? 4 : 8, address))
		return false;
	if (bits && b->oop_bytes == 4)
		bits = b->oop_base + (bits << (b->oop_shift & 31));
	*ret_object = bits;
	return true;
}

/* Of the JavaThread at THREAD. */
static inline bool blocker_read_object(const struct wire_blocker *b, struct unwind_memory *memory,
				       wire_u64 thread, wire_u64 *ret_object)
{
	wire_u64 object;

	return !memory_read(memory, &object, 8, thread + b->thread_object) &&
	       !(b->has_handle && memory_read(memory, &object, 8, object)) &&
	       cursor_is_user(object) &&
	       blocker_read_reference(b, memory, object + b->field, ret_object);
}

/* Of the JavaThread at THREAD. False: it cannot be read. */
static inline bool blocker_find_of(const struct wire_parking *jvm, struct unwind_memory *memory,
				   wire_u64 thread, struct blocker *ret)
{
	ret->thread = thread;
	ret->klass = ret->object = 0;
	if (!jvm->blocker.field ||
	    !blocker_read_object(&jvm->blocker, memory, thread, &ret->object))
		return false;
	if (!ret->object)
		return true;
	ret->klass = object_klass(&jvm->object, memory, ret->object);
	return ret->klass;
}

/* Of the thread whose thread pointer is FS and whose stack pointer is SP. */
static inline bool blocker_find(const struct wire_parking *jvm, struct unwind_memory *memory,
				wire_u64 fs, wire_u64 sp, struct blocker *ret)
{
	struct own_thread own;

	ret->klass = ret->object = 0;
	return own_thread_find(&jvm->own, memory, fs, sp, &own) &&
	       blocker_find_of(jvm, memory, own.thread, ret);
}

#endif
