/* SPDX-License-Identifier: Apache-2.0 */
/* One generation of a process: (pid, start time, exec count). */
#ifndef HOSTPROF_PROCESS_PROCESS_H
#define HOSTPROF_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/book.h"
#include "process/mapping.h"

struct process {
	uint32_t pid;
	uint32_t ppid;
	uint32_t exec_count; /* execs seen since it was first known; 0 at snapshot or fork */
	uint64_t start_ns;   /* CLOCK_MONOTONIC; 0 when unknown */
	uint64_t begin_ns;   /* when this generation began (start or exec); 0 before we looked */
	uint64_t serial;     /* unique over all generations of a run */
	char comm[16];
	char *exe;	       /* the registry's; path as the process sees it, "" unknown */
	char *cgroup;	       /* the registry's; path in the cgroup2 tree, "" unknown */
	char container_id[65]; /* "" when not in a container */
	bool exited;
	VEC(struct mapping)
	mappings; /* sorted by start, do not overlap; changed by mappings_*() only */
	struct mapping_share *share; /* who has the same list; NULL: it is empty */
	struct attachments attached; /* of this generation */
	uint64_t mappings_serial;    /* grows with every change of mappings: for caches */
};

#endif
