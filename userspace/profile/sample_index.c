/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of equal samples. */
#include <string.h>

#include "profile/profile.h"

/* What equal samples have in common. */
struct sample_key {
	uint32_t event, stack, thread, state;
};

static size_t hash_sample(const struct profile_sample *s)
{
	struct sample_key key = { s->event, s->stack, s->thread, s->state };

	return (size_t)hash_bytes(&key, sizeof(key));
}

static bool samples_match(const struct profile_sample *a, const struct profile_sample *b)
{
	return a->event == b->event && a->stack == b->stack && a->thread == b->thread &&
	       a->state == b->state;
}

/* The slot of a sample like S, or the free one where it belongs. */
static uint32_t *find_slot(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_sample_index *index = &p->sample_index;
	size_t i = hash_sample(s) & index->mask;

	for (; index->slots[i]; i = (i + 1) & index->mask)
		if (samples_match(&p->samples.items[index->slots[i] - 1], s))
			break;
	return &index->slots[i];
}

static void grow(struct profile *p)
{
	struct profile_sample_index *index = &p->sample_index;
	size_t old_count = index->slots ? index->mask + 1 : 0;
	size_t count = old_count ? old_count * 2 : 64;
	_cleanup_free_ uint32_t *old = index->slots;

	index->slots = xcalloc(count, sizeof(*index->slots));
	index->mask = count - 1;
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*find_slot(p, &p->samples.items[old[i] - 1]) = old[i];
}

void profile_add_merged(struct profile *p, const struct profile_sample *s)
{
	struct profile_sample_index *index = &p->sample_index;
	struct profile_sample *have;
	uint32_t *slot;

	/* Never more than two thirds full. */
	if (!index->slots || (index->len + 1) * 3 > (index->mask + 1) * 2)
		grow(p);
	slot = find_slot(p, s);
	if (!*slot) {
		profile_add(p, s);
		*slot = (uint32_t)p->samples.len;
		index->len++;
		return;
	}
	have = &p->samples.items[*slot - 1];
	have->time_ns = MIN(have->time_ns, s->time_ns);
	have->weight += s->weight;
	have->count += s->count;
}

void profile_clear_samples(struct profile *p)
{
	struct profile_sample_index *index = &p->sample_index;

	p->samples.len = 0;
	if (index->slots)
		memset(index->slots, 0, (index->mask + 1) * sizeof(*index->slots));
	index->len = 0;
}

uint32_t *profile_order_by_stack(const struct profile *p)
{
	uint32_t stacks = intern_len(&p->stacks);
	_cleanup_free_ uint32_t *at = xcalloc(stacks + 1, sizeof(*at));
	uint32_t *order = xcalloc(p->samples.len + 1, sizeof(*order));

	for (size_t i = 0; i < p->samples.len; i++)
		at[p->samples.items[i].stack + 1]++;
	for (uint32_t stack = 0; stack < stacks; stack++)
		at[stack + 1] += at[stack];
	for (uint32_t i = 0; i < p->samples.len; i++)
		order[at[p->samples.items[i].stack]++] = i;
	return order;
}
