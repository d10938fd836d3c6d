/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Which virtual thread does this thread run, and what is its name? JavaThread::_vthread is a handle of what
 * Thread.currentThread() answers (share/runtime/javaThread.hpp, JDK 21 to 28): a java.lang.VirtualThread while one is
 * mounted. It is read while the sample is taken, since a moment later another one may run there. The thread itself stands still
 * then, but where it is in native code a collection may move objects under it: so what was read counts when none
 * was under way before, and none has been since (share/gc/shared/collectedHeap.hpp).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_VIRTUAL_H
#define HOSTPROF_BPF_HOTSPOT_VIRTUAL_H

#include "hotspot/frozen.h"

/* The lowest bits of the mark of an object that has been moved (share/oops/markWord.hpp). */
#define VIRTUAL_MARK_MASK  3
#define VIRTUAL_MARK_MOVED 3
/* No String is longer, but one that is none. */
#define VIRTUAL_MAX_STRING (1U << 20)

/* How many collections there were; false: one is under way, or it cannot be told. */
static inline bool virtual_heap_rests(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u32 *ret_count)
{
	wire_u8 active;

	return !memory_read(memory, &active, 1, c->jvm.virtuals.pause_active) && !active &&
	       !memory_read(memory, ret_count, 4, c->jvm.virtuals.pause_count);
}

/* Is THREAD, which may be any word, the JavaThread of this stack, and in a continuation? */
static inline bool virtual_may_be(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 thread)
{
	wire_u64 entry, base, size;

	return !memory_read(memory, &entry, 8, thread + c->jvm.thread_cont_entry) && entry &&
	       !memory_read(memory, &base, 8, thread + c->jvm.virtuals.stack_base) &&
	       !memory_read(memory, &size, 8, thread + c->jvm.virtuals.stack_size) &&
	       base - c->leaf_sp < size;
}

/* Is there an object at ADDRESS that is of KLASS, and the one that counts? */
static inline bool virtual_is_object(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u64 address, wire_u64 klass)
{
	wire_u64 mark, word;

	if (!cursor_is_user(address) || memory_read(memory, &mark, 8, address) ||
	    (mark & VIRTUAL_MARK_MASK) == VIRTUAL_MARK_MOVED ||
	    memory_read(memory, &word, 8, address + c->jvm.chunks.klass_at))
		return false;
	return (word & c->jvm.chunks.klass_mask) == klass;
}

/* The address of the object that the field at ADDRESS refers to, 0: none. */
static inline wire_u64 virtual_follow(struct unwind_cursor *c, struct unwind_memory *memory,
				      wire_u64 address)
{
	wire_u64 bits = 0;

	if (memory_read(memory, &bits, c->jvm.chunks.oop_bytes == 4 ? 4 : 8, address))
		return 0;
	return frozen_oop(c, bits);
}

/* The characters of the String at STRING. */
static inline void virtual_read_name(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u64 string)
{
	struct virtual_thread *t = &c->virtual_thread;
	wire_u64 array;
	wire_u32 len;
	wire_u8 coder;

	if (!virtual_is_object(c, memory, string, c->jvm.virtuals.string_klass) ||
	    memory_read(memory, &coder, 1, string + c->jvm.virtuals.coder))
		return;
	array = virtual_follow(c, memory, string + c->jvm.virtuals.value);
	if (!array || memory_read(memory, &len, 4, array + c->jvm.virtuals.array_len) || !len ||
	    len > VIRTUAL_MAX_STRING)
		return;
	if (len > WIRE_NAME_BYTES)
		len = WIRE_NAME_BYTES;
	UNWIND_OPAQUE(len);
	if (len > WIRE_NAME_BYTES ||
	    memory_read(memory, t->name, len, array + c->jvm.virtuals.array_data))
		return;
	t->name_width = coder ? 2 : 1;
	t->name_bytes = len;
}

/* The thread object at OBJECT: it may be the carrier's own. */
static inline void virtual_read_object(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u64 object)
{
	wire_u64 id;

	if (!virtual_is_object(c, memory, object, c->jvm.virtuals.klass) ||
	    memory_read(memory, &id, 8, object + c->jvm.virtuals.id))
		return;
	c->virtual_thread.id = id;
	virtual_read_name(c, memory, virtual_follow(c, memory, object + c->jvm.virtuals.name));
}

/* Of the one that is known, or of who the JavaThread at THREAD says that it is. */
static inline void virtual_read(struct unwind_cursor *c, struct unwind_memory *memory,
				wire_u64 thread)
{
	wire_u64 at = c->virtual_thread.object;
	wire_u32 before, after;

	if (!virtual_heap_rests(c, memory, &before))
		return;
	if (!at && (memory_read(memory, &at, 8, thread + c->jvm.virtuals.vthread) ||
		    memory_read(memory, &at, 8, at)))
		return;
	virtual_read_object(c, memory, at);
	if (virtual_heap_rests(c, memory, &after) && after == before)
		return;
	c->virtual_thread.id = 0;
	c->virtual_thread.name_bytes = 0;
}

/* Into c->virtual_thread, behind a walk: its first Java frame has the thread in %r15, where native frames gave that back. */
static inline bool virtual_find(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 thread;

	if (!c->jvm.serial || !c->jvm.virtuals.id || !c->jvm.enter_return ||
	    c->jvm.thread_cont_entry == WIRE_JVM_ABSENT)
		return false;
	thread = tables_thread(c);
	if (!thread)
		thread = c->java_r15;
	if (!c->virtual_thread.object && (!thread || !virtual_may_be(c, memory, thread)))
		return false;
	virtual_read(c, memory, thread);
	return c->virtual_thread.id;
}

#ifdef __bpf__

UNWIND_ALONE(bool, virtual_find, (struct unwind_cursor * c), c, (c, NULL), false)

#define virtual_find(c, memory) (virtual_find_alone(c) & 1)

#endif
#endif
