/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What is there of stacks that the copy does not hold. Of the main thread's beyond a buffer that was hardly written, in which the copy has
 * ended: nothing else lies between its stack pointer and the stack's end, while that of another thread may be on a stack of the
 * program's own. And of a goroutine's, which is left for the thread's own, or is longer than what is copied of a stack whose end nobody knows.
 * A page that is missing takes 0.75 us in a virtual machine, so that the time of a walk is enough for 1 MiB.
 */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_BEYOND_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_BEYOND_H

#include "sample/miss/miss_copy.h"

#define MISS_BEYOND_TURNS (MAIN_STACK_BYTES / WIRE_PAGE_BYTES)

struct miss_beyond {
	struct miss_buffer *b;
	wire_u64 at, end;
	wire_u64 most; /* bytes, with the copy and the heap */
	wire_u64 until_ns;
};

/* The next piece begins at AT, or the last one goes on there. False: there is no place for one more. */
static __always_inline bool miss_note_beyond(struct wire_miss *miss, wire_u64 at, wire_u32 bytes)
{
	wire_u32 index = miss->beyond_count;

	UNWIND_OPAQUE(index);
	if (index && index <= WIRE_MISS_BEYOND_PIECES) {
		struct wire_piece *last = &miss->beyond[index - 1];

		if (last->at + last->bytes == at) {
			last->bytes += bytes;
			miss->beyond_bytes += bytes;
			return true;
		}
	}
	if (index >= WIRE_MISS_BEYOND_PIECES)
		return false;
	miss->beyond[index].at = at;
	miss->beyond[index].bytes = bytes;
	miss->beyond[index].pad = 0;
	miss->beyond_bytes += bytes;
	miss->beyond_count = index + 1;
	return true;
}

static long miss_beyond_turn(wire_u32 turn, struct miss_beyond *beyond)
{
	struct miss_buffer *b = beyond->b;
	wire_u32 used = b->miss.copy_bytes + b->miss.heap_bytes + b->miss.beyond_bytes;
	wire_u64 at = beyond->at, left = beyond->end - at;
	wire_u32 piece = WIRE_PAGE_BYTES - (at & (WIRE_PAGE_BYTES - 1));

	if (piece > left)
		piece = left;

	if (at >= beyond->end || (turn % MISS_STRIDE == 0 && bpf_ktime_get_ns() > beyond->until_ns))
		return 1;
	beyond->at = at + piece;
	UNWIND_OPAQUE(used);
	UNWIND_OPAQUE(piece);
	if (used >= beyond->most || used > miss_copy_bytes || piece > WIRE_PAGE_BYTES)
		return 1;
	if (bpf_probe_read_user(b->room + used, piece, (const void *)at))
		return 0;
	return !miss_note_beyond(&b->miss, at, piece);
}

/* With what is there already it has no more than MOST bytes. */
MISS_ALONE miss_copy_beyond(wire_u32 buffer, wire_u64 most)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	struct miss_beyond beyond = { .b = b, .most = most };

	if (!b)
		return 0;
	beyond.at = b->beyond_at;
	beyond.end = b->beyond_end;
	if (beyond.at >= beyond.end)
		return 0;
	beyond.until_ns = bpf_ktime_get_ns() + settings.budget_ns;
	bpf_loop(MISS_BEYOND_TURNS, miss_beyond_turn, &beyond, 0);
	return 0;
}

#endif
