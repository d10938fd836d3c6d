// SPDX-License-Identifier: Apache-2.0
#include "unwind/miss_join.h"

#include <stdbool.h>

/* One for every cpu that is in the middle of sending; more have lost their samples. */
#define MAX_WAITING 1024
/* Of the deepest stacks fewer are held. */
#define MAX_BYTES (4UL << 20)

static void drop_first(struct miss_join *join)
{
	join->bytes -= join->waiting.items[0]->size;
	free(join->waiting.items[0]);
	vec_remove(&join->waiting, 0, 1);
	join->orphans++;
}

void miss_join_release(struct miss_join *join)
{
	for (size_t i = 0; i < join->waiting.len; i++)
		free(join->waiting.items[i]);
	vec_release(&join->waiting);
}

void miss_join_put(struct miss_join *join, const struct wire_miss *miss)
{
	while (join->waiting.len &&
	       (join->waiting.len >= MAX_WAITING || join->bytes + miss->size > MAX_BYTES))
		drop_first(join);
	join->bytes += miss->size;
	vec_push(&join->waiting, xmemdup(miss, miss->size));
}

static bool belongs(const struct wire_miss *miss, const struct wire_sample *sample)
{
	return miss->time_ns == sample->time_ns && miss->tid == sample->tid &&
	       miss->tgid == sample->tgid;
}

struct wire_miss *miss_join_take(struct miss_join *join, const struct wire_sample *sample)
{
	/* nearly always the last one */
	for (size_t i = join->waiting.len; i-- > 0;) {
		struct wire_miss *miss = join->waiting.items[i];

		if (belongs(miss, sample)) {
			join->bytes -= miss->size;
			vec_remove(&join->waiting, i, 1);
			return miss;
		}
	}
	return NULL;
}

void miss_join_expire(struct miss_join *join, uint64_t time_ns)
{
	while (join->waiting.len && join->waiting.items[0]->time_ns < time_ns)
		drop_first(join);
}
