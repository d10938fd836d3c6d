/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM keeps its virtual threads that run on no carrier: Java's own lists of them, which `jcmd PID Thread.dump_to_file` reads, too. */
#ifndef HOSTPROF_JVM_CONTINUATION_VIRTUAL_LAYOUT_H
#define HOSTPROF_JVM_CONTINUATION_VIRTUAL_LAYOUT_H

#include <string.h>

#include "jvm/heap/java_thread_layout.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* A static field of a class: a reference at `offset` in the object to which the word at `mirror_at` points; 0: the class is not loaded, so that there is none. */
struct virtual_root {
	uint64_t mirror_at;
	uint32_t offset;
};

/* Objects of a class that have threads: those of `word` have a set of them at `set`. mask 0: the class is not loaded. */
struct virtual_container {
	struct java_klass_word word;
	uint32_t set;
};

enum { VIRTUAL_EXECUTOR, VIRTUAL_SHARED, VIRTUAL_CONTAINERS };

/* Offsets in objects, bytes. */
struct virtual_layout {
	struct java_thread_layout threads; /* names, numbers, references and the heap's pauses */
	struct wire_chunks chunks;
	struct java_klass_word of_thread; /* java.lang.VirtualThread */
	uint32_t state, carrier, cont;	  /* in one */
	/* Threads that belong to no container, and weak references to containers. */
	struct virtual_root of_threads, of_containers;
	struct virtual_container containers[VIRTUAL_CONTAINERS];
	uint32_t referent; /* in a java.lang.ref.Reference */
	/* A set's map, its table, and in a node of that: negative where it is no node, the key, and the next one. */
	uint32_t map, table, hash, key, next;
	uint32_t elements; /* in an array of references */
};

/* The field of BYTES at OFFSET of an object whose bytes were read. */
static inline uint64_t virtual_field(const uint8_t *object, uint32_t offset, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, object + offset, bytes);
	return value;
}

/* The address that the reference there means; 0: null. */
static inline uint64_t virtual_reference(const struct virtual_layout *layout, const uint8_t *object,
					 uint32_t offset)
{
	const struct java_objects *objects = &layout->threads.objects;

	return java_objects_address(
		objects, virtual_field(object, offset, java_objects_reference_bytes(objects)));
}

/*
 * LAYOUT has its chunks. -EOPNOTSUPP: a collector that moves objects while Java runs, or a JVM that does not tell enough; -EAGAIN: it is still
 * starting, or has no virtual thread yet; other errors as the read says.
 */
int virtual_layout_read(const struct vmstructs *vs, const struct jvm_layout *layout,
			struct virtual_layout *ret_layout);

#endif
