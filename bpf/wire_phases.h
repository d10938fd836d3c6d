/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is known of a JVM that tells what it does for itself (-e jit, -e gc). Included by wire.h. */
#ifndef HOSTPROF_WIRE_PHASES_H
#define HOSTPROF_WIRE_PHASES_H

/* What a CompileTask says of itself. Offsets in bytes; level 0: nothing of this is known. */
struct wire_compile_task {
	wire_u16 level;	  /* int32 */
	wire_u16 id;	  /* uint32 */
	wire_u16 osr_bci; /* int32; -1: of no loop */
	wire_u16 pad;
};

struct wire_phases {
	wire_u64 start_ns;    /* of the process; 0 until it is first seen */
	wire_u64 gc_cause_at; /* the string sun.gc.cause in its memory; 0: not known */
	struct wire_compile_task compile_task;
};

_Static_assert(sizeof(struct wire_phases) == 24, "wire_phases");

#endif
