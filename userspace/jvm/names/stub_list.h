/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a JVM's stubs: HotSpot keeps a list of them for its own error messages (StubCodeDesc), and tells
 * JVMTI's agents of the same names. Only parts of it are in VMStructs, up to JDK 21.
 */
#ifndef HOSTPROF_JVM_NAMES_STUB_LIST_H
#define HOSTPROF_JVM_NAMES_STUB_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"

struct stub {
	uint64_t start, end;
	char *name; /* owned */
};

/* Made by stub_list_init(); nothing is read before the first question. */
struct stub_list {
	const struct vm_memory *memory;	 /* borrowed */
	const struct jvm_layout *layout; /* borrowed */
	bool searched; /* false after a question: it could not be read, and will be searched for again */
	unsigned int tries;    /* that could not be finished */
	unsigned int elements; /* that were read, again and again */
	uint64_t head_at;      /* where the JVM has its head; 0: not found */
	uint64_t head;	       /* that was read */
	unsigned int start_at; /* in an element */
	VEC(struct stub) stubs;
};

void stub_list_init(struct stub_list *list, const struct vm_memory *memory,
		    const struct jvm_layout *layout);
void stub_list_release(struct stub_list *list);

/*
 * The stub that holds ADDRESS, the innermost of several; NULL where the list has none or cannot be read (`searched`: for good). JVMs make
 * some later: a list that has grown is read again. Borrowed until the next call.
 */
const char *stub_list_find(struct stub_list *list, uint64_t address);

#endif
