/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up JVM for tests of the HotSpot steps: one code heap, a stack, a thread, native code. */
#ifndef HOSTPROF_TESTS_JAVA_WORLD_H
#define HOSTPROF_TESTS_JAVA_WORLD_H

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "unwind.h"

#define HEAP_AT	  0x7f0010000000ULL
#define SEGMAP_AT 0x7f0020000000ULL
#define THREAD_AT 0x7f0030000000ULL
#define STACK_AT  0x7f0040000000ULL
#define NATIVE_AT 0x7f0050000000ULL
#define SEGMENT	  128U
#define SEGMENTS  2048U
#define HEADER	  8U

/* The blob whose block begins at that segment, and its code. */
#define BLOB_AT(segment) (HEAP_AT + (segment)*SEGMENT + HEADER)
#define CODE_OF(segment) (BLOB_AT(segment) + CODE_BEGIN)
#define CODE_BEGIN	 256

/* As in JDK 25. */
#define FIELD_SIZE     24
#define FIELD_CODE     36
#define FIELD_FRAME    44
#define FIELD_COMPLETE 54
#define FIELD_DEOPT    176
#define FIELD_ORIG_PC  208
#define FIELD_ID       212

/* What the made-up JavaThread and JavaCallWrapper have, in words. */
#define THREAD_ANCHOR	    4
#define THREAD_SAVED_PC	    8
#define THREAD_EXCEPTION_PC 9
#define WRAPPER_ANCHOR	    4

static uint8_t world_heap[SEGMENTS * SEGMENT], world_segmap[SEGMENTS];
static uint64_t world_thread[16], world_stack[1024], world_out[UNWIND_OUT_WORDS];
static struct wire_range world_range = { NATIVE_AT, NATIVE_AT + 0x10000, 0, 0, 1 };
static struct wire_hot_code world_hot_codes[WIRE_HOT_CODES];
static uint64_t world_met_codes[WIRE_MET_CODES];
static struct wire_hot_method world_hot_methods[WIRE_HOT_METHODS];
static struct unwind_cursor world;

static const struct {
	uint64_t at;
	void *bytes;
	size_t len;
} world_pieces[] = {
	{ HEAP_AT, world_heap, sizeof(world_heap) },
	{ SEGMAP_AT, world_segmap, sizeof(world_segmap) },
	{ THREAD_AT, world_thread, sizeof(world_thread) },
	{ STACK_AT, world_stack, sizeof(world_stack) },
};

static inline int world_read(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	/* A byte of the segment map, a compile id, or whole words: one more may be another page's. */
	assert_true(len == 1 || len == 4 || len % 8 == 0);
	for (size_t i = 0; i < ARRAY_SIZE(world_pieces); i++) {
		uint64_t at = address - world_pieces[i].at;

		if (address < world_pieces[i].at || at > world_pieces[i].len ||
		    len > world_pieces[i].len - at)
			continue;
		memcpy(dst, (const uint8_t *)world_pieces[i].bytes + at, len);
		return 0;
	}
	return -EFAULT;
}

static struct unwind_tables world_tables = { .ranges = &world_range,
					     .range_count = 1,
					     .hot_codes = world_hot_codes,
					     .met_codes = world_met_codes,
					     .hot_methods = world_hot_methods };
static struct unwind_memory world_memory = { .read = world_read, .tables = &world_tables };

static inline void world_put_int(uint64_t blob, uint32_t field, int32_t value)
{
	memcpy(world_heap + (blob - HEAP_AT) + field, &value, sizeof(value));
}

