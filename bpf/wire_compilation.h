/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A method that a JVM has compiled (-e jit): what stands behind the words of its sample. Included by wire.h. */
#ifndef HOSTPROF_WIRE_COMPILATION_H
#define HOSTPROF_WIRE_COMPILATION_H

/* Bytes of names that are sent; longer ones are cut. Each is a mask. */
#define WIRE_COMPILED_CLASS_BYTES     511
#define WIRE_COMPILED_METHOD_BYTES    255
#define WIRE_COMPILED_SIGNATURE_BYTES 255
/* "C1", "C2", "JVMCI". */
#define WIRE_COMPILER_BYTES 8

struct wire_compilation {
	wire_u64 run_ns;     /* of its nanoseconds those on a cpu */
	wire_u32 compile_id; /* as the JVM's own log has it; 0: not known */
	wire_u32 chance;     /* it stands for so many */
	/* Of the names in the JVM, of which all that is sent follows, one behind the other; 0: it could not be read. */
	wire_u16 class_bytes;
	wire_u16 method_bytes;
	wire_u16 signature_bytes;
	wire_u8 level;	 /* of HotSpot's tiers 1 to 4; 0: not known */
	wire_u8 success; /* enum wire_compiled */
	char compiler[WIRE_COMPILER_BYTES];
};

/* Bits. */
enum wire_compiled {
	WIRE_COMPILED_KNOWN = 1,
	WIRE_COMPILED_SUCCESS = 2, /* of no use without WIRE_COMPILED_KNOWN */
	WIRE_COMPILED_OSR = 4,	   /* for a loop that runs */
};

_Static_assert(sizeof(struct wire_compilation) == 32, "wire_compilation");

#endif
