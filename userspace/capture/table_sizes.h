/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory the unwind tables take, and how it is split. */
#ifndef HOSTPROF_CAPTURE_TABLE_SIZES_H
#define HOSTPROF_CAPTURE_TABLE_SIZES_H

#include <stdint.h>

/* Entries of the maps of bpf/unwind/table_maps.h. */
struct table_sizes {
	uint32_t blocks, rules, ranges, pages, spaces;
	uint32_t hot_codes; /* of each cpu, a power of two */
};

#define TABLE_SIZES_DEFAULT_BYTES (16ULL << 20)

/*
 * Share TABLE_BYTES (0: the default) out among the maps, with what the kernel adds for each entry
 * of a hash map. Less than what one process needs is not taken. The cache of hot code comes on top
 * of that: a quarter as much for all of CPUS together, unless that is too little.
 */
void table_sizes_choose(uint64_t table_bytes, uint32_t cpus, struct table_sizes *ret_sizes);

#endif
