/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Finds the code blob of a pc in a JVM's code cache. The heap's segment map says of every segment
 * how far back its block begins, at most 254 segments a hop (share/memory/heap.cpp,
 * CodeHeap::find_block_for()); blocks that were joined by the free list have many short hops. The
 * blob's own fields (share/code/codeBlob.hpp) are where the JVM's VMStructs say.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_BLOB_H
#define HOSTPROF_BPF_HOTSPOT_BLOB_H

#include "native/leaf_call.h"
#include "unwind/tables.h"

/* What BPF does; a blob farther away is found by userspace, which publishes it. */
#define BLOB_NEAR_HOPS 24
#ifdef __bpf__
#define BLOB_MAX_HOPS BLOB_NEAR_HOPS
#else
/* HotSpot defragments the map after 10,000 (share/memory/heap.hpp, fragmentation_limit). */
#define BLOB_MAX_HOPS (1U << 14)
#endif
#define BLOB_SEGMENT_FREE 0xff

/* No frame is larger, in words. */
#define BLOB_MAX_FRAME (UNWIND_MAX_FRAME_BYTES / 8)

static inline bool blob_owns(const struct unwind_cursor *c, wire_u64 pc)
{
	return pc >= c->jvm.code_start && pc < c->jvm.code_end;
}

static inline bool blob_is_interpreter(const struct unwind_cursor *c, wire_u64 pc)
{
	return pc >= c->jvm.interpreter_start && pc < c->jvm.interpreter_end;
}

/* The JavaThread: the one that is known, or what %r15 has, which is the thread in all code of the JVM. */
static inline wire_u64 blob_thread(struct unwind_cursor *c)
{
	wire_u64 thread = tables_thread(c);

	return thread ? thread : c->r15;
}

/*
 * No JVM, or one that is not known yet: no code is its own, whatever the layout before it said. An
 * end of 0 is enough; a layout that could not be read has it too.
 */
static inline void blob_forget_jvm(struct unwind_cursor *c)
{
	c->jvm.serial = 0;
	c->jvm.interpreter_end = c->jvm.code_end = 0;
}

/* Userspace may see what BPF could not: a page that is not in memory, a blob too far away. */
static inline enum unwind_verdict blob_miss(struct unwind_cursor *c, enum unwind_reason reason)
{
#ifdef __bpf__
	c->missed = 1;
	reason = UNWIND_NO_ROWS;
#endif
	return cursor_stop(c, reason);
}

/* --- fields of c->blob ------------------------------------------------------------------------ */

static inline wire_s32 blob_s32(const struct unwind_cursor *c, wire_u32 offset)
{
	UNWIND_OPAQUE(offset);
	if (offset > WIRE_BLOB_BYTES - 8)
		return 0;
	return (wire_s32)leaf_u32(c->blob + offset);
}

static inline wire_u64 blob_u64(const struct unwind_cursor *c, wire_u32 offset)
{
	return (wire_u32)blob_s32(c, offset) | (wire_u64)(wire_u32)blob_s32(c, offset + 4) << 32;
}

/* Bytes of code, from its beginning, behind which the frame stands; negative: never. */
static inline wire_s32 blob_frame_complete(const struct unwind_cursor *c)
{
	wire_s32 value = blob_s32(c, c->jvm.frame_complete);

	return c->jvm.frame_complete_bytes == 2 ? (wire_s16)value : value;
}

/* The address that a field of the blob gives, as an offset from the blob or as a pointer. */
static inline wire_u64 blob_place(const struct unwind_cursor *c, wire_u32 offset, int is_pointer)
{
	if (is_pointer)
		return blob_u64(c, offset);
	return c->blob_at + (wire_u64)(wire_s64)blob_s32(c, offset);
}

static inline wire_u64 blob_code_begin(const struct unwind_cursor *c)
{
	return blob_place(c, c->jvm.code_begin, c->jvm.code_begin_kind == WIRE_CODE_BEGIN_POINTER);
}

/*
 * Bytes from pc to COMPLETE, as far from the code's beginning; 0: behind that, or there is none. With blob_frame_complete() it is where an nmethod's frame is not
 * complete yet (share/code/codeBlob.hpp, is_frame_complete_at()): C1 and C2 set up the frame first.
 */
static inline wire_u32 blob_ahead(const struct unwind_cursor *c, wire_s32 complete)
{
	wire_u64 done = c->pc - blob_code_begin(c);

	if (complete <= 0 || done >= (wire_u32)complete)
		return 0;
	return (wire_u32)complete - (wire_u32)done;
}

static inline bool blob_holds(const struct unwind_cursor *c, wire_u64 pc)
{
	wire_s32 size = blob_s32(c, c->jvm.blob_size);

	return size > 0 && pc - c->blob_at < (wire_u64)size;
}

