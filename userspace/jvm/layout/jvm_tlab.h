/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM's threads keep the books of their TLABs, by its VMStructs. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_TLAB_H
#define HOSTPROF_JVM_LAYOUT_JVM_TLAB_H

#include "jvm/layout/vmstructs.h"
#include "wire.h"

/*
 * FEATURE: the release (8, 11, …). -EOPNOTSUPP: this JVM's VMStructs do not tell, err names what is missing.
 * Interval and process are the caller's to set.
 */
int jvm_tlab_read(const struct vmstructs *vs, uint32_t feature, struct wire_tlab *ret_tlab,
		  struct err *err);

#endif
