/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What a thread knows, at the sample, of the interpreted frames that it is putting in place. */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_UNPACKING_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_UNPACKING_H

#include "hotspot/own_thread.h"
#include "sample/miss/miss_buffer.h"

/*
 * Its array, as the first piece. A thread that was in no Java code yet when it was sampled says itself who it is. It may be none that runs
 * Java, so that nothing else of it is taken: none of those has such frames.
 */
MISS_ALONE miss_copy_unpacking(struct unwind_cursor *c, wire_u32 buffer)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	const struct wire_unpacking *at;
	struct own_thread own = {};
	wire_u64 array, bytes;
	wire_u32 frames;

	if (!b || !c)
		return 0;
	at = &c->jvm.unpacking;
	if (at->array && !b->miss.thread &&
	    own_thread_find(&c->jvm.own, NULL, c->tls, c->leaf_sp, &own))
		b->miss.thread = own.thread;
	if (!at->array || !b->miss.thread ||
	    memory_read(NULL, &array, 8, b->miss.thread + at->array))
		return 0;
	if (array) {
		if (memory_read(NULL, &frames, 4, array + at->frames))
			return 0;
		bytes = at->elements + (wire_u64)frames * at->element_bytes;
		if (bytes > MISS_HEAP_PIECE || !miss_add_piece(buffer, array, (wire_u32)bytes))
			return 0;
	}
	b->miss.unpacking = array;
	return 0;
}

#endif
