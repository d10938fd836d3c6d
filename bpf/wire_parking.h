/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A JVM whose threads are seen to park (-e lock): what leads to the objects that they park for. Included by wire.h. */
#ifndef HOSTPROF_WIRE_PARKING_H
#define HOSTPROF_WIRE_PARKING_H

/* What leads from a JavaThread to the object that it noted when it parked (bpf/hotspot/blocker.h). Offsets in bytes. */
struct wire_blocker {
	wire_u64 oop_base;
	wire_u16 thread_object; /* in a JavaThread: who Thread.currentThread() is */
	wire_u16 field;	    /* in a java.lang.Thread: a reference; 0: nothing of this is known */
	wire_u8 has_handle; /* thread_object is the address of a slot with the object's */
	wire_u8 oop_bytes; /* of a reference in an object; 4: the address is oop_base + (oop << oop_shift) */
	wire_u8 oop_shift;
	wire_u8 pad;
};

struct wire_parking {
	wire_u64 start_ns; /* of the process; 0 until it is first seen */
	struct wire_object object;
	struct wire_own_thread own;
	struct wire_blocker blocker;
	struct wire_pace pace; /* BPF's */
};

_Static_assert(sizeof(struct wire_blocker) == 16, "wire_blocker");
_Static_assert(sizeof(struct wire_parking) == 64, "wire_parking");

#endif
