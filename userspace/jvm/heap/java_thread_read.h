/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The full names of a JVM's threads, read from outside: the kernel has 15 bytes of each. A name is an object in the heap.
 * It is read between two looks at whether objects move (heap_pause.h), and counts when the thread's object
 * says that it is that thread's, and the thread is still the one that had this tid.
 */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREAD_READ_H
#define HOSTPROF_JVM_HEAP_JAVA_THREAD_READ_H

#include "jvm/heap/java_thread_list.h"
#include "jvm/heap/java_thread_trail.h"

/* So many are read in one go; each of the steps is one call. */
#define JAVA_THREAD_READS 16

struct java_thread_read {
	struct java_thread_at at; /* address 0: it is not there */
	struct java_thread_trail
		*trail; /* borrowed: to be laid when the result is 0; NULL: none is wanted */
	/*
	 * -EAGAIN: try again in a moment; -ESRCH: it is no thread of Java's any more, or another one; -ENODATA: it has no
	 * name; other errors as the read says.
	 */
	int result;
	char *name;  /* owned by the caller, when the result is 0 */
	uint64_t id; /* Thread.getId(), 0: not told */
};

/* The names of COUNT threads. */
void java_thread_read(const struct java_thread_layout *layout, struct java_thread_read *reads,
		      unsigned int count);

#endif
