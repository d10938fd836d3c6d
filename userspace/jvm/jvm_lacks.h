/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be shown of a JVM, and why: in words for people. */
#ifndef HOSTPROF_JVM_JVM_LACKS_H
#define HOSTPROF_JVM_JVM_LACKS_H

#include "base/err.h"
#include "jvm/layout/vmstructs.h"

#define JVM_LACKS_MAX 4

struct jvm_lacks {
	unsigned int count;
	/* "inlined methods: …"; what is not said, is shown. */
	char text[JVM_LACKS_MAX][224];
};

/* Of one whose tables VS are. */
void jvm_lacks_read(const struct vmstructs *vs, struct jvm_lacks *ret_lacks);

/* Of one that has none that can be read, for the reason WHY. */
void jvm_lacks_all(const struct err *why, struct jvm_lacks *ret_lacks);

#endif
