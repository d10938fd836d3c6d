/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries by address, live and dead ones together, so that several may cover one address. A tree
 * that stays balanced in whatever order a JVM reports its code (AVL), by start, equal ones as they
 * came. Each node knows the highest stop below it, of all and of those that live, so that a search passes
 * over what it need not see.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_INDEX_H
#define HOSTPROF_JVM_CODEMAP_CODE_INDEX_H

#include "jvm/codemap/code_entry.h"

struct code_index {
	struct code_entry *root; /* owned, with all below */
	size_t len;
	size_t bytes;	 /* of all entries */
	uint64_t orders; /* given so far */
};

/* Where a walk is: before the entry of this start and order. */
struct code_walk {
	uint64_t start;
	uint64_t order;
};

void code_index_release(struct code_index *index);

/* Takes ENTRY. Logarithmic. */
void code_index_add(struct code_index *index, struct code_entry *entry);

/* ENTRY, one of the index, lives no more: its `end` and `end_ns` say so. Logarithmic. */
void code_index_note_end(struct code_index *index, const struct code_entry *entry);

/* Free all entries that ended before HORIZON_NS. Linear. */
void code_index_expire(struct code_index *index, uint64_t horizon_ns);

/* Lowest start first. FN must not change where it is. */
void code_index_for_each(const struct code_index *index,
			 void (*fn)(struct code_entry *entry, void *data), void *data);

/*
 * Walk the entries that overlap [START, STOP), highest start first, a logarithmic step each:
 * `struct code_walk at = code_index_seek(stop); while ((entry = code_index_prev(index, &at, start)))`.
 */
static inline struct code_walk code_index_seek(uint64_t stop)
{
	return (struct code_walk){ stop, 0 };
}

struct code_entry *code_index_prev(const struct code_index *index, struct code_walk *at,
				   uint64_t start);
/* Those that live. */
struct code_entry *code_index_prev_live(const struct code_index *index, struct code_walk *at,
					uint64_t start);

#endif
