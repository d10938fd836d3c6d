/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A virtual thread at the return barrier, and chunks of its frames in a heap. */
#ifndef HOSTPROF_TESTS_FROZEN_WORLD_H
#define HOSTPROF_TESTS_FROZEN_WORLD_H

#include "blob_world.h"

#define OBJECTS_AT  0x10000000ULL /* compressed: shifted by 3 */
#define METADATA_AT 0x7f0060000000ULL
#define ANCHOR_SP   96
#define KLASS	    0x1234U

/* Two methods, of frames of 6 and 10 words, and the interpreter. */
#define SIX	    (HEAP_AT + 32 * SEGMENT + 8)
#define TEN	    (HEAP_AT + 40 * SEGMENT + 8)
#define INTERPRETER (HEAP_AT + 48 * SEGMENT + 8)

/* A chunk's fields, and its stack's words behind them. */
#define PARENT	    40
#define SIZE	    12
#define SP	    24
#define BOTTOM	    28
#define ROOM	    32
#define STACK_WORDS 100
#define CHUNK_BYTES (48U + 8 * STACK_WORDS)
#define CHUNKS	    70
#define CONT	    (OBJECTS_AT)
#define CHUNK(i)    (OBJECTS_AT + 64 + (uint64_t)(i)*CHUNK_BYTES)
#define TAIL	    32

static uint8_t objects[64 + CHUNKS * CHUNK_BYTES];
static uint64_t metadata[64];