/* A blob of so many segments with a frame of so many words; its map has one hop, or STEP a hop. */
static inline void world_blob_far(uint32_t segment, uint32_t count, int32_t frame, uint32_t step)
{
	uint64_t blob = BLOB_AT(segment);
	int16_t complete = 16;

	world_put_int(blob, FIELD_SIZE, (int32_t)(count * SEGMENT - HEADER));
	world_put_int(blob, FIELD_CODE, CODE_BEGIN);
	world_put_int(blob, FIELD_FRAME, frame);
	world_put_int(blob, FIELD_DEOPT, (int32_t)(count * SEGMENT - 32));
	world_put_int(blob, FIELD_ORIG_PC, 8);
	world_put_int(blob, FIELD_ID, (int32_t)segment);
	memcpy(world_heap + (blob - HEAP_AT) + FIELD_COMPLETE, &complete, sizeof(complete));
	for (uint32_t i = 0; i < count; i++)
		world_segmap[segment + i] = (uint8_t)MIN(i, step);
}

static inline void world_blob(uint32_t segment, uint32_t count, int32_t frame)
{
	world_blob_far(segment, count, frame, 254);
}

/* Nothing but free segments; the walk stands at a caller's PC, its sp is word SP of the stack. */
static inline void world_begin(uint64_t pc, unsigned int sp)
{
	memset(world_heap, 0, sizeof(world_heap));
	memset(world_segmap, 0xff, sizeof(world_segmap));
	memset(world_stack, 0, sizeof(world_stack));
	memset(world_thread, 0, sizeof(world_thread));
	memset(world_hot_codes, 0, sizeof(world_hot_codes));
	memset(world_hot_methods, 0, sizeof(world_hot_methods));
	memset(&world, 0, sizeof(world));
	unwind_begin(&world, 100, 0);
	world.leaf = 0;
	world.regs_kept = 0;
	world.pc = pc;
	world.sp = STACK_AT + 8ULL * sp;
	world.serial = world.count = world.listed = 1;
	world.jvm_serial = 1;
	world.tick = 100;
	world.jvm = (struct wire_jvm){
		.serial = 1,
		.heap_count = 1,
		.log2_segment = 7,
		.block_header = HEADER,
		.code_start = HEAP_AT,
		.code_end = HEAP_AT + sizeof(world_heap),
		.heaps = { { HEAP_AT, HEAP_AT + sizeof(world_heap), SEGMAP_AT } },
		.blob_bytes = 216,
		.blob_size = FIELD_SIZE,
		.frame_size = FIELD_FRAME,
		.frame_complete = FIELD_COMPLETE,
		.frame_complete_bytes = 2,
		.code_begin = FIELD_CODE,
		.code_begin_kind = WIRE_CODE_BEGIN_OFFSET,
		.deopt = FIELD_DEOPT,
		.deopt_kind = WIRE_DEOPT_OFFSET,
		.deopt_mh = WIRE_JVM_ABSENT,
		.orig_pc = FIELD_ORIG_PC,
		.compile_id = FIELD_ID,
		.thread_anchor = 8 * THREAD_ANCHOR,
		.thread_cont_entry = WIRE_JVM_ABSENT,
		.thread_saved_pc = 8 * THREAD_SAVED_PC,
		.thread_exception_pc = 8 * THREAD_EXCEPTION_PC,
		.wrapper_anchor = 8 * WRAPPER_ANCHOR,
		.anchor_pc = 8,
		.anchor_fp = 16,
	};
}

static inline int world_step(void)
{
	return unwind_frame(&world, &world_memory, world_out);
}

static inline uint64_t world_word(unsigned int index)
{
	return STACK_AT + 8ULL * index;
}

#define WORLD_CALLER  CODE_OF(100)
#define WORLD_FARTHER CODE_OF(200)

/* A walk that stands in the body of a frame of FRAME words whose caller is at WORLD_CALLER. */
static inline void world_begin_in_frame(int32_t frame)
{
	world_begin(CODE_OF(10) + 64, 20);
	world_blob(10, 8, frame);
	world_blob(100, 8, 6);
	world_stack[20 + frame - 1] = WORLD_CALLER;
	world_stack[20 + frame - 2] = 0x1234;
	world_stack[20 + frame + 5] = WORLD_FARTHER;
}

#endif
