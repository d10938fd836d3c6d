/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a JVM's allocations from outside: its threads' TLABs, its classes' names. */
#include <errno.h>

#include "jvm/jvm_private.h"
#include "jvm/layout/jvm_tlab.h"

int jvm_get_tlab(struct jvm *jvm, struct wire_tlab *ret_tlab, struct err *err)
{
	if (!jvm_has_layout(jvm) && !jvm->no_layout)
		return err_set(err, -EAGAIN, "the JVM of process %u is still starting", jvm->pid);
	if (!jvm->has_layout)
		return err_set(err, -EOPNOTSUPP, "the JVM of process %u cannot be read", jvm->pid);
	return jvm_tlab_read(jvm->vs, jvm->layout.feature_release, ret_tlab, err);
}

uint32_t jvm_feature_release(struct jvm *jvm)
{
	return jvm_has_layout(jvm) ? jvm->layout.feature_release : 0;
}

const char *jvm_read_class(struct jvm *jvm, uint64_t klass)
{
	const char *name;

	if (!jvm_has_layout(jvm) || klass_names_read(jvm->klasses, klass, &name) < 0)
		return NULL;
	return name;
}

const char *jvm_find_class(struct jvm *jvm, uint64_t klass)
{
	const char *name;

	if (!jvm_has_layout(jvm) || klass_names_find(jvm->klasses, klass, &name) < 0)
		return NULL;
	return name;
}
