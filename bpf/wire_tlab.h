/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A JVM whose allocations are seen from outside, at HotSpot's AllocTracer: where a thread keeps the books of its
 * buffer (TLAB). Offsets are those of the JVM's own VMStructs. Included by wire.h.
 */
#ifndef HOSTPROF_WIRE_TLAB_H
#define HOSTPROF_WIRE_TLAB_H

/* Samples of one JVM in a second, on the average; past it the interval is doubled. */
#define WIRE_TLAB_BUDGET 5000

struct wire_tlab {
	wire_u64 start_ns; /* of the process; 0 until it is first seen */
	wire_u64 interval; /* mean bytes between two samples that are asked for */
	/* Byte offsets in a JavaThread. */
	wire_u16 allocated; /* Thread::_allocated_bytes */
	wire_u16 start, top, end;
	wire_u16 desired; /* in words of 8 bytes */
	wire_u16 refills; /* 32 bits: TLABs since the last collection */
	wire_u8 before;	  /* AllocTracer is told of a new TLAB before the thread has it (JDK 8) */
	wire_u8 agent;	  /* its agent tells of the objects in between (bpf/sample/between.h) */
	wire_u8 reaches;  /* its sampler is as JDK 11's (likewise) */
	wire_u8 pad[1];
	struct wire_pace pace; /* BPF's */
};

_Static_assert(sizeof(struct wire_tlab) == 48, "wire_tlab");

#endif
