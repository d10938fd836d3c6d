/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM's layout, read of its VMStructs. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_LAYOUT_READ_H
#define HOSTPROF_JVM_LAYOUT_JVM_LAYOUT_READ_H

#include "base/err.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* -EAGAIN: the JVM is still starting; -EOPNOTSUPP: it lacks a field that we need. */
int jvm_layout_read(const struct vmstructs *vs, struct jvm_layout *ret_layout, struct err *err);

/* Look again for what a provisional layout lacks; cheap. On failure LAYOUT stays as it is. */
int jvm_layout_refresh(const struct vmstructs *vs, struct jvm_layout *layout);

#endif
