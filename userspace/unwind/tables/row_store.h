/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of all files that the step functions may need: pages of rows are put in once compiled,
 * found by (file, page), and leave again when the blocks run out, those first that were not read
 * for longest. Equal rules have one index. A block that is given up gets another generation at
 * once and is written again only after READERS_NS, when no walk can be reading it any more.
 */
#ifndef HOSTPROF_UNWIND_TABLES_ROW_STORE_H
#define HOSTPROF_UNWIND_TABLES_ROW_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/cfi/cfi_file.h"
#include "unwind/tables.h"
#include "unwind/tables/table_memory.h"

struct row_store;

struct row_store *row_store_new(struct table_memory *memory); /* MEMORY is borrowed */
void row_store_free(struct row_store *store);
DEFINE_CLEANUP(struct row_store *, row_store_free);

/*
 * Publish the rows of one page (the first at offset 0, rising); replaces what it had. Evicts as
 * needed. When all that is free was given up less than READERS_NS ago, it sleeps so long: blocks
 * are given up ahead, so this takes a thousand pages in that time. NOW_NS: CLOCK_MONOTONIC.
 * -ENOSPC: more than fits into empty tables; -EINVAL: not a page.
 */
int row_store_put(struct row_store *store, const struct wire_page_key *key,
		  const struct cfi_row *rows, size_t count, uint64_t now_ns);
/* Give up all pages of a file. */
void row_store_drop_file(struct row_store *store, uint32_t file, uint64_t now_ns);
/* The same of all files that HAS_FILE does not know. */
void row_store_drop_others(struct row_store *store,
			   bool (*has_file)(uint32_t file, const void *data), const void *data,
			   uint64_t now_ns);

/* For a walk in userspace: blocks, rules and page filled in; ranges are the caller's. */
void row_store_tables(const struct row_store *store, struct unwind_tables *ret_tables);

struct row_store_stats {
	uint32_t pages, blocks_used, blocks_free, rules_used; /* rules without WIRE_RULE_NONE */
	uint64_t pages_put, pages_evicted, rules_exhausted;
	uint64_t waits; /* sleeps until something could be written again */
};

void row_store_get_stats(const struct row_store *store, struct row_store_stats *ret_stats);

#endif
