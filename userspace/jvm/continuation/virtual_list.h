/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM's virtual threads, mounted or not, by Java's own lists of them: those that belong to no executor, and those of executors. A list that changes
 * meanwhile may lack who was moved in it. Threads of a StructuredTaskScope are on no list that can be found, nor those of a JVM with -Djdk.trackAllThreads=false.
 */
#ifndef HOSTPROF_JVM_CONTINUATION_VIRTUAL_LIST_H
#define HOSTPROF_JVM_CONTINUATION_VIRTUAL_LIST_H

#include "base/vec.h"
#include "jvm/continuation/virtual_layout.h"

struct virtual_objects {
	VEC(uint64_t) at;
	uint32_t chance; /* one of so many is there */
};

/* A number by chance for each NUMBER, however they follow each other; DRAW has another one for it. */
static inline uint32_t virtual_list_draw(uint64_t number, uint32_t draw)
{
	uint64_t mixed = number ^ (uint64_t)draw << 32;

	mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 29) * 0x94d049bb133111ebULL;
	return (uint32_t)(mixed >> 32);
}

/*
 * Add addresses of objects in the heap to OBJECTS, of which some may be none; they are where they are as long as nothing moves (heap_pause.h). Of many it is
 * a part, by a chance that DRAW (any number) decides. -E2BIG: there are more than 65,536 all the same, or a table of more than 16 million places; -ETIMEDOUT: it
 * is DEADLINE_NS. What came until then is there. Other errors as the read says.
 */
int virtual_list_read(const struct virtual_layout *layout, uint32_t draw, uint64_t deadline_ns,
		      struct virtual_objects *objects);

#endif
