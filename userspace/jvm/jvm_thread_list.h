/* SPDX-License-Identifier: Apache-2.0 */
/* What `list --threads` shows: a JVM's threads as the kernel and as Java call them. Nothing is sent to it. */
#ifndef HOSTPROF_JVM_JVM_THREAD_LIST_H
#define HOSTPROF_JVM_JVM_THREAD_LIST_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct jvm_thread_info {
	uint32_t tid; /* the host's */
	char comm[16];
	char *name; /* owned; NULL: no thread of Java's, or it cannot be read */
};

struct jvm_threads {
	VEC(struct jvm_thread_info) items; /* by tid */
	struct err why_not;		   /* no text: names were read */
};

void jvm_threads_release(struct jvm_threads *threads);

/* -ENODATA when PID is no HotSpot JVM, -ESRCH when there is no such process. */
int jvm_threads_list(uint32_t pid, struct jvm_threads *ret_threads, struct err *err);

#endif
