/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread knows of the interpreted frames that it is putting in the place of a compiled one: hotspot/unpacking.h. */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_UNPACKING_H
#define HOSTPROF_JVM_LAYOUT_JVM_UNPACKING_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

/* Fill LAYOUT->wire.unpacking. A JVM that does not tell all of it has none: then such frames have no names. */
void jvm_unpacking_read(const struct vmstructs *vs, struct jvm_layout *layout);

#endif
