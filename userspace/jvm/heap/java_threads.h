/* SPDX-License-Identifier: Apache-2.0 */
/* All threads of a JVM with their full names, for who has the time to wait for a collection's end. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREADS_H
#define HOSTPROF_JVM_HEAP_JAVA_THREADS_H

#include "base/vec.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

struct java_thread {
	uint32_t tid; /* in the JVM's pid namespace */
	char *name;   /* owned; NULL: it could not be read now */
};

struct java_threads {
	VEC(struct java_thread) items;
};

void java_threads_release(struct java_threads *threads);

/*
 * All that live now. -EOPNOTSUPP: a collector that moves objects while they are read, or a JVM that does not tell
 * enough; other errors as the read says.
 */
int java_threads_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct java_threads *ret_threads);

#endif
