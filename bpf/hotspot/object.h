/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Of which class an object in the heap is, as its header says (share/oops/oop.hpp, markWord.hpp; JDK 8 to 28). */
#ifndef HOSTPROF_BPF_HOTSPOT_OBJECT_H
#define HOSTPROF_BPF_HOTSPOT_OBJECT_H

#include "unwind/cursor.h"

/* The lowest bits of the mark of an object that has been moved (share/oops/markWord.hpp). */
#define OBJECT_MARK_MOVED 3

static inline wire_u64 object_narrow_klass(const struct wire_object *o, wire_u64 narrow)
{
	return o->base + (narrow << (o->shift & 31));
}

/* The Klass* of the object at ADDRESS, 0: there is none. */
static inline wire_u64 object_klass(const struct wire_object *o, struct unwind_memory *memory,
				    wire_u64 address)
{
	wire_u64 mark, klass;
	wire_u32 narrow;

	if (!cursor_is_user(address) || (address & 7) || memory_read(memory, &mark, 8, address) ||
	    (mark & OBJECT_MARK_MOVED) == OBJECT_MARK_MOVED)
		return 0;
	switch (o->place) {
	case WIRE_KLASS_WIDE: return memory_read(memory, &klass, 8, address + 8) ? 0 : klass;
	case WIRE_KLASS_NARROW:
		return memory_read(memory, &narrow, 4, address + 8)
			       ? 0
			       : object_narrow_klass(o, narrow);
	case WIRE_KLASS_COMPACT: return object_narrow_klass(o, mark >> (o->mark_shift & 63));
	default: return 0;
	}
}

#endif
