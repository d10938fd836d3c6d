/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The range lists of the processes that are sampled, in the table memory's array. A list is never
 * changed once it is published: a process whose mappings changed gets a new one. Lists that are
 * given up are written again only after READERS_NS; every range carries its list's serial, so that
 * a reader who holds an old space (a forked child's, say) finds out.
 */
#ifndef HOSTPROF_UNWIND_TABLES_SPACE_STORE_H
#define HOSTPROF_UNWIND_TABLES_SPACE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "unwind/tables/table_memory.h"

struct space_store;

struct space_store *space_store_new(struct table_memory *memory); /* MEMORY is borrowed */
void space_store_free(struct space_store *store);
DEFINE_CLEANUP(struct space_store *, space_store_free);

struct space_identity {
	uint32_t tgid, exec_id;
	uint64_t start_ns;
};

struct space_content {
	const struct wire_range *ranges; /* borrowed: sorted by start, without overlaps */
	size_t count;
	uint64_t exec_pages; /* as the next two in struct wire_space */
	uint32_t jvm;
};

/*
 * Publish the ranges (serial is filled in here) of a process, replacing what it had; processes with
 * equal ranges share a list. When the array is full the spaces that were not used for longest go;
 * when all that is free was given up less than READERS_NS ago, it sleeps so long. NOW_NS:
 * CLOCK_MONOTONIC. -ENOSPC: more ranges than fit at all; -EINVAL: not sorted.
 */
int space_store_put(struct space_store *store, const struct space_identity *id,
		    const struct space_content *content, uint64_t now_ns);

/* Sets it in what is published for ID, a fork's copy included. -ENOENT: nothing is. */
int space_store_set_jvm(struct space_store *store, const struct space_identity *id, uint32_t jvm);

/* The process is gone. */
void space_store_drop(struct space_store *store, uint32_t tgid, uint64_t now_ns);

/*
 * What is published for a process, a fork's copy of its parent's space included (which BPF made);
 * with what BPF wrote. -ENOENT: nothing, or its list was given up. The ranges are borrowed until
 * the next put or drop. Compare start_ns and exec_id.
 */
int space_store_get(const struct space_store *store, uint32_t tgid, struct wire_space *ret_space,
		    const struct wire_range **ret_ranges);

/* Call FN for each range that is published for a process, but for copies that BPF made. */
void space_store_for_each_range(const struct space_store *store,
				void (*fn)(const struct wire_range *range, void *data), void *data);

struct space_store_stats {
	uint32_t spaces, lists,
		idle_lists; /* lists that spaces have, and such as none has any more */
	uint32_t ranges_used, ranges_free; /* free: given up ones included */
	uint64_t puts, shared, evicted;	   /* shared: puts that found an equal list */
	uint64_t waits;
};

void space_store_get_stats(const struct space_store *store, struct space_store_stats *ret_stats);

#endif
