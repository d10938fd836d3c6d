/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that a JVM knows: Java's, and of its own those that can run Java code. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREAD_LIST_H
#define HOSTPROF_JVM_HEAP_JAVA_THREAD_LIST_H

#include "base/vec.h"
#include "jvm/heap/java_thread_layout.h"

struct java_thread_at {
	uint64_t address; /* of the JavaThread */
	uint32_t tid;	  /* in the JVM's pid namespace */
};

struct java_thread_list {
	VEC(struct java_thread_at) items;
};

/* Those that live now, as many as are found until DEADLINE_NS, to LIST; errors of the read, and -EBADMSG. */
int java_thread_list_read(const struct java_thread_layout *layout, uint64_t deadline_ns,
			  struct java_thread_list *list);

#endif
