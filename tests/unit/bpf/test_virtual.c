/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Which virtual thread runs, and its name: of the moment, or none. */
#include "test.h"

#include "blob_world.h"

#define OBJECTS_AT 0x10000000ULL     /* compressed: shifted by 3 */
#define HIGH_AT	   0x7f0060000000ULL /* the same objects */
#define PAUSE_AT   0x7f0050000000ULL
#define ACTIVE	   5
#define COUNT	   8

/* Fields of a JavaThread, a Thread, a String and an array. */
#define VTHREAD	   72
#define STACK_BASE 80
#define STACK_SIZE 88
#define NAME	   20
#define ID	   24
#define VALUE	   12
#define CODER	   17
#define LENGTH	   12
#define DATA	   16

#define KLASS	      0x1234U
#define STRING_KLASS  0x2345U
#define CARRIER_KLASS 0x3456U

/* Places of objects. */
#define VIRTUAL (OBJECTS_AT + 64)
#define CARRIER (OBJECTS_AT + 128)
#define STRING	(OBJECTS_AT + 192)
#define ARRAY	(OBJECTS_AT + 256)
#define SLOT	(OBJECTS_AT + 1024)

static uint8_t objects[2048], collections[16];
/* When so many reads are left: what a collection then changes. */
static int reads_left;
static void (*collection)(void);

