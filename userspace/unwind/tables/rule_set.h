/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule table: equal rules have one index, with a count of the rows that refer to it. Index 0
 * is WIRE_RULE_NONE for ever. A rule without references stays findable until its index is wanted
 * for another rule, which is at least READERS_NS later.
 */
#ifndef HOSTPROF_UNWIND_TABLES_RULE_SET_H
#define HOSTPROF_UNWIND_TABLES_RULE_SET_H

#include <stdint.h>

#include "wire.h"

struct rule_set {
	struct wire_rule *rules; /* borrowed; read by others */
	uint32_t count;
	uint32_t fresh; /* indexes from here on were never used */
	uint32_t used;	/* with references */
	uint32_t idle;	/* without */
	/* The idle ones, longest first; 0: none. */
	uint32_t idle_first, idle_last;
	struct rule_note *notes; /* owned; by index */
	uint32_t *buckets;	 /* owned; heads of chains of indexes, 0: empty */
	uint32_t bucket_mask;
};

void rule_set_init(struct rule_set *set, struct wire_rule *rules, uint32_t count);
void rule_set_release(struct rule_set *set);

/* Indexes without references, those that may still be in readers' hands included. */
static inline uint32_t rule_set_free(const struct rule_set *set)
{
	return set->count > set->fresh ? set->count - set->fresh + set->idle : set->idle;
}

/* The index of RULE, with a reference more. -EAGAIN: no index can be written at NOW_NS. */
int rule_set_ref(struct rule_set *set, const struct wire_rule *rule, uint64_t now_ns,
		 uint16_t *ret_index);
void rule_set_unref(struct rule_set *set, uint16_t index, uint64_t now_ns);

/* Since when the longest idle rule is so; there is one. */
uint64_t rule_set_idle_since(const struct rule_set *set);

#endif
