/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Which Thread of the JVM is this one? Each notes its own with pthread_setspecific(), at a distance from the thread pointer that is
 * the same for all of a process (userspace/jvm/shown/jvm_own_thread.c).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_OWN_THREAD_H
#define HOSTPROF_BPF_HOTSPOT_OWN_THREAD_H

#include "unwind/cursor.h"

/* Where a Thread lies, and the end of its stack, in which SP is. */
struct own_thread {
	wire_u64 thread;
	wire_u64 stack_end;
};

/* Where it should be, 0: it cannot be read. Who came past a place where only threads of the JVM's are need not look closer. */
static inline wire_u64 own_thread_read(const struct wire_own_thread *own,
				       struct unwind_memory *memory, wire_u64 fs)
{
	wire_u64 thread;

	if (!own->self || !cursor_is_user(fs) || memory_read(memory, &thread, 8, fs + own->self) ||
	    !cursor_is_user(thread))
		return 0;
	return thread;
}

/* Of the thread whose thread pointer is FS and whose stack pointer is SP. False: it is no thread of the JVM's. */
static inline bool own_thread_find(const struct wire_own_thread *own, struct unwind_memory *memory,
				   wire_u64 fs, wire_u64 sp, struct own_thread *ret)
{
	wire_u64 size;

	ret->thread = own_thread_read(own, memory, fs);
	return ret->thread &&
	       !memory_read(memory, &ret->stack_end, 8, ret->thread + own->stack_base) &&
	       !memory_read(memory, &size, 8, ret->thread + own->stack_size) &&
	       ret->stack_end - sp < size;
}

#endif
