/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The class of the object that a vtable or itable stub calls: as headers say it, proven, or none. */
#include "test.h"

#include "blob_world.h"

#define OBJECT_AT 0x7f0050000000ULL
#define META_AT	  0x7f0060000000ULL
#define NAME_AT	  0x7f0070000000ULL

#define BLOB_NAME  16 /* in a CodeBlob */
#define KLASS_NAME 24
#define MASK	   0xffffffffffff0000ULL
#define NARROW	   0x50ULL
#define SHIFT	   4
#define MARK_SHIFT 42

#define KLASS	  (META_AT + 0x500)
#define SYMBOL	  (META_AT + 0x800)
#define IDENTITY  WIRE_CLASS_IDENTITY(SYMBOL, 0x1234560007ULL, MASK)
#define STUB_PC	  (STUB_BLOB + 200)
#define FRAMED_PC (ENTER_BLOB + 200)

static uint64_t object[4], meta[512];
static char name[32];
static const struct piece pieces[] = {
	BLOB_PIECES,
	{ OBJECT_AT, object, sizeof(object) },
	{ META_AT, meta, sizeof(meta) },
	{ NAME_AT, name, sizeof(name) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static const struct unwind_tables tables;
static struct unwind_memory memory = { .read = read_piece, .tables = &tables };

static void put_u64(uint64_t address, uint64_t value)
{
	memcpy(heap + (address - HEAP_AT), &value, sizeof(value));
}

/* The leaf stands in a stub without a frame, whose object has a header of PLACE. */
static void begin(enum wire_klass_place place)
{
	memset(&cursor, 0, sizeof(cursor));
	memset(object, 0, sizeof(object));
	memset(meta, 0, sizeof(meta));
	memset(segmap, 0, sizeof(segmap));
	put_heap(&cursor.jvm);
	cursor.jvm.return_barrier = 0; /* the stub is none of it */
	put_blob(STUB_BLOB, 8, 0);
	put_blob(ENTER_BLOB, 8, 4);
	put_u64(STUB_BLOB + BLOB_NAME, NAME_AT);
	put_u64(ENTER_BLOB + BLOB_NAME, NAME_AT);
	strcpy(name, "vtable chunks");
	meta[(KLASS - META_AT + KLASS_NAME) / 8] = SYMBOL;
	meta[(SYMBOL - META_AT) / 8] = 0x1234560007ULL;
	object[0] = place == WIRE_KLASS_COMPACT ? NARROW << MARK_SHIFT | 1 : 1;
	object[1] = place == WIRE_KLASS_WIDE ? KLASS : NARROW | 0xabcdULL << 32;
	cursor.jvm.klass_name = KLASS_NAME;
	cursor.jvm.symbol_mask = MASK;
	cursor.jvm.receiver = (struct wire_receiver){ { .base = META_AT,
							.place = (uint8_t)place,
							.shift = SHIFT,
							.mark_shift = MARK_SHIFT },
						      .blob_name = BLOB_NAME };
	cursor.pc = STUB_PC;
	cursor.sp = cursor.leaf_sp = STACK_AT + 512;
	cursor.leaf = cursor.exact = 1;
	cursor.frozen_at.live = 1;
	cursor.max_frames = 8;
	cursor.leaf_regs[DWARF_RSI] = OBJECT_AT;
}

/* One step; how many words there are then. */
static uint32_t words(void)
{
	cursor.words = cursor.frames = 0;
	cursor.compiled_seen.pc = 0;
	(void)unwind_frame(&cursor, &memory, out);
	return cursor.words;
}

static enum wire_frame_kind kind_at(unsigned int at)
{
	return (enum wire_frame_kind)(out[at] >> WIRE_FRAME_KIND_SHIFT);
}

static void expect_class(enum wire_klass_place place)
{
	begin(place);
	assert_int_equal(words(), WIRE_RECEIVER_WORDS + WIRE_COMPILED_WORDS);
	assert_int_equal(kind_at(0), WIRE_FRAME_RECEIVER);
	assert_true((out[0] & WIRE_FRAME_ADDRESS_MASK) == STUB_PC);
	assert_true(out[1] == KLASS);
	assert_true(out[2] == IDENTITY);
	assert_int_equal(kind_at(3), WIRE_FRAME_COMPILED);
	assert_int_equal(cursor.frames, 2);
	assert_int_equal(cursor.receivers, 1);
	assert_int_equal(cursor.receivers_unknown, 0);
}

static void as_headers_say_it(void **state)
{
	(void)state;
	expect_class(WIRE_KLASS_WIDE);
	expect_class(WIRE_KLASS_NARROW);
	expect_class(WIRE_KLASS_COMPACT);
}

static void expect_stub_alone(uint32_t unknown)
{
	assert_int_equal(words(), WIRE_COMPILED_WORDS);
	assert_int_equal(kind_at(0), WIRE_FRAME_COMPILED);
	assert_int_equal(cursor.receivers, 0);
	assert_int_equal(cursor.receivers_unknown, unknown);
}

/* Only a leaf in such a stub has its receiver in the register, while the sample is taken. */
static void where_nobody_looks(void **state)
{
	(void)state;
	begin(WIRE_KLASS_UNKNOWN);
	expect_stub_alone(0);
	begin(WIRE_KLASS_NARROW);
	cursor.leaf = 0;
	expect_stub_alone(0);
	begin(WIRE_KLASS_NARROW);
	cursor.frozen_at.live = 0;
	expect_stub_alone(0);
	begin(WIRE_KLASS_NARROW);
	cursor.pc = FRAMED_PC;
	expect_stub_alone(0);
	begin(WIRE_KLASS_NARROW);
	strcpy(name, "vtable dhunks");
	expect_stub_alone(0);
	begin(WIRE_KLASS_NARROW);
	put_u64(STUB_BLOB + BLOB_NAME, 0x1000);
	expect_stub_alone(0);
}

static void what_proves_nothing(void **state)
{
	(void)state;
	begin(WIRE_KLASS_NARROW);
	cursor.leaf_regs[DWARF_RSI] = 0; /* a NullPointerException to come */
	expect_stub_alone(1);
	begin(WIRE_KLASS_NARROW);
	cursor.leaf_regs[DWARF_RSI] = OBJECT_AT + 4; /* no object lies there */
	object[1] = NARROW | NARROW << 32;
	expect_stub_alone(1);
	begin(WIRE_KLASS_COMPACT);
	object[0] |= 3; /* moved: the rest of its mark is an address */
	expect_stub_alone(1);
	begin(WIRE_KLASS_WIDE);
	object[1] = KLASS + 4;
	expect_stub_alone(1);
	begin(WIRE_KLASS_WIDE);
	object[1] = 0xffff800000000000ULL;
	expect_stub_alone(1);
	begin(WIRE_KLASS_NARROW);
	meta[(SYMBOL - META_AT) / 8] = 0;
	expect_stub_alone(1);
	begin(WIRE_KLASS_NARROW);
	meta[(KLASS - META_AT + KLASS_NAME) / 8] = 0x1000;
	expect_stub_alone(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_headers_say_it),
		cmocka_unit_test(where_nobody_looks),
		cmocka_unit_test(what_proves_nothing),
	};

	return cmocka_run_group_tests_name("receiver", tests, NULL, NULL);
}
