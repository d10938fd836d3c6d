/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM keeps what leads to the names of its threads. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_THREAD_LAYOUT_H
#define HOSTPROF_JVM_HEAP_JAVA_THREAD_LAYOUT_H

#include "jvm/heap/heap_pause.h"
#include "jvm/heap/java_objects.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

struct java_thread_layout {
	const struct vm_memory *memory; /* borrowed from the tables */
	struct heap_pause pause;
	struct java_objects objects;
	struct java_klass_word of_string;

	/* The variable that leads to all of them: to the first one's JavaThread (JDK 8 to 11), or to a ThreadsList. */
	uint64_t list_at;
	bool is_chain;
	uint64_t next;		       /* in a JavaThread */
	uint64_t list_len, list_items; /* in a ThreadsList */

	/* Offsets in a JavaThread and its OSThread. */
	uint64_t thread_object, thread_os, os_tid;
	bool has_handles; /* thread_object is an OopHandle */

	/* Offsets in objects. */
	uint32_t eetop, name, id; /* of a Thread; id 0: not told */
	uint32_t blocker;	  /* the same: what it parks for; 0: not told */
	uint32_t value, coder;	  /* of a String; before JDK 9 it has chars and no coder */
	bool has_coder;
	uint32_t array_len, array_data;
};

/*
 * -EOPNOTSUPP: a collector that moves objects while Java runs, or a JVM that does not tell enough; -EAGAIN: it is still
 * starting; other errors as the read says.
 */
int java_thread_layout_read(const struct vmstructs *vs, const struct jvm_layout *layout,
			    struct java_thread_layout *ret_layout);

/* What java_thread_list_read() needs of it, whatever the collector; all else is 0. */
int java_thread_layout_read_list(const struct vmstructs *vs, struct java_thread_layout *ret_layout);

#endif
