/* SPDX-License-Identifier: Apache-2.0 */
/* What a process takes of memory now, as the kernel counts it. */
#ifndef HOSTPROF_BASE_BUDGET_RESIDENT_H
#define HOSTPROF_BASE_BUDGET_RESIDENT_H

#include <stdint.h>

struct resident {
	uint64_t address_bytes;	 /* all that is mapped */
	uint64_t resident_bytes; /* what of it is in memory */
	uint64_t own_bytes;	 /* and of that what is of no file, so not shared */
};

/* That of process PID, 0: ours. All 0: it has gone, or there is no /proc. */
struct resident resident_read(uint32_t pid);

#endif
