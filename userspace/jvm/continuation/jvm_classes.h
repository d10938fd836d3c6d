/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that the JVM itself knows, also those of which VMStructs do not tell. */
#ifndef HOSTPROF_JVM_CONTINUATION_JVM_CLASSES_H
#define HOSTPROF_JVM_CONTINUATION_JVM_CLASSES_H

#include <stdbool.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmstructs.h"

/*
 * The InstanceKlass of NAME ("jdk/internal/vm/StackChunk"), read through PAGES. -EAGAIN: it is not there, or not yet;
 * -ENODATA: the JVM does not tell; errors of the read.
 */
int jvm_classes_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, const char *name, uint64_t *ret_klass);

/* The InstanceKlass of java.lang.Object. -EAGAIN: the JVM is still starting; -ENODATA: it does not tell; errors of the read. */
int jvm_classes_object(const struct vmstructs *vs, uint64_t *ret_klass);

/* Is the class at KLASS the one of that NAME? False also when it cannot be read. */
bool jvm_classes_has_name(const struct jvm_layout *layout, struct vm_pages *pages, uint64_t klass,
			  const char *name);

#endif
