// SPDX-License-Identifier: Apache-2.0
#include "session/safepoints/safepoint_parts.h"

#include "base/macros.h"
#include "symbolize/waits/wait.h"

/* Safepoints are counted by their operations. BEFORE_NS: so long before the end. */
static void add_part(struct profile *p, const struct profile_sample *whole, uint64_t before_ns,
		     uint64_t weight, enum wire_cause cause)
{
	struct profile_sample part = *whole;

	if (!weight)
		return;
	part.time_ns = whole->time_ns - MIN(before_ns, whole->time_ns);
	part.weight = weight;
	part.count = 0;
	part.reason = profile_string(p, wait_reason(cause));
	profile_add(p, &part);
}

void safepoint_parts_add(struct profile *p, const struct wire_sample *sample,
			 const struct profile_sample *whole)
{
	struct profile_sample row = *whole;
	uint64_t reaching = MIN(sample->alloc_interval, row.weight);
	uint64_t leaving = MIN(sample->alloc_object, row.weight - reaching);

	row.weight = row.weight - reaching - leaving;
	add_part(p, whole, row.weight + leaving, reaching, WIRE_CAUSE_REACHING_SAFEPOINT);
	row.time_ns -= MIN(leaving, row.time_ns);
	profile_add(p, &row);
	add_part(p, whole, 0, leaving, WIRE_CAUSE_LEAVING_SAFEPOINT);
}