static const struct piece pieces[] = {
	BLOB_PIECES,
	{ OBJECTS_AT, objects, sizeof(objects) },
	{ HIGH_AT, objects, sizeof(objects) },
	{ PAUSE_AT, collections, sizeof(collections) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	if (collection && !reads_left--)
		collection();
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static const struct unwind_tables tables;
static struct unwind_memory memory = { .read = read_piece, .tables = &tables };

static void put(uint64_t address, const void *value, size_t len)
{
	memcpy(objects + (address - OBJECTS_AT), value, len);
}

static void put32(uint64_t address, uint32_t value)
{
	put(address, &value, sizeof(value));
}

static void put64(uint64_t address, uint64_t value)
{
	put(address, &value, sizeof(value));
}

static void put_object(uint64_t address, uint32_t klass)
{
	put64(address, 1);
	put32(address + 8, klass);
}

/* Of LEN bytes. */
static void put_name(const void *chars, uint32_t len, uint8_t coder)
{
	put_object(STRING, STRING_KLASS);
	put32(STRING + VALUE, ARRAY >> 3);
	put(STRING + CODER, &coder, 1);
	put32(ARRAY + LENGTH, len);
	put(ARRAY + DATA, chars, len);
	put32(VIRTUAL + NAME, STRING >> 3);
}

static void put_jvm(struct wire_jvm *jvm)
{
	put_heap(jvm);
	jvm->chunks = (struct wire_chunks){
		.klass_mask = UINT32_MAX, .oop_bytes = 4, .oop_shift = 3, .klass_at = 8
	};
	jvm->virtuals = (struct wire_virtual){ .pause_active = PAUSE_AT + ACTIVE,
					       .pause_count = PAUSE_AT + COUNT,
					       .klass = KLASS,
					       .string_klass = STRING_KLASS,
					       .vthread = VTHREAD,
					       .stack_base = STACK_BASE,
					       .stack_size = STACK_SIZE,
					       .id = ID,
					       .name = NAME,
					       .value = VALUE,
					       .coder = CODER,
					       .array_len = LENGTH,
					       .array_data = DATA };
}

/* A carrier that runs number 4711, "request". */
static void begin(void)
{
	(void)out;
	memset(objects, 0, sizeof(objects));
	memset(collections, 0, sizeof(collections));
	memset(thread, 0, sizeof(thread));
	memset(&cursor, 0, sizeof(cursor));
	collection = NULL;
	put_jvm(&cursor.jvm);
	cursor.thread = THREAD_AT;
	cursor.leaf_sp = STACK_AT + 512;
	thread[CONT_ENTRY / 8] = STACK_AT + 1024;
	thread[STACK_BASE / 8] = STACK_AT + sizeof(stack);
	thread[STACK_SIZE / 8] = sizeof(stack);
	thread[VTHREAD / 8] = SLOT;
	put64(SLOT, VIRTUAL);
	put_object(VIRTUAL, KLASS);
	put64(VIRTUAL + ID, 4711);
	put_object(CARRIER, CARRIER_KLASS);
	put64(CARRIER + ID, 22);
	put_name("request", 7, 0);
}

static void expect_thread(uint64_t id, const char *name)
{
	const struct virtual_thread *t = &cursor.virtual_thread;

	memset(&cursor.virtual_thread, 0, sizeof(cursor.virtual_thread));
	assert_int_equal(virtual_find(&cursor, &memory), id != 0);
	assert_int_equal(t->id, id);
	assert_int_equal(t->name_bytes, strlen(name));
	assert_memory_equal(t->name, name, strlen(name));
}

static void the_one_that_runs(void **state)
{
	(void)state;
	begin();
	expect_thread(4711, "request");
	assert_int_equal(cursor.virtual_thread.name_width, 1);
	/* It is locked by somebody. */
	put64(VIRTUAL, 0x7000);
	put32(VIRTUAL + 8, KLASS);
	expect_thread(4711, "request");
}

/* It is said which one it is: it leaves its carrier, or comes back, and the carrier is its own thread meanwhile. */
static void one_that_is_known(void **state)
{
	(void)state;
	begin();
	put64(SLOT, CARRIER);
	thread[CONT_ENTRY / 8] = 0;
	cursor.thread = 0;
	cursor.virtual_thread.object = VIRTUAL;
	assert_true(virtual_find(&cursor, &memory));
	assert_int_equal(cursor.virtual_thread.id, 4711);
	assert_int_equal(cursor.virtual_thread.name_bytes, 7);
	cursor.virtual_thread.object = CARRIER;
	cursor.virtual_thread.id = 0;
	assert_false(virtual_find(&cursor, &memory));
	/* A collection is under way. */
	cursor.virtual_thread.object = VIRTUAL;
	collections[ACTIVE] = 1;
	assert_false(virtual_find(&cursor, &memory));
}

static void whole_references(void **state)
{
	(void)state;
	begin();
	cursor.jvm.chunks.oop_bytes = 8;
	/* The fields are larger then. */
	cursor.jvm.virtuals.name = 32;
	cursor.jvm.virtuals.value = 24;
	put64(VIRTUAL + 32, STRING - OBJECTS_AT + HIGH_AT);
	put64(STRING + 24, ARRAY - OBJECTS_AT + HIGH_AT);
	expect_thread(4711, "request");
}

static void names(void **state)
{
	static const char wide[] = "\xe5\x65x\0";
	char text[WIRE_NAME_BYTES + 41];

	(void)state;
	begin();
	put_name(wide, 4, 1);
	assert_true(virtual_find(&cursor, &memory));
	assert_int_equal(cursor.virtual_thread.name_bytes, 4);
	assert_int_equal(cursor.virtual_thread.name_width, 2);
	assert_memory_equal(cursor.virtual_thread.name, wide, 4);
	/* A long one is cut. */
	memset(text, 'x', sizeof(text));
	begin();
	put_name(text, sizeof(text), 0);
	text[WIRE_NAME_BYTES] = '\0';
	expect_thread(4711, text);
}

/* It is known which one it is all the same. */
static void no_name(void **state)
{
	(void)state;
	begin();
	put32(VIRTUAL + NAME, 0);
	expect_thread(4711, "");
	begin();
	put_name("", 0, 0);
	expect_thread(4711, "");
	begin();
	put_object(STRING, KLASS); /* not a String */
	expect_thread(4711, "");
	begin();
	put64(STRING, 0x7003); /* moved */
	put32(STRING + 8, STRING_KLASS);
	expect_thread(4711, "");
	begin();
	put32(STRING + VALUE, 0);
	expect_thread(4711, "");
	begin();
	put32(ARRAY + LENGTH, UINT32_MAX); /* no String is so long */
	expect_thread(4711, "");
	begin();
	put32(STRING + VALUE, 1); /* it is not in memory */
	expect_thread(4711, "");
}

static void no_virtual_thread(void **state)
{
	(void)state;
	begin();
	put64(SLOT, CARRIER);
	expect_thread(0, "");
	begin();
	put64(VIRTUAL, 0x7003); /* moved */
	put32(VIRTUAL + 8, KLASS);
	expect_thread(0, "");
	begin();
	put64(SLOT, 0);
	expect_thread(0, "");
	begin();
	thread[VTHREAD / 8] = 0x1000;
	expect_thread(0, "");
	/* It has no continuation. */
	begin();
	thread[CONT_ENTRY / 8] = 0;
	expect_thread(0, "");
}

/* What is known of the thread is another one's, who has other memory for its stack. */
static void another_ones_stack(void **state)
{
	(void)state;
	begin();
	cursor.leaf_sp = STACK_AT - 8;
	expect_thread(0, "");
	cursor.leaf_sp = STACK_AT + sizeof(stack) + 8;
	expect_thread(0, "");
	cursor.leaf_sp = STACK_AT + 8;
	expect_thread(4711, "request");
	begin();
	cursor.thread = 0;
	expect_thread(0, "");
	/* Its first Java frame says it, or something else. */
	cursor.java_r15 = THREAD_AT;
	expect_thread(4711, "request");
	begin();
	cursor.thread = 0;
	cursor.java_r15 = OBJECTS_AT;
	expect_thread(0, "");
}

static void what_the_jvm_does_not_tell(void **state)
{
	(void)state;
	begin();
	cursor.jvm.virtuals.id = 0;
	expect_thread(0, "");
	begin();
	cursor.jvm.enter_return = 0;
	expect_thread(0, "");
	begin();
	cursor.jvm.thread_cont_entry = WIRE_JVM_ABSENT;
	expect_thread(0, "");
	begin();
	cursor.jvm.serial = 0;
	expect_thread(0, "");
}

/* --- collections ------------------------------------------------------------------------------ */

static void while_objects_move(void **state)
{
	(void)state;
	begin();
	collections[ACTIVE] = 1;
	expect_thread(0, "");
	collections[ACTIVE] = 0;
	collections[COUNT] = 3;
	expect_thread(4711, "request");
	cursor.jvm.virtuals.pause_count = 0x1000;
	expect_thread(0, "");
}

static void begin_collection(void)
{
	collections[ACTIVE] = 1;
	put_object(VIRTUAL, KLASS);
	put64(VIRTUAL + ID, 22);
	put_name("another", 7, 0);
}

static void pass_collection(void)
{
	begin_collection();
	collections[ACTIVE] = 0;
	collections[COUNT]++;
}

/* What was before, or behind it, or nothing. */
static bool is_consistent(void)
{
	const struct virtual_thread *t = &cursor.virtual_thread;

	if (!t->id)
		return !t->name_bytes;
	return t->name_bytes == 7 && !memcmp(t->name, t->id == 22 ? "another" : "request", 7);
}

/* Whenever it begins, or is over: another one's number or name is never taken. */
static void objects_that_move_meanwhile(void **state)
{
	void (*const ways[])(void) = { begin_collection, pass_collection };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		int reads = 0, told = 0;

		for (; reads < 40; reads++) {
			begin();
			collection = ways[i];
			reads_left = reads;
			told += virtual_find(&cursor, &memory);
			if (reads_left >= 0)
				break;
			assert_true(is_consistent());
		}
		assert_in_range(reads, 12, 30);
		assert_true(told > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_that_runs),
		cmocka_unit_test(one_that_is_known),
		cmocka_unit_test(whole_references),
		cmocka_unit_test(names),
		cmocka_unit_test(no_name),
		cmocka_unit_test(no_virtual_thread),
		cmocka_unit_test(another_ones_stack),
		cmocka_unit_test(what_the_jvm_does_not_tell),
		cmocka_unit_test(while_objects_move),
		cmocka_unit_test(objects_that_move_meanwhile),
	};

	return cmocka_run_group_tests_name("virtual", tests, NULL, NULL);
}
