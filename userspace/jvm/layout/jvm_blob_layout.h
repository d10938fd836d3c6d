/* SPDX-License-Identifier: Apache-2.0 */
/* How a code blob and an nmethod are laid out. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_BLOB_LAYOUT_H
#define HOSTPROF_JVM_LAYOUT_JVM_BLOB_LAYOUT_H

#include "base/err.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* Fill the blob's part of LAYOUT and LAYOUT->wire. -EOPNOTSUPP: a field is missing; -EBADMSG. */
int jvm_blob_layout_read(const struct vmstructs *vs, struct jvm_layout *layout, struct err *err);

#endif
