/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/sums_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void event_sums_release(struct event_sums *sums)
{
	struct event_sums_row *row;

	vec_for_each (row, &sums->rows) {
		free(row->name);
		free(row->unit);
	}
	vec_release(&sums->rows);
}

/* By its name: ids are others when the profile's tables were emptied. */
static struct event_sum *find_sum(struct event_sums *sums, const struct profile *p,
				  const struct profile_event *event)
{
	const char *name = profile_get_string(p, event->name);
	struct event_sums_row *row;

	vec_for_each (row, &sums->rows)
		if (!strcmp(row->name, name))
			return &row->sum;
	vec_push(&sums->rows, ((struct event_sums_row){
				      .name = xstrdup(name),
				      .unit = xstrdup(profile_get_string(p, event->unit)),
			      }));
	return &sums->rows.items[sums->rows.len - 1].sum;
}

void event_sums_add(struct event_sums *sums, const struct profile *p)
{
	for (uint32_t id = 0; id < intern_len(&p->events); id++) {
		struct event_sum *sum = find_sum(sums, p, profile_get_event(p, id));
		struct event_sum more = event_sum_of(p, id);

		sum->samples += more.samples;
		sum->weight += more.weight;
		sum->objects += more.objects;
	}
}

static int add_all(void *self, struct profile *profile, struct err *err)
{
	(void)err;
	event_sums_add(self, profile);
	return 0;
}

static int add_last(void *self, struct profile *profile, const struct sink_sums *sums,
		    struct err *err)
{
	(void)sums;
	return add_all(self, profile, err);
}

struct sink sums_sink(struct event_sums *sums)
{
	static const struct sink_ops ops = {
		.flush = add_all,
		.rotate = add_all,
		.end = add_last,
	};

	return (struct sink){ &ops, sums };
}
