/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A pause of a JVM's collector (-e gc): what stands behind the words of its sample. Included by wire.h. */
#ifndef HOSTPROF_WIRE_GC_H
#define HOSTPROF_WIRE_GC_H

/* Of each name, its end included; longer ones are cut. */
#define WIRE_GC_NAME_BYTES 48

/* What the JVM says when no collection goes on, or one for no cause that it has noted. */
#define WIRE_GC_NO_CAUSE "No GC"

struct wire_gc_pause {
	char operation[WIRE_GC_NAME_BYTES]; /* "G1CollectForAllocation"; "": it could not be read */
	char cause[WIRE_GC_NAME_BYTES];	    /* "G1 Evacuation Pause"; "": not known */
};

_Static_assert(sizeof(struct wire_gc_pause) == 96, "wire_gc_pause");

#endif
