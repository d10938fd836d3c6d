/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/event_sum.h"

struct event_sum event_sum_of(const struct profile *p, uint32_t event)
{
	struct event_sum sum = { 0, 0, 0 };
	const struct profile_sample *s;

	vec_for_each (s, &p->samples) {
		if (s->event != event)
			continue;
		sum.samples += s->count;
		sum.weight += s->weight;
		sum.objects += s->objects;
	}
	return sum;
}
