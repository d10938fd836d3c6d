/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Where a miss is made, and what can be put behind its copy of the stack. */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_BUFFER_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_BUFFER_H

#include "sample/maps.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

struct miss_buffer {
	wire_u32 busy;
	wire_u32 reached;		/* bytes of the copy that were tried */
	wire_u64 begin_ns;		/* of this one; here, as the stack is short */
	wire_u64 beyond_at, beyond_end; /* of stack that is not in the copy; miss_beyond.h */
	struct wire_miss miss;		/* its copy[] is the next member */
	/*
	 * It holds miss_copy_bytes, and a page more, so that the verifier need not know that a
	 * piece ends where the copy does; and what is copied of the heap.
	 */
	wire_u8 room[WIRE_MISS_MAX_COPY + WIRE_MISS_HEAP_BYTES + WIRE_PAGE_BYTES];
};

#pragma clang diagnostic pop

/*
 * One for each cpu that was online at the start, as most machines could have many more than they
 * have; one that came later shares. A per-cpu map's values end at 32 KiB. Loaded with room for
 * miss_copy_bytes only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* miss_buffer_count */
	__uint(key_size, sizeof(wire_u32));
	__uint(value_size, sizeof(struct miss_buffer));
} miss_buffers SEC(".maps");

static __always_inline struct miss_buffer *miss_buffer_at(wire_u32 index)
{
	return bpf_map_lookup_elem(&miss_buffers, &index);
}

/*
 * A function that is not static is looked at once by the verifier, not on each way to it (UNWIND_ALONE() in unwind/cursor.h), but takes
 * no pointer to a value that may be shorter than its type says: it gets the buffer's index.
 */
#define MISS_ALONE __attribute__((noinline)) int

/* One piece is no longer: a hundred interpreted frames. */
#define MISS_HEAP_PIECE 16384

/* Behind what is there of the stack and the heap. 0: it cannot be read, or is too long. */
MISS_ALONE miss_add_piece(wire_u32 buffer, wire_u64 at, wire_u32 bytes)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	wire_u32 used, index, from;

	if (!b)
		return 0;
	used = b->miss.heap_bytes;
	index = b->miss.heap_count;
	from = b->miss.copy_bytes;
	UNWIND_OPAQUE(used);
	UNWIND_OPAQUE(index);
	UNWIND_OPAQUE(from);
	UNWIND_OPAQUE(bytes);
	if (from > miss_copy_bytes || index >= WIRE_MISS_HEAP_PIECES || bytes > MISS_HEAP_PIECE ||
	    used > WIRE_MISS_HEAP_BYTES - MISS_HEAP_PIECE ||
	    bpf_probe_read_user(b->room + from + used, bytes, (const void *)at))
		return 0;
	b->miss.heap[index].at = at;
	b->miss.heap[index].bytes = bytes;
	b->miss.heap[index].pad = 0;
	b->miss.heap_bytes = used + bytes;
	b->miss.heap_count = index + 1;
	return 1;
}

#endif
