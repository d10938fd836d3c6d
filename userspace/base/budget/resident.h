/* SPDX-License-Identifier: Apache-2.0 */
/* What a process takes of memory now, as the kernel counts it. */
#ifndef HOSTPROF_BASE_BUDGET_RESIDENT_H
#define HOSTPROF_BASE_BUDGET_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

struct resident {
	uint64_t address_bytes;	 /* all that is mapped */
	uint64_t resident_bytes; /* what of it is in memory */
	uint64_t own_bytes;	 /* and of that what is of no file, so not shared */
};

/* That of process PID, 0: ours. All 0: it has gone, or there is no /proc. */
struct resident resident_read(uint32_t pid);

/* One that is looked at ten times a second: its file stays open, which takes a fifth of the time. Empty is all 0. */
struct resident_watch {
	bool is_open;
	int fd; /* owned */
	uint32_t pid;
};

/* As resident_read(), by WATCH from the last time on, if that was the same process. For who forks: a child's is not its parent's. */
struct resident resident_watch_read(struct resident_watch *watch, uint32_t pid);
void resident_watch_release(struct resident_watch *watch);

#endif
