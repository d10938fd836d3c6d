/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that the boot loader has loaded, by their names: those which the JVM itself does not know (jvm_classes.h). */
#ifndef HOSTPROF_JVM_CONTINUATION_BOOT_CLASSES_H
#define HOSTPROF_JVM_CONTINUATION_BOOT_CLASSES_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmstructs.h"

struct boot_class {
	const char *name; /* "java/util/concurrent/ConcurrentHashMap" */
	uint64_t klass;	  /* its InstanceKlass; 0, as before: it is not loaded */
};

/*
 * The `klass` of COUNT classes, read through PAGES. -EOPNOTSUPP: the JVM does not tell of its classes; -EAGAIN: it is still starting; -E2BIG: it has
 * more than any JVM; other errors as the read says.
 */
int boot_classes_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct vm_pages *pages, struct boot_class *classes, size_t count);

#endif
