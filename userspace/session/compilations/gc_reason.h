/* SPDX-License-Identifier: Apache-2.0 */
/* Why a collector stopped a JVM's threads. */
#ifndef HOSTPROF_SESSION_COMPILATIONS_GC_REASON_H
#define HOSTPROF_SESSION_COMPILATIONS_GC_REASON_H

#include "profile/profile.h"
#include "wire.h"

/* The string in P: the cause as the JVM's own log has it, "no cause" where that has none, "unknown cause" where nobody knows. */
uint32_t gc_reason(struct profile *p, const struct wire_sample *sample);

#endif
