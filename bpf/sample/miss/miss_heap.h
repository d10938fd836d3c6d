/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A virtual thread's frames in the heap, as they are at the sample. */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_HEAP_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_HEAP_H

#include "hotspot/frozen.h"
#include "sample/miss/miss_buffer.h"

/* Of a Continuation's fields. */
#define MISS_CONT_BYTES 128

/* The fields of the chunk at CHUNK and its frames; the next older one, 0: none, or nothing more is to be had. */
static __noinline wire_u64 miss_add_chunk(struct unwind_cursor *c, wire_u32 buffer, wire_u64 chunk)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 bytes;

	f->sp = f->end = 0;
	if (!frozen_open(c, NULL, chunk) || !miss_add_piece(buffer, chunk, c->jvm.chunks.stack))
		return 0;
	/* Below the frames is what the youngest one's callee would have saved. */
	bytes = f->sp < f->end ? f->end - f->sp + 16 : 0;
	if (bytes > MISS_HEAP_PIECE)
		bytes = MISS_HEAP_PIECE;
	return bytes && !miss_add_piece(buffer, f->sp - 16, bytes) ? 0 : f->parent;
}

/*
 * What userspace needs to go on at the return barrier as this would: the heap has gone on by then. Nothing, where
 * the walk has left these frames behind, or ended in Java code: who called native code last is not known then (frozen_twice()).
 */
MISS_ALONE miss_copy_heap(struct unwind_cursor *c, wire_u32 buffer)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	wire_u64 cont, chunk;

	if (!b || !c)
		return 0;
	if (!b->miss.cont_entry || b->miss.cont_entry < c->sp || !c->jvm.chunks.klass_mask ||
	    compiled_is_at_pc(c) || c->jvm.chunks.tail > MISS_CONT_BYTES - 8)
		return 0;
	c->frozen_at.entry = b->miss.cont_entry;
	chunk = frozen_tail(c, NULL);
	if (!chunk ||
	    bpf_probe_read_user(&cont, 8, (const void *)(c->frozen_at.entry + FROZEN_ENTRY_CONT)) ||
	    !miss_add_piece(buffer, cont, c->jvm.chunks.tail + 8))
		return 0;
	for (int i = 0; i < WIRE_MISS_HEAP_PIECES / 2 && chunk; i++)
		chunk = miss_add_chunk(c, buffer, chunk);
	return 0;
}

#endif
