/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample of -e jit is in a profile. */
#ifndef HOSTPROF_SESSION_COMPILATIONS_COMPILATION_ROW_H
#define HOSTPROF_SESSION_COMPILATIONS_COMPILATION_ROW_H

#include "profile/profile.h"
#include "wire.h"

/* Its reason in P: "C1 tier 3", "C2 tier 4, OSR", "C2 tier 4, failed"; the tier is left out where nobody knows it. */
uint32_t compilation_reason(struct profile *p, const struct wire_sample *sample);

/* ROW's chance, its number in the JVM's log, and what of its weight the thread was off the cpus. */
void compilation_fill_row(struct profile_sample *row, const struct wire_sample *sample);

#endif