/* Is the pc that of the deoptimisation handler, which stands for a patched return address? */
static inline bool blob_is_deopt(const struct unwind_cursor *c, wire_u64 pc)
{
	int is_pointer = c->jvm.deopt_kind == WIRE_DEOPT_POINTER;

	if (c->jvm.deopt_kind == WIRE_DEOPT_NONE)
		return false;
	if (pc == blob_place(c, c->jvm.deopt, is_pointer))
		return true;
	return c->jvm.deopt_mh != WIRE_JVM_ABSENT &&
	       pc == blob_place(c, c->jvm.deopt_mh, is_pointer);
}

/* --- pc to blob ------------------------------------------------------------------------------- */

/* Its beginning into c->blob, unless that is there. */
static inline enum unwind_verdict blob_read(struct unwind_cursor *c, struct unwind_memory *memory,
					    wire_u64 blob)
{
	wire_u32 bytes = c->jvm.blob_bytes;

	if (blob == c->blob_at)
		return UNWIND_GO_ON;
	UNWIND_OPAQUE(bytes);
	c->blob_at = 0;
	if (bytes > WIRE_BLOB_BYTES || memory_read(memory, c->blob, bytes, blob))
		return blob_miss(c, UNWIND_PAGE);
	c->blob_at = blob;
	return UNWIND_GO_ON;
}

enum blob_hops { BLOB_FOUND, BLOB_NONE, BLOB_UNREADABLE, BLOB_FAR };

static inline enum blob_hops blob_hop(struct unwind_memory *memory, wire_u64 segmap,
				      wire_u64 *segment, wire_u32 *ret_hops)
{
	for (wire_u32 hop = 0; hop < BLOB_MAX_HOPS; hop++) {
		wire_u8 back;

		*ret_hops = hop;
		if (memory_read(memory, &back, 1, segmap + *segment))
			return BLOB_UNREADABLE;
		if (back == 0)
			return BLOB_FOUND;
		if (back == BLOB_SEGMENT_FREE || back > *segment)
			return BLOB_NONE;
		*segment -= back;
	}
	return BLOB_FAR;
}

static inline const struct wire_code_heap *blob_heap(const struct unwind_cursor *c)
{
	for (wire_u32 i = 0; i < WIRE_JVM_HEAPS; i++) {
		const struct wire_code_heap *heap = &c->jvm.heaps[i];

		if (i < c->jvm.heap_count && c->pc >= heap->start && c->pc < heap->end)
			return heap;
	}
	return NULL;
}

/*
 * How far back the block of pc's segment begins, by the segment map: another number when another block
 * has come there. BLOB_SEGMENT_FREE: there is none, or the map cannot be read.
 */
static inline wire_u8 blob_segment(const struct unwind_cursor *c, struct unwind_memory *memory)
{
	const struct wire_code_heap *heap = blob_heap(c);
	wire_u8 back;

	if (!heap ||
	    memory_read(memory, &back, 1,
			heap->segmap + ((c->pc - heap->start) >> (c->jvm.log2_segment & 31))))
		return BLOB_SEGMENT_FREE;
	return back;
}

/* One that userspace found, if a block still begins there; 0 when it did not. */
static inline wire_u64 blob_far(struct unwind_cursor *c, struct unwind_memory *memory,
				const struct wire_code_heap *heap, wire_u64 segment)
{
	wire_u32 shift = c->jvm.log2_segment & 31;
	struct wire_far_key key = { .segment = heap->start + (segment << shift),
				    .serial = c->jvm.serial };
	const wire_u64 *found = tables_far_blob(memory, &key);
	wire_u64 blob;
	wire_u8 back;

	if (!found)
		return 0;
	blob = *found;
	segment = (blob - c->jvm.block_header - heap->start) >> shift;
	if (memory_read(memory, &back, 1, heap->segmap + segment) || back != 0)
		return 0;
	return blob;
}

/* The address of the blob that holds pc; 0: c->reason says why not. */
static inline wire_u64 blob_locate(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const struct wire_code_heap *heap = blob_heap(c);
	wire_u32 shift = c->jvm.log2_segment & 31, hops = 0;
	wire_u64 segment, first, blob;
	enum blob_hops found;

	c->reason = UNWIND_NO_BLOB;
	if (!heap)
		return 0;
	segment = first = (c->pc - heap->start) >> shift;
	found = blob_hop(memory, heap->segmap, &segment, &hops);
	if (found == BLOB_FAR) {
		blob = blob_far(c, memory, heap, first);
		if (!blob)
			blob_miss(c, UNWIND_NO_BLOB);
		return blob;
	}
	if (found == BLOB_UNREADABLE)
		blob_miss(c, UNWIND_NO_BLOB);
	if (found != BLOB_FOUND)
		return 0;
	blob = heap->start + (segment << shift) + c->jvm.block_header;
	if (hops >= BLOB_NEAR_HOPS) {
		c->far_pc = c->pc;
		c->far_blob = blob;
	}
	return blob;
}

/* Its beginning into c->blob, checked. */
static inline enum unwind_verdict blob_find(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 blob = blob_locate(c, memory);

	if (!blob || blob_read(c, memory, blob))
		return UNWIND_STOP;
	if (!blob_holds(c, c->pc))
		return cursor_stop(c, UNWIND_NO_BLOB);
	return UNWIND_GO_ON;
}

#endif
