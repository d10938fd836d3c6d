/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of equal samples. */
#include <string.h>

#include "profile/profile.h"

/* What equal samples have in common. */
struct sample_key {
	uint32_t event, stack, thread, state, age;
};

static uint32_t hash_sample(const struct profile_sample *s)
{
	struct sample_key key = { s->event, s->stack, s->thread, s->state, s->age };

	return (uint32_t)hash_bytes(&key, sizeof(key));
}

static bool samples_match(const struct profile_sample *a, const struct profile_sample *b)
{
	return a->event == b->event && a->stack == b->stack && a->thread == b->thread &&
	       a->state == b->state && a->age == b->age;
}

static struct profile_sample *slot_sample(const struct profile *p, uint64_t slot)
{
	return &p->samples.items[(uint32_t)slot - 1];
}

/* The slot of a sample like S, or the free one where it belongs. */
static uint64_t *find_slot(const struct profile *p, const struct profile_sample *s, uint32_t hash)
{
	const struct profile_sample_index *index = &p->sample_index;
	size_t i = hash & index->mask;

	/* Samples lie far apart in memory: look only at those of the same hash. */
	for (; index->slots[i]; i = (i + 1) & index->mask)
		if (index->slots[i] >> 32 == hash &&
		    samples_match(slot_sample(p, index->slots[i]), s))
			break;
	return &index->slots[i];
}

static void grow(struct profile_sample_index *index)
{
	size_t old_count = index->slots ? index->mask + 1 : 0;
	size_t count = old_count ? old_count * 2 : 64;
	_cleanup_free_ uint64_t *old = index->slots;

	index->slots = xcalloc(count, sizeof(*index->slots));
	index->mask = count - 1;
	for (size_t i = 0; i < old_count; i++) {
		size_t to = (size_t)(old[i] >> 32) & index->mask;

		if (!old[i])
			continue;
		while (index->slots[to])
			to = (to + 1) & index->mask;
		index->slots[to] = old[i];
	}
}

static void add_hashed(struct profile *p, const struct profile_sample *s, uint32_t hash)
{
	struct profile_sample_index *index = &p->sample_index;
	struct profile_sample *have;
	uint64_t *slot;

	/* Never more than two thirds full. */
	if (!index->slots || (index->len + 1) * 3 > (index->mask + 1) * 2)
		grow(index);
	slot = find_slot(p, s, hash);
	if (!*slot) {
		profile_add(p, s);
		*slot = (uint64_t)hash << 32 | (uint32_t)p->samples.len;
		index->len++;
		return;
	}
	have = slot_sample(p, *slot);
	have->time_ns = MIN(have->time_ns, s->time_ns);
	have->weight += s->weight;
	have->count += s->count;
	have->objects += s->objects;
}

/* Slots and samples of a large profile are not in the cache: ask for all before using the first. */
void profile_add_batch(struct profile *p, const struct profile_sample *samples, size_t count)
{
	const struct profile_sample_index *index = &p->sample_index;
	uint32_t hashes[PROFILE_BATCH];

	for (size_t i = 0; i < count; i++) {
		hashes[i] = hash_sample(&samples[i]);
		if (index->slots)
			__builtin_prefetch(&index->slots[hashes[i] & index->mask]);
	}
	for (size_t i = 0; i < count && index->slots; i++) {
		uint64_t slot = index->slots[hashes[i] & index->mask];

		if (slot)
			__builtin_prefetch(slot_sample(p, slot), 1);
	}
	for (size_t i = 0; i < count; i++)
		add_hashed(p, &samples[i], hashes[i]);
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
