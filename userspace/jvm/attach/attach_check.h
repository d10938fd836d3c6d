/* SPDX-License-Identifier: Apache-2.0 */
/* Looking before signalling: what would go wrong if this JVM were attached to. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_CHECK_H
#define HOSTPROF_JVM_ATTACH_ATTACH_CHECK_H

#include <stdint.h>

#include "base/err.h"
#include "jvm/attach/attach_target.h"
#include "jvm/layout/vmstructs.h"

/*
 * As attach_check() in attach.h, and the target stays open in *RET_TARGET. VS is the process's
 * tables when the caller has them, else NULL. -EAGAIN also of a JVM that is starting, or that will have
 * no agent since somebody took its handler of SIGQUIT.
 */
int attach_check_open(uint32_t pid, const struct vmstructs *vs, struct attach_target *ret_target,
		      struct err *err);

#endif
