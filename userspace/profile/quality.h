/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the quality statement, and how a share is written. */
#ifndef HOSTPROF_PROFILE_QUALITY_H
#define HOSTPROF_PROFILE_QUALITY_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* The sum over one event or, with PROFILE_NONE, all; the same for the process. */
struct profile_quality profile_quality_sum(const struct profile *p, uint32_t event,
					   uint32_t process);

/*
 * Append "99.98 %", rounded down: 100.00 % means all. "-" when WHOLE is 0.
 */
void profile_format_share(struct strbuf *sb, uint64_t part, uint64_t whole);

#endif
