/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the unwind tables lie: arrays that are BPF maps mapped into this process, and hash maps
 * that are written through functions. Tests and replays use arrays of their own. One writer, any
 * number of readers that may be in the middle.
 */
#ifndef HOSTPROF_UNWIND_TABLES_TABLE_MEMORY_H
#define HOSTPROF_UNWIND_TABLES_TABLE_MEMORY_H

#include <stdint.h>

#include "wire.h"

/* A walk has a budget of 200 us; this is a hundred times as long. */
#define READERS_NS 20000000ULL

struct table_memory {
	/* Borrowed; zero at first. Element 0 of blocks and rules is never used for anything else. */
	struct wire_block *blocks;
	struct wire_rule *rules;
	struct wire_range *ranges;
	uint32_t block_count, rule_count, range_count;
	/* Set an entry, or delete it (value NULL). 0 or a negative errno (-E2BIG: full). */
	int (*set_page)(const struct wire_page_key *key, const struct wire_page *value, void *data);
	int (*set_space)(uint32_t tgid, const struct wire_space *value, void *data);
	/* What BPF has written into the entry (used_s, strays); -ENOENT when there is none. */
	int (*get_space)(uint32_t tgid, struct wire_space *ret_value, void *data);
	/* Set the layout of a JVM, or delete it (NULL). */
	int (*set_jvm)(uint32_t serial, const struct wire_jvm *value, void *data);
	int (*set_far_blob)(const struct wire_far_key *key, uint64_t blob, void *data);
	uint32_t page_limit, space_limit; /* entries that the hash maps take */
	void *data;
};

#endif
