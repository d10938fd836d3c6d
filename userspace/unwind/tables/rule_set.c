// SPDX-License-Identifier: Apache-2.0
#include "unwind/tables/rule_set.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "unwind/tables/quarantine.h"

/* Rows name rules by 16 bits. */
#define MAX_RULES 65536U

struct rule_note {
	uint32_t refs;
	uint32_t bucket_next; /* 0: last */
	uint32_t idle_prev, idle_next;
	uint64_t idle_ns;
};

void rule_set_init(struct rule_set *set, struct wire_rule *rules, uint32_t count)
{
	uint32_t buckets = 16;

	memset(set, 0, sizeof(*set));
	set->rules = rules;
	set->count = MIN(count, MAX_RULES);
	set->fresh = 1;
	while (buckets < set->count)
		buckets *= 2;
	set->buckets = xcalloc(buckets, sizeof(*set->buckets));
	set->bucket_mask = buckets - 1;
	set->notes = xcalloc(MAX(set->count, 1U), sizeof(*set->notes));
}

void rule_set_release(struct rule_set *set)
{
	free(set->buckets);
	free(set->notes);
	memset(set, 0, sizeof(*set));
}

static uint32_t *bucket_of(const struct rule_set *set, const struct wire_rule *rule)
{
	return &set->buckets[hash_bytes(rule, sizeof(*rule)) & set->bucket_mask];
}

static uint32_t find_rule_index(const struct rule_set *set, const struct wire_rule *rule)
{
	uint32_t index = *bucket_of(set, rule);

	while (index && memcmp(&set->rules[index], rule, sizeof(*rule)) != 0)
		index = set->notes[index].bucket_next;
	return index;
}

static void bucket_remove(struct rule_set *set, uint32_t index)
{
	uint32_t *link = bucket_of(set, &set->rules[index]);

	while (*link != index)
		link = &set->notes[*link].bucket_next;
	*link = set->notes[index].bucket_next;
}

static void idle_add(struct rule_set *set, uint32_t index, uint64_t now_ns)
{
	struct rule_note *note = &set->notes[index];

	note->idle_ns = now_ns;
	note->idle_prev = set->idle_last;
	note->idle_next = 0;
	if (set->idle_last)
		set->notes[set->idle_last].idle_next = index;
	else
		set->idle_first = index;
	set->idle_last = index;
	set->idle++;
}

static void idle_remove(struct rule_set *set, uint32_t index)
{
	const struct rule_note *note = &set->notes[index];

	if (note->idle_prev)
		set->notes[note->idle_prev].idle_next = note->idle_next;
	else
		set->idle_first = note->idle_next;
	if (note->idle_next)
		set->notes[note->idle_next].idle_prev = note->idle_prev;
	else
		set->idle_last = note->idle_prev;
	set->idle--;
}

/* An index to write a new rule to; 0: none at this time. */
static uint32_t take_index(struct rule_set *set, uint64_t now_ns)
{
	uint32_t index = set->idle_first;

	if (set->fresh < set->count)
		return set->fresh++;
	if (!index || !quarantine_is_over(set->notes[index].idle_ns, now_ns))
		return 0;
	idle_remove(set, index);
	bucket_remove(set, index);
	return index;
}

static uint32_t add_rule(struct rule_set *set, const struct wire_rule *rule, uint64_t now_ns)
{
	uint32_t index = take_index(set, now_ns), *bucket = bucket_of(set, rule);

	if (!index)
		return 0;
	set->rules[index] = *rule;
	set->notes[index].bucket_next = *bucket;
	*bucket = index;
	return index;
}

int rule_set_ref(struct rule_set *set, const struct wire_rule *rule, uint64_t now_ns,
		 uint16_t *ret_index)
{
	uint32_t index = 0;

	if (rule->kind != WIRE_RULE_NONE) {
		index = find_rule_index(set, rule);
		if (index && set->notes[index].refs == 0)
			idle_remove(set, index);
		if (!index)
			index = add_rule(set, rule, now_ns);
		if (!index)
			return -EAGAIN;
		set->used += set->notes[index].refs++ == 0;
	}
	*ret_index = (uint16_t)index;
	return 0;
}

void rule_set_unref(struct rule_set *set, uint16_t index, uint64_t now_ns)
{
	if (index == 0 || --set->notes[index].refs > 0)
		return;
	set->used--;
	idle_add(set, index, now_ns);
}

uint64_t rule_set_idle_since(const struct rule_set *set)
{
	return set->notes[set->idle_first].idle_ns;
}
