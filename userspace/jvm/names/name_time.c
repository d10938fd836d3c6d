/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/name_time.h"

#include "base/clock.h"
#include "base/macros.h"

/*
 * A large program's start is 10,000 methods in ten seconds: 0.6 s. So much is had at once, and a quarter of the time
 * from then on.
 */
static const struct name_allowance of_methods = { 2 * NSEC_PER_SEC, 4 };

bool name_time_is_left_of(struct name_time *time, const struct name_allowance *allowance,
			  uint64_t now_ns)
{
	time->taken_ns -= MIN(time->taken_ns, (now_ns - time->at_ns) / allowance->share);
	time->at_ns = now_ns;
	return time->taken_ns < allowance->most_ns;
}

bool name_time_is_left(struct name_time *time, uint64_t now_ns)
{
	return name_time_is_left_of(time, &of_methods, now_ns);
}

void name_time_take(struct name_time *time, uint64_t ns)
{
	time->taken_ns += ns;
}
