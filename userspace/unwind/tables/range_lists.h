/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of ranges in the table memory's array. Equal lists are one, with a count of the spaces
 * that have it. A list without spaces stays as it is, to be found again and for the copies of its
 * space that BPF made at a fork, until its place is wanted.
 */
#ifndef HOSTPROF_UNWIND_TABLES_RANGE_LISTS_H
#define HOSTPROF_UNWIND_TABLES_RANGE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"
#include "wire.h"

/* The search in BPF makes 17 turns. */
#define RANGE_LIST_MAX 65536U

struct range_list {
	uint32_t first, count;
	uint32_t serial; /* never 0, of this list only */
	uint32_t refs;	 /* spaces */
	uint64_t hash;
	uint64_t idle_ns; /* since when refs is 0 */
	struct range_list *idle_prev, *idle_next;
};

struct range_gap {
	uint32_t first, count;
};

struct range_lists {
	struct wire_range *ranges; /* borrowed; read by others */
	uint32_t range_count;
	uint32_t used, idle, free; /* of range_count */
	uint32_t held, idle_lists; /* lists that spaces have; that none has */
	uint32_t last_serial;
	struct hmap by_serial; /* -> struct range_list, owned */
	struct hmap by_hash;   /* -> the same, borrowed */
	/* Without spaces, longest first. */
	struct range_list *idle_first, *idle_last;
	VEC(struct range_gap) gaps;	/* by place; two never touch */
	VEC(struct wire_range) scratch; /* the ranges that are being put, serial 0 */
};

void range_lists_init(struct range_lists *lists, struct wire_range *ranges, uint32_t range_count);
void range_lists_release(struct range_lists *lists);

/*
 * The list of these ranges, with a reference more: an equal one (*ret_found), or a new one. NULL:
 * no gap is large enough; range_lists_reclaim() makes larger ones.
 */
struct range_list *range_lists_ref(struct range_lists *lists, const struct wire_range *ranges,
				   uint32_t count, bool *ret_found);
void range_lists_unref(struct range_lists *lists, struct range_list *list, uint64_t now_ns);
/* The place of the longest idle list becomes a gap. */
void range_lists_reclaim(struct range_lists *lists);

/* Call FN for each range of the lists that spaces have. */
void range_lists_for_each_held(const struct range_lists *lists,
			       void (*fn)(const struct wire_range *range, void *data), void *data);

/* NULL: there is none (any more). */
const struct range_list *range_lists_find(const struct range_lists *lists, uint32_t serial);

#endif
