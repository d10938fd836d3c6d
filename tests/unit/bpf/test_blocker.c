/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What a thread that has parked waits for: by its own Thread, the thread's object, and what that notes. */
#include "test.h"

#include "base/macros.h"
#include "hotspot/blocker.h"
#include "parked_objects.h"
#include "pieces.h"

#define FS_AT	  0x7f0050000000ULL
#define THREAD_AT 0x7f0060000000ULL
#define STACK_END 0x7f0080000000ULL

#define SELF	   16
#define STACK_BASE 8
#define STACK_SIZE 16
#define OF_THREAD  24
#define FIELD	   20

/* In the heap. */
#define CALLER (HEAP_AT + 64)
#define OBJECT (HEAP_AT + 128)
#define HANDLE (THREAD_AT + 40)
#define KLASS  (HEAP_AT + 0x10 * 16)

static uint64_t pthread[8], thread[8];
static struct blocker found;

static const struct piece pieces[] = {
	{ FS_AT, pthread, sizeof(pthread) },
	{ THREAD_AT, thread, sizeof(thread) },
	{ HEAP_AT, objects, sizeof(objects) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static struct unwind_memory memory = { .read = read_piece };

/* As JDK 17 has it: a handle, references and classes of 4 bytes; else as JDK 8. */
static void begin(bool narrow)
{
	memset(pthread, 0, sizeof(pthread));
	memset(thread, 0, sizeof(thread));
	memset(objects, 0, sizeof(objects));
	jvm = (struct wire_parking){
		.object = { .base = HEAP_AT,
			    .place = narrow ? WIRE_KLASS_NARROW : WIRE_KLASS_WIDE,
			    .shift = 4 },
		.own = { .self = SELF, .stack_base = STACK_BASE, .stack_size = STACK_SIZE },
		.blocker = { .oop_base = HEAP_AT,
			     .thread_object = OF_THREAD,
			     .field = FIELD,
			     .has_handle = narrow,
			     .oop_bytes = narrow ? 4 : 8,
			     .oop_shift = SHIFT },
	};
	pthread[SELF / 8] = THREAD_AT;
	thread[STACK_BASE / 8] = STACK_END;
	thread[STACK_SIZE / 8] = 0x10000;
	thread[OF_THREAD / 8] = narrow ? HANDLE : CALLER;
	thread[(HANDLE - THREAD_AT) / 8] = CALLER;
	put_reference(CALLER + FIELD, OBJECT);
	/* What lies behind it is another field's. */
	if (narrow)
		put(CALLER + FIELD + 4, 0x5555, 4);
	put(OBJECT, 1, 8);
	put(OBJECT + 8, narrow ? 0x10 : KLASS, narrow ? 4 : 8);
}

static bool look(void)
{
	found = (struct blocker){ .object = 1, .klass = 1 };
	return blocker_find(&jvm, &memory, FS_AT, STACK_END - 512, &found);
}

static void its_object_and_class(void **state)
{
	(void)state;
	for (int narrow = 0; narrow < 2; narrow++) {
		begin(narrow);
		assert_true(look());
		assert_true(found.object == OBJECT);
		assert_true(found.klass == KLASS);
	}
}

static void it_has_noted_nothing(void **state)
{
	(void)state;
	for (int narrow = 0; narrow < 2; narrow++) {
		begin(narrow);
		put(CALLER + FIELD, 0, jvm.blocker.oop_bytes);
		assert_true(look());
		assert_true(found.object == 0 && found.klass == 0);
	}
}

static void expect_none(void)
{
	assert_false(look());
	assert_true(found.klass == 0);
}

static void it_cannot_be_read(void **state)
{
	(void)state;
	begin(true);
	jvm.blocker.field = 0;
	expect_none();
	begin(true);
	jvm.own.self = 0;
	expect_none();
	begin(true);
	pthread[SELF / 8] = 0;
	expect_none();
	/* Another thread's. */
	begin(true);
	thread[STACK_BASE / 8] = STACK_END - 1024;
	expect_none();
	begin(true);
	thread[OF_THREAD / 8] = 0x10;
	expect_none();
	begin(true);
	thread[(HANDLE - THREAD_AT) / 8] = 0;
	expect_none();
	/* The object has been moved, or is of no class that its header could say. */
	begin(true);
	put(OBJECT, OBJECT_MARK_MOVED, 8);
	expect_none();
	begin(true);
	jvm.object.place = WIRE_KLASS_UNKNOWN;
	expect_none();
	begin(true);
	put_reference(CALLER + FIELD, HEAP_AT + (1 << 20));
	expect_none();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_object_and_class),
		cmocka_unit_test(it_has_noted_nothing),
		cmocka_unit_test(it_cannot_be_read),
	};

	return cmocka_run_group_tests_name("blocker", tests, NULL, NULL);
}
