/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A class that a JVM has loaded (-e classload): what stands behind the words of its sample. Included by wire.h. */
#ifndef HOSTPROF_WIRE_CLASS_LOAD_H
#define HOSTPROF_WIRE_CLASS_LOAD_H

/* Bytes of its name that are sent; a longer one is cut. A mask. */
#define WIRE_LOADED_CLASS_BYTES 1023

struct wire_class_load {
	wire_u32 chance;      /* it stands for so many */
	wire_u16 class_bytes; /* of its name, which follows; 0: it could not be read */
	wire_u8 shared;	      /* 1: from the JVM's archive */
	wire_u8 pad;
};

_Static_assert(sizeof(struct wire_class_load) == 8, "wire_class_load");

#endif
