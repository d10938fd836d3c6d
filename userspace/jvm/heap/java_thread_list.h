/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that a JVM knows: Java's, and of its own those that can run Java code. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREAD_LIST_H
#define HOSTPROF_JVM_HEAP_JAVA_THREAD_LIST_H

#include "base/vec.h"
#include "jvm/heap/java_thread_trail.h"

struct java_thread_at {
	uint64_t address; /* of the JavaThread */
	uint32_t tid;	  /* in the JVM's pid namespace */
};

/* All 0: empty. */
struct java_thread_list {
	VEC(struct java_thread_at) items;
	/* The way to all of them; not of more than some two hundred threads, nor where one came or went meanwhile. */
	VEC(struct java_trail_span) spans;
	VEC(uint8_t) data;
	bool has_trail;
};

/* Those that live now instead of those of before, as many as are found until DEADLINE_NS, to LIST; errors of the read, and -EBADMSG. */
int java_thread_list_read(const struct java_thread_layout *layout, uint64_t deadline_ns,
			  struct java_thread_list *list);
void java_thread_list_release(struct java_thread_list *list);

/* While it is the same these threads are there, and no others. Borrowed until the list is read again. */
struct java_trail java_thread_list_trail(const struct java_thread_list *list);

#endif
