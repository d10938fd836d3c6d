/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/quality.h"

struct profile_quality profile_quality_sum(const struct profile *p, uint32_t event,
					   uint32_t process)
{
	struct profile_quality sum = { .process = process, .event = event };
	const struct profile_quality *q;

	vec_for_each (q, &p->quality) {
		if (event != PROFILE_NONE && q->event != event)
			continue;
		if (process != PROFILE_NONE && q->process != process)
			continue;
		sum.samples += q->samples;
		sum.complete += q->complete;
		sum.weight += q->weight;
		sum.lost += q->lost;
		sum.lost_weight += q->lost_weight;
	}
	return sum;
}

void profile_format_share(struct strbuf *sb, uint64_t part, uint64_t whole)
{
	unsigned int hundredths;

	if (!whole) {
		strbuf_addch(sb, '-');
		return;
	}
	hundredths = (unsigned int)((unsigned __int128)part * 10000 / whole);
	strbuf_addf(sb, "%u.%02u %%", hundredths / 100, hundredths % 100);
}
