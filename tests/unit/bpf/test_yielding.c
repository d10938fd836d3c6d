/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Which virtual thread leaves its carrier or comes back, and what it parks for: by the ContinuationEntry, and what the Continuation runs. */
#include "test.h"

#include "base/macros.h"
#include "hotspot/yielding.h"
#include "parked_objects.h"
#include "pieces.h"

#define THREAD_AT 0x7f0060000000ULL
#define STACK_AT  0x7f0080000000ULL

#define ENTRY	24
#define TARGET	20
#define FIRST	12
#define ID	32
#define BLOCKER 44

/* On the stack, and in the heap. */
#define ENTRY_AT (STACK_AT + 64)
#define CONT	 (HEAP_AT + 64)
#define RUNNABLE (HEAP_AT + 128)
#define VIRTUAL	 (HEAP_AT + 192)
#define TASK	 (HEAP_AT + 256)
#define LOCK	 (HEAP_AT + 320)

#define VIRTUAL_KLASS 0x10
#define OTHER_KLASS   0x11

static uint64_t thread[8], stack[32];
static struct yielding found;
static struct blocker blocker;

static const struct piece pieces[] = {
	{ THREAD_AT, thread, sizeof(thread) },
	{ STACK_AT, stack, sizeof(stack) },
	{ HEAP_AT, objects, sizeof(objects) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static struct unwind_memory memory = { .read = read_piece };

static void put_object(uint64_t at, uint32_t klass)
{
	put(at, 1, 8);
	put(at + 8, klass, 4);
}

/* Its Runnable has the virtual thread first, and then the task. */
static void begin(bool narrow)
{
	memset(thread, 0, sizeof(thread));
	memset(stack, 0, sizeof(stack));
	memset(objects, 0, sizeof(objects));
	jvm = (struct wire_parking){
		.object = { .base = HEAP_AT, .place = WIRE_KLASS_NARROW, .shift = 4 },
		.blocker = { .oop_base = HEAP_AT,
			     .field = BLOCKER,
			     .oop_bytes = narrow ? 4 : 8,
			     .oop_shift = SHIFT },
		.yielding = { .klass = HEAP_AT + VIRTUAL_KLASS * 16,
			      .entry = ENTRY,
			      .target = TARGET,
			      .first = narrow ? FIRST : FIRST + 4,
			      .id = ID },
	};
	thread[ENTRY / 8] = ENTRY_AT;
	stack[(ENTRY_AT + FROZEN_ENTRY_CONT - STACK_AT) / 8] = CONT;
	put_reference(CONT + TARGET, RUNNABLE);
	put_object(RUNNABLE, OTHER_KLASS);
	put_reference(RUNNABLE + jvm.yielding.first, VIRTUAL);
	put_reference(RUNNABLE + jvm.yielding.first + jvm.blocker.oop_bytes, TASK);
	put_object(VIRTUAL, VIRTUAL_KLASS);
	put(VIRTUAL + ID, 4711, 8);
	put_reference(VIRTUAL + BLOCKER, LOCK);
	put_object(TASK, OTHER_KLASS);
	put_object(LOCK, OTHER_KLASS);
}

static bool look(void)
{
	found = (struct yielding){ 0 };
	return yielding_find(&jvm, &memory, THREAD_AT, &found);
}

static void its_number_and_object(void **state)
{
	(void)state;
	for (int narrow = 0; narrow < 2; narrow++) {
		begin(narrow);
		assert_true(look());
		assert_true(found.object == VIRTUAL);
		assert_int_equal(found.id, 4711);
		/* The other way round. */
		put_reference(RUNNABLE + jvm.yielding.first, TASK);
		put_reference(RUNNABLE + jvm.yielding.first + jvm.blocker.oop_bytes, VIRTUAL);
		assert_true(look());
		assert_true(found.object == VIRTUAL);
	}
}

static void what_it_parks_for(void **state)
{
	(void)state;
	for (int narrow = 0; narrow < 2; narrow++) {
		begin(narrow);
		assert_true(look());
		assert_true(yielding_find_blocker(&jvm, &memory, &found, &blocker));
		assert_true(blocker.object == LOCK);
		assert_true(blocker.klass == HEAP_AT + OTHER_KLASS * 16);
		put_reference(VIRTUAL + BLOCKER, 0);
		assert_false(yielding_find_blocker(&jvm, &memory, &found, &blocker));
		begin(narrow);
		put(LOCK, OBJECT_MARK_MOVED, 8);
		assert_false(yielding_find_blocker(&jvm, &memory, &found, &blocker));
		begin(narrow);
		jvm.blocker.field = 0;
		assert_false(yielding_find_blocker(&jvm, &memory, &found, &blocker));
	}
}

/* A continuation of somebody else, or none. */
static void no_virtual_thread(void **state)
{
	(void)state;
	begin(true);
	put_reference(RUNNABLE + FIRST, TASK);
	assert_false(look());
	begin(true);
	put_object(VIRTUAL, OTHER_KLASS);
	assert_false(look());
	begin(true);
	put(VIRTUAL, OBJECT_MARK_MOVED, 8);
	assert_false(look());
	begin(true);
	put(VIRTUAL + ID, 0, 8);
	assert_false(look());
	begin(true);
	thread[ENTRY / 8] = 0;
	assert_false(look());
}

static void it_cannot_be_read(void **state)
{
	(void)state;
	begin(true);
	jvm.yielding.klass = 0;
	assert_false(look());
	/* Nor is one whose class cannot be read then. */
	put(VIRTUAL, OBJECT_MARK_MOVED, 8);
	assert_false(look());
	begin(true);
	assert_false(yielding_find(&jvm, &memory, 8, &found));
	begin(true);
	thread[ENTRY / 8] = 0x7f0099999998ULL;
	assert_false(look());
	begin(true);
	stack[(ENTRY_AT + FROZEN_ENTRY_CONT - STACK_AT) / 8] = 0;
	assert_false(look());
	begin(true);
	put_reference(CONT + TARGET, 0);
	assert_false(look());
	begin(true);
	put_reference(CONT + TARGET, HEAP_AT + (1 << 20));
	assert_false(look());
	begin(true);
	put_reference(RUNNABLE + FIRST, 0);
	assert_false(look());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_number_and_object),
		cmocka_unit_test(what_it_parks_for),
		cmocka_unit_test(no_virtual_thread),
		cmocka_unit_test(it_cannot_be_read),
	};

	return cmocka_run_group_tests_name("yielding", tests, NULL, NULL);
}
