/* SPDX-License-Identifier: Apache-2.0 */
/* How objects in a JVM's heap refer to each other, and how their headers say of which class they are. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_OBJECTS_H
#define HOSTPROF_JVM_HEAP_JAVA_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/vm_flags.h"
#include "jvm/layout/vmstructs.h"
#include "wire.h"

struct java_objects {
	uint64_t oop_base, klass_base;
	uint8_t oop_shift, klass_shift;
	uint8_t header_shift; /* compact: the class begins at this bit of the mark */
	bool narrow_oops; /* a reference has 4 bytes: the address is oop_base + (oop << oop_shift) */
	bool narrow_klasses;
	bool compact; /* UseCompactObjectHeaders, from JDK 24 on */
};

/* -EOPNOTSUPP: the JVM does not tell; -EBADMSG; and errors of the read. */
int java_objects_read(const struct vmstructs *vs, const struct vm_flags *flags,
		      struct java_objects *ret_objects);

/* Of a reference in an object. */
static inline uint8_t java_objects_reference_bytes(const struct java_objects *objects)
{
	return objects->narrow_oops ? 4 : 8;
}

/* The address that the reference with these bits means; 0: null. */
static inline uint64_t java_objects_address(const struct java_objects *objects, uint64_t reference)
{
	if (!reference || !objects->narrow_oops)
		return reference;
	return objects->oop_base + (reference << objects->oop_shift);
}

/* The same of classes for the step functions (bpf/hotspot/object.h). */
struct wire_object java_objects_wire(const struct java_objects *objects);

/* Bytes of an object before its first field, or before an array's length: its mark, and its class where that is not a part of it. */
uint32_t java_objects_header(const struct java_objects *objects);

/* An object is of a class when the 8 bytes at AT have VALUE in MASK. */
struct java_klass_word {
	uint64_t mask, value;
	uint16_t at;
};

/* That of the class at KLASS; -EBADMSG: none of its objects could say so. */
int java_objects_klass_word(const struct java_objects *objects, uint64_t klass,
			    struct java_klass_word *ret_word);

#endif
