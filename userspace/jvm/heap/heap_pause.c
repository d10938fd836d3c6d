/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/gc/shared/{collectedHeap,isGCActiveMark}.hpp, JDK 8 to 28: every collection stands between the mark's constructor and
 * its destructor, and is counted in between. JDK 21 gave the flag its newer name.
 */
#include "jvm/heap/heap_pause.h"

#include <errno.h>

int heap_pause_find(const struct vmstructs *vs, struct heap_pause *ret_pause)
{
	uint64_t heap, active, count;
	int r;

	if ((vmstructs_field_offset(vs, "CollectedHeap", "_is_stw_gc_active", &active) < 0 &&
	     vmstructs_field_offset(vs, "CollectedHeap", "_is_gc_active", &active) < 0) ||
	    vmstructs_field_offset(vs, "CollectedHeap", "_total_collections", &count) < 0)
		return -EOPNOTSUPP;
	r = vmstructs_static_u64(vs, "Universe", "_collectedHeap", &heap);
	if (r < 0)
		return r == -ENODATA ? -EOPNOTSUPP : r;
	if (!heap)
		return -EAGAIN;
	*ret_pause = (struct heap_pause){ heap + active, heap + count };
	return 0;
}

int heap_pause_look(const struct heap_pause *pause, const struct vm_memory *memory,
		    uint32_t *ret_count)
{
	struct vm_gather g = { .count = 0 };
	uint32_t count;
	uint8_t active;
	int r;

	VM_GATHER(&g, pause->active_at, active);
	VM_GATHER(&g, pause->count_at, count);
	r = vm_gather_read(&g, memory);
	if (r < 0)
		return r;
	if (active)
		return -EAGAIN;
	*ret_count = count;
	return 0;
}
