/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries by address, live and dead ones together, so that several may cover one address. Sorted
 * by start; each slot also knows the highest stop of all slots up to it, so that a search
 * backwards ends at once where nothing overlaps.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_INDEX_H
#define HOSTPROF_JVM_CODEMAP_CODE_INDEX_H

#include "base/vec.h"
#include "jvm/codemap/code_entry.h"

struct code_slot {
	struct code_entry *entry; /* owned */
	uint64_t max_stop;
};

struct code_index {
	VEC(struct code_slot) slots;
	size_t bytes; /* of all entries */
};

void code_index_release(struct code_index *index);

/* Takes ENTRY. */
void code_index_add(struct code_index *index, struct code_entry *entry);

/* Free all entries that ended before HORIZON_NS. */
void code_index_expire(struct code_index *index, uint64_t horizon_ns);

/*
 * Walk the entries that overlap [START, STOP), highest start first:
 * `size_t at = code_index_seek(index, stop); while ((entry = code_index_prev(index, &at, start)))`.
 */
size_t code_index_seek(const struct code_index *index, uint64_t stop);
struct code_entry *code_index_prev(const struct code_index *index, size_t *at, uint64_t start);

#endif
