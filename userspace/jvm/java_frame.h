/* SPDX-License-Identifier: Apache-2.0 */
/* What an address in a JVM's code is answered with. */
#ifndef HOSTPROF_JVM_JAVA_FRAME_H
#define HOSTPROF_JVM_JAVA_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* One Java frame of an address, innermost first. Strings are borrowed until the next call. */
struct java_frame {
	const char *class_name; /* dotted; hidden classes keep their suffix */
	const char *method;
	const char *source;	/* "" unknown */
	const char *descriptor; /* "(Ljava/lang/String;)V"; "" unknown */
	int32_t line;		/* 0 unknown */
	int32_t bci;		/* -1 unknown or method entry */
	bool inlined;		/* into the next frame of the array */
};

enum java_lookup {
	JAVA_FRAMES,	/* frames were given */
	JAVA_STUB,	/* `stub` names it: stub, adapter, the interpreter */
	JAVA_EVICTED,	/* code was there, but not any more or not yet at that time */
	JAVA_UNKNOWN,	/* nothing is known of this address */
	JAVA_ELSEWHERE, /* as far as is known it is none of the JVM's code */
};

#define JAVA_MAX_INLINE 128

/* What was found: frames[0 .. count-1], innermost first, or a stub's name. */
struct java_answer {
	const char *stub; /* NULL: frames */
	unsigned int count;
	struct java_frame frames[JAVA_MAX_INLINE];
};

#endif
