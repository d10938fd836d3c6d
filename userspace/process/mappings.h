/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of one process: sorted, without overlaps. A forked child has its parent's
 * list until one of them changes it. All lists draw from one budget (process/process_memory.h).
 */
#ifndef HOSTPROF_PROCESS_MAPPINGS_H
#define HOSTPROF_PROCESS_MAPPINGS_H

#include <stddef.h>

#include "process/process.h"

/*
 * Add a copy of M (its path too). What it covers of older mappings goes; their rests stay, with
 * the file offset moved. Dropped when empty, when there are MAPPINGS_MAX already, or no room for more:
 * mappings_get_stats() tells. Not a change when the process has just that one.
 */
void mappings_add(struct process *process, const struct mapping *m);
void mappings_clear(struct process *process);

/* The one that holds ADDRESS, or NULL. */
struct mapping *process_find_mapping(struct process *process, uint64_t address);

/* TO's mappings become those of FROM. */
void mappings_copy(struct process *to, const struct process *from);

/* Add those that the process has now. A negative errno when it may not be read, or is gone. */
int mappings_read(struct process *process);

struct mappings_stats {
	uint64_t left_out; /* mappings, or their paths */
	uint32_t pid;	   /* of the first process that this happened to */
	char comm[16];
};

/* Of all processes, ever. */
void mappings_get_stats(struct mappings_stats *ret_stats);

/* vm.max_map_count is 65530 by default; unmapping is not reported, so old ones can pile up. */
#define MAPPINGS_MAX 65536

#endif
