/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of a process as the unwind tables take them. */
#ifndef HOSTPROF_UNWIND_UNWIND_RANGES_H
#define HOSTPROF_UNWIND_UNWIND_RANGES_H

#include "base/vec.h"
#include "process/registry.h"
#include "unwind/unwind_files.h"
#include "wire.h"

/* vm.max_map_count is 65530 by default; the look-up takes 2^16. */
#define UNWIND_MAX_RANGES 65535U

struct unwind_ranges {
	VEC(struct wire_range) v; /* sorted, without overlaps; serial 0 */
	uint64_t exec_pages;	  /* as the kernel counts them in mm->exec_vm */
	/* Code of HotSpot's library, its path owned; start == end: it is not mapped. */
	struct mapping libjvm;
};

void unwind_ranges_release(struct unwind_ranges *ranges);

/*
 * Those of the process now, by /proc/PID/maps. RANGES is emptied first. A negative errno when the
 * process is gone, or may not be read.
 */
int unwind_ranges_read(struct unwind_ranges *ranges, struct unwind_files *files, uint32_t pid,
		       uint32_t tid);

/* Those of the registry's mappings; exec_pages is not known (0). */
void unwind_ranges_of_process(struct unwind_ranges *ranges, struct unwind_files *files,
			      const struct process *process);

bool unwind_ranges_equal(const struct unwind_ranges *ranges, const struct wire_range *others,
			 size_t count);

/* Of COUNT sorted ranges the index of the first that ends behind ADDRESS; COUNT: none. */
static inline size_t unwind_ranges_first_after(const struct wire_range *ranges, size_t count,
					       uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL when ADDRESS is in none. */
const struct wire_range *unwind_ranges_find(const struct unwind_ranges *ranges, uint64_t address);

#endif