static const struct piece pieces[] = {
	BLOB_PIECES,
	{ OBJECTS_AT, objects, sizeof(objects) },
	{ METADATA_AT, metadata, sizeof(metadata) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static const struct unwind_tables tables;
static struct unwind_memory memory = { .read = read_piece, .tables = &tables };

/* --- the world -------------------------------------------------------------------------------- */

static inline void put32(uint64_t object, unsigned int offset, uint32_t value)
{
	memcpy(objects + (object - OBJECTS_AT) + offset, &value, sizeof(value));
}

static inline void put64(uint64_t address, uint64_t value)
{
	memcpy(objects + (address - OBJECTS_AT), &value, sizeof(value));
}

static inline uint32_t oop(uint64_t address)
{
	return (uint32_t)(address >> 3);
}

/* Word AT of a chunk's stack. */
static inline uint64_t word(unsigned int chunk, unsigned int at)
{
	return CHUNK(chunk) + 48 + 8ULL * at;
}

/* A chunk whose frames are in words SP to BOTTOM; PARENT_CHUNK < 0: the last one. */
static inline void put_chunk(unsigned int chunk, unsigned int sp, unsigned int bottom,
			     int parent_chunk)
{
	put64(CHUNK(chunk), 1); /* its mark: nobody has it */
	put32(CHUNK(chunk), 8, KLASS);
	put32(CHUNK(chunk), SIZE, STACK_WORDS);
	put32(CHUNK(chunk), SP, sp);
	put32(CHUNK(chunk), BOTTOM, bottom);
	put32(CHUNK(chunk), ROOM, sp < bottom ? bottom - sp : 0);
	put32(CHUNK(chunk), PARENT, parent_chunk < 0 ? 0 : oop(CHUNK(parent_chunk)));
}

static inline void put_jvm(struct wire_jvm *jvm)
{
	put_heap(jvm);
	jvm->interpreter_start = INTERPRETER;
	jvm->interpreter_end = INTERPRETER + 512;
	jvm->thread_anchor = ANCHOR_SP;
	jvm->method_slot = -3;
	jvm->bcp_slot = -8;
	jvm->sender_sp_slot = -1;
	jvm->method_const_method = 8;
	jvm->const_method_constants = 8;
	jvm->pool_holder = 8;
	jvm->klass_name = 8;
	jvm->symbol_mask = UINT64_MAX;
	jvm->chunks = (struct wire_chunks){ .klass_mask = UINT32_MAX,
					    .klass = KLASS,
					    .oop_bytes = 4,
					    .oop_shift = 3,
					    .klass_at = 8,
					    .tail = TAIL,
					    .parent = PARENT,
					    .size = SIZE,
					    .sp = SP,
					    .bottom = BOTTOM,
					    .argsize = WIRE_JVM_ABSENT,
					    .stack = 48,
					    .room = ROOM };
}

/* At the barrier, word 20 of the stack, which is the ContinuationEntry. */
static inline void begin(void)
{
	memset(heap, 0, sizeof(heap));
	memset(segmap, 0xff, sizeof(segmap));
	memset(objects, 0, sizeof(objects));
	memset(thread, 0, sizeof(thread));
	memset(&cursor, 0, sizeof(cursor));
	put_blob(ENTER_BLOB, 8, 10);
	put_blob(STUB_BLOB, 8, 0);
	put_blob(SIX, 8, 6);
	put_blob(TEN, 8, 10);
	/* Method → ConstMethod → ConstantPool → Klass → Symbol → its word */
	for (unsigned int i = 0; i < 4; i++)
		metadata[10 * i + 1] = METADATA_AT + 80ULL * (i + 1);
	metadata[40] = 0x4711;
	put_jvm(&cursor.jvm);
	unwind_begin(&cursor, 200, 0);
	cursor.frozen_at.live = 1;
	cursor.leaf = 0;
	cursor.pc = BARRIER;
	cursor.sp = STACK_AT + 8ULL * 20;
	cursor.fp = 0x7777;
	cursor.thread = THREAD_AT;
	thread[CONT_ENTRY / 8] = STACK_AT + 8ULL * 20;
	stack[20 + 2] = CONT;
	stack[20 + 9] = CALLER;
	put64(CONT, 1);
	put32(CONT, TAIL, oop(CHUNK(0)));
}

/* A compiled frame at AT, whose callee returns to PC; the next one's place. */
static inline unsigned int put_compiled(unsigned int chunk, unsigned int at, uint64_t pc)
{
	put64(word(chunk, at - 1), pc);
	return at + (pc - SIX < 8 * SEGMENT ? 6 : 10);
}

/*
 * An interpreted one of WORDS below its fixed slots and LOCALS above; its callee left its link and return
 * address in the two words at LINK, which lie directly below AT when that is compiled.
 */
static inline unsigned int put_interpreted(unsigned int chunk, unsigned int at, unsigned int *link,
					   unsigned int words, unsigned int locals)
{
	unsigned int fp = at + words + 8;

	put64(word(chunk, *link + 1), INTERPRETER + 100);
	put64(word(chunk, *link), fp - *link);
	put64(word(chunk, fp - 1), 2 + locals); /* sender sp */
	put64(word(chunk, fp - 3), METADATA_AT);
	put64(word(chunk, fp - 8), METADATA_AT + 88);
	*link = fp;
	return fp + 2 + locals;
}

/* 6 10 6 in words 20 to 42, of which those below OWN are the chunk's no more. */
static inline void chunk_of_three(unsigned int own)
{
	unsigned int at;

	begin();
	at = put_compiled(0, 20, SIX + 100);
	at = put_compiled(0, at, TEN + 100);
	at = put_compiled(0, at, SIX + 110);
	put64(word(0, at - 1), ENTER_RETURN);
	put_chunk(0, own, at, -1);
}

/* --- what comes out --------------------------------------------------------------------------- */

/* The frames that are written: c6, c10 and i; M is the mark, E enterSpecial's. */
static inline void walk(const char *expected)
{
	char text[1024] = "";
	wire_u32 at = 0;

	while (cursor.pc != CALLER && unwind_frame(&cursor, &memory, out) == UNWIND_GO_ON)
		;
	while (at < cursor.words) {
		uint64_t pc = out[at] & WIRE_FRAME_ADDRESS_MASK;
		unsigned int kind = (unsigned int)(out[at] >> WIRE_FRAME_KIND_SHIFT) & 3;
		const char *name = pc - SIX < 8 * SEGMENT   ? "6"
				   : pc - TEN < 8 * SEGMENT ? "10"
							    : "E";

		if (kind == WIRE_FRAME_MARK)
			name = "M";
		else if (kind == WIRE_FRAME_INTERPRETED)
			name = out[at + 1] == METADATA_AT && out[at + 2] == METADATA_AT + 80 &&
					       out[at + 3] == METADATA_AT + 88 && out[at + 4]
				       ? "i"
				       : "?";
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", at ? " " : "",
			 name);
		at += kind == WIRE_FRAME_MARK	       ? 1
		      : kind == WIRE_FRAME_INTERPRETED ? WIRE_INTERPRETED_WORDS
						       : WIRE_COMPILED_WORDS;
	}
	assert_string_equal(text, expected);
	assert_true(cursor.pc == CALLER);
	assert_true(cursor.sp == STACK_AT + 8ULL * 30);
	assert_int_equal(cursor.frozen, strchr(expected, 'M') ? 1 : 0);
	assert_int_equal(cursor.missed, 0);
}

#endif
