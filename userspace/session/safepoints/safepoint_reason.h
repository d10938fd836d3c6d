/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM's threads were stopped for. */
#ifndef HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_REASON_H
#define HOSTPROF_SESSION_SAFEPOINTS_SAFEPOINT_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "wire.h"

/* Before the name of an operation that is a pause of a collector. */
#define SAFEPOINT_GC_PREFIX "GC: "

/* Is the VM operation NAME (share/runtime/vmOperation.hpp and the collectors' own files) one of a collector? */
bool safepoint_is_gc(const char *name);

/* Of a sample of -e safepoint: the string of its reason in P, the operation by its name, "safepoint" where nobody knows that. */
uint32_t safepoint_reason(struct profile *p, const struct wire_sample *sample);

#endif
