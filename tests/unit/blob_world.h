/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A code heap with the blobs of virtual threads. */
#ifndef HOSTPROF_TESTS_BLOB_WORLD_H
#define HOSTPROF_TESTS_BLOB_WORLD_H

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "pieces.h"
#include "unwind.h"

#define HEAP_AT	   0x7f0010000000ULL
#define SEGMAP_AT  0x7f0020000000ULL
#define THREAD_AT  0x7f0030000000ULL
#define STACK_AT   0x7f0040000000ULL
#define SEGMENT	   128U
#define SEGMENTS   64U
#define CONT_ENTRY 64 /* in the thread */

#define ENTER_BLOB   (HEAP_AT + 8)
#define ENTER_RETURN (ENTER_BLOB + 300)
#define STUB_BLOB    (HEAP_AT + 16 * SEGMENT + 8)
#define BARRIER	     (STUB_BLOB + 300)
#define CALLER	     (ENTER_BLOB + 400) /* enterSpecial's; any code will do */

static uint8_t heap[SEGMENTS * SEGMENT], segmap[SEGMENTS];
static uint64_t thread[16], stack[256], out[UNWIND_OUT_WORDS];
static struct unwind_cursor cursor;

#define BLOB_PIECES                                                             \
	{ HEAP_AT, heap, sizeof(heap) }, { SEGMAP_AT, segmap, sizeof(segmap) }, \
		{ THREAD_AT, thread, sizeof(thread) },                          \
	{                                                                       \
		STACK_AT, stack, sizeof(stack)                                  \
	}

static inline void put_blob(uint64_t blob, int32_t segments, int32_t frame_size)
{
	int32_t size = segments * (int32_t)SEGMENT - 8;
	uint32_t first = (uint32_t)(blob - HEAP_AT) / SEGMENT;

	memcpy(heap + (blob - HEAP_AT) + 24, &size, sizeof(size));
	memcpy(heap + (blob - HEAP_AT) + 44, &frame_size, sizeof(frame_size));
	for (uint32_t i = 0; i < (uint32_t)segments; i++)
		segmap[first + i] = (uint8_t)i;
}

/* Of a JVM whose blobs are laid out as put_blob() has it. */
static inline void put_heap(struct wire_jvm *jvm)
{
	*jvm = (struct wire_jvm){
		.serial = 1,
		.heap_count = 1,
		.log2_segment = 7,
		.block_header = 8,
		.code_start = HEAP_AT,
		.code_end = HEAP_AT + sizeof(heap),
		.heaps = { { HEAP_AT, HEAP_AT + sizeof(heap), SEGMAP_AT } },
		.return_barrier = BARRIER,
		.enter_return = ENTER_RETURN,
		.blob_bytes = 216,
		.blob_size = 24,
		.frame_size = 44,
		.code_begin = 36,
		.compile_id = 212,
		.thread_cont_entry = CONT_ENTRY,
	};
}

#endif
