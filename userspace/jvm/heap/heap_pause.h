/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a collection move objects? Between two looks that answer alike nothing has moved, for collectors that
 * do it while Java stands still.
 */
#ifndef HOSTPROF_JVM_HEAP_HEAP_PAUSE_H
#define HOSTPROF_JVM_HEAP_HEAP_PAUSE_H

#include <stdint.h>

#include "jvm/layout/vmstructs.h"

struct heap_pause {
	/* Addresses of a byte, which says that one is under way, and of how many there were, 4 bytes. */
	uint64_t active_at, count_at;
};

/* -EAGAIN: there is no heap yet; -EOPNOTSUPP: the JVM does not tell; and errors of the read. */
int heap_pause_find(const struct vmstructs *vs, struct heap_pause *ret_pause);

/* *RET_COUNT is how many there were, all of which have ended; -EAGAIN: one is under way. */
int heap_pause_look(const struct heap_pause *pause, const struct vm_memory *memory,
		    uint32_t *ret_count);

#endif
