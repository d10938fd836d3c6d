/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of a class's objects lie, as the class itself says. */
#ifndef HOSTPROF_JVM_HEAP_JAVA_FIELDS_H
#define HOSTPROF_JVM_HEAP_JAVA_FIELDS_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"
#include "jvm/layout/vmstructs.h"

/*
 * The offset in an object of the field NAME, of the type SIGNATURE ("J", "Ljava/lang/String;"), that the class at KLASS
 * (an InstanceKlass) declares itself; read through PAGES. -ENODATA: it has none; -EOPNOTSUPP: the JVM does not tell; -EBADMSG.
 */
int java_fields_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, uint64_t klass, const char *name,
		     const char *signature, uint32_t *ret_offset);

/*
 * The same of the field INDEX of those that the JVM adds to the class (share/classfile/javaClasses.hpp, ..._INJECTED_FIELDS), which have no names
 * there. -EOPNOTSUPP also before JDK 21.
 */
int java_fields_find_injected(const struct vmstructs *vs, const struct jvm_layout *layout,
			      struct vm_pages *pages, uint64_t klass, uint32_t index,
			      uint32_t *ret_offset);

#endif
