/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Who has the monitor that a thread waits to enter, and the lock of java.util.concurrent that it parks for. */
#include "test.h"

#include "base/macros.h"
#include "hotspot/lock_owner.h"
#include "pieces.h"

#define FS_AT	   0x7f0050000000ULL
#define THREADS_AT 0x7f0060000000ULL
#define HEAP_AT	   0x7f0070000000ULL
#define STACK_END  0x7f0080000000ULL

/* In a JavaThread, whose first word says what it is; in its OSThread; in an ObjectMonitor. */
#define FIRST	   0x7f0011223300ULL
#define SELF	   16
#define STACK_BASE 8
#define STACK_SIZE 16
#define OBJECT	   24
#define PENDING	   32
#define OS_THREAD  40
#define OS_TID	   12
#define OWNER	   48

#define OWN	(THREADS_AT + 0x100)
#define OTHER	(THREADS_AT + 0x200)
#define OS	(THREADS_AT + 0x300)
#define MONITOR (THREADS_AT + 0x400)

/* In objects and classes. */
#define BLOCKER	  20
#define EXCLUSIVE 12
#define EETOP	  16
#define NUMBER	  24
#define SUPERS	  56
#define SHIFT	  3
#define CALLER	  (HEAP_AT + 64)
#define LOCK	  (HEAP_AT + 128)
#define HOLDER	  (HEAP_AT + 192)
#define CLASS	  (HEAP_AT + 256)
#define ABOVE	  (HEAP_AT + 512)

static uint64_t pthread[8];
static uint8_t threads[0x500], objects[1024];
static struct wire_parking jvm;
static uint64_t asked;

static const struct piece pieces[] = {
	{ FS_AT, pthread, sizeof(pthread) },
	{ THREADS_AT, threads, sizeof(threads) },
	{ HEAP_AT, objects, sizeof(objects) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static struct unwind_memory memory = { .read = read_piece };

static void put(uint64_t at, uint64_t value, size_t len)
{
	if (at >= HEAP_AT)
		memcpy(objects + (at - HEAP_AT), &value, len);
	else
		memcpy(threads + (at - THREADS_AT), &value, len);
}

static void put_reference(uint64_t at, uint64_t object)
{
	put(at, (object - HEAP_AT) >> SHIFT, 4);
}

static void begin(void)
{
	memset(pthread, 0, sizeof(pthread));
	memset(threads, 0, sizeof(threads));
	memset(objects, 0, sizeof(objects));
	jvm = (struct wire_parking){
		.object = { .base = HEAP_AT, .place = WIRE_KLASS_NARROW },
		.own = { .self = SELF, .stack_base = STACK_BASE, .stack_size = STACK_SIZE },
		.blocker = { .oop_base = HEAP_AT,
			     .thread_object = OBJECT,
			     .field = BLOCKER,
			     .oop_bytes = 4,
			     .oop_shift = SHIFT },
		.owner = { .pending = PENDING,
			   .monitor_owner = OWNER,
			   .os_thread = OS_THREAD,
			   .os_tid = OS_TID,
			   .synchronizer = ABOVE,
			   .supers = SUPERS,
			   .exclusive = EXCLUSIVE,
			   .eetop = EETOP,
			   .thread_id = NUMBER },
	};
	pthread[SELF / 8] = OWN;
	put(OWN, FIRST, 8);
	put(OWN + STACK_BASE, STACK_END, 8);
	put(OWN + STACK_SIZE, 0x10000, 8);
	put(OWN + OBJECT, CALLER, 8);
	put(OWN + PENDING, MONITOR, 8);
	put(OTHER, FIRST, 8);
	put(OTHER + OS_THREAD, OS, 8);
	put(OS + OS_TID, 4711, 4);
	put(OS + OS_TID + 4, 99, 4);
	put(MONITOR + OWNER, OTHER, 8);
	put_reference(CALLER + BLOCKER, LOCK);
	put(LOCK, 1, 8);
	put(LOCK + 8, CLASS - HEAP_AT, 4);
	put_reference(LOCK + EXCLUSIVE, HOLDER);
	put(CLASS + SUPERS, ABOVE, 8);
	put(HOLDER + EETOP, OTHER, 8);
	put(HOLDER + NUMBER, 33, 8);
}

/* --- monitors --------------------------------------------------------------------------------- */

static uint64_t of_monitor(void)
{
	asked = 0;
	return lock_owner_of_monitor(&jvm, &memory, FS_AT, STACK_END - 512, &asked);
}

static void a_thread(void **state)
{
	(void)state;
	begin();
	assert_true(of_monitor() == WIRE_OWNER(TID, 4711));
	assert_true(asked == 0);
}

/* What does not begin as a JavaThread may be a place on a stack, or a thread of another kind. */
static void a_place(void **state)
{
	(void)state;
	begin();
	put(OTHER, FIRST + 8, 8);
	assert_true(of_monitor() == WIRE_OWNER(PLACE, OTHER));
	begin();
	put(MONITOR + OWNER, STACK_END - 4096, 8);
	assert_true(of_monitor() == WIRE_OWNER(PLACE, STACK_END - 4096));
	/* It ends just now. */
	begin();
	put(OS + OS_TID, 0, 4);
	assert_true(of_monitor() == WIRE_OWNER(PLACE, OTHER));
	begin();
	put(OTHER + OS_THREAD, 0, 8);
	assert_true(of_monitor() == WIRE_OWNER(PLACE, OTHER));
}

static void a_number(void **state)
{
	(void)state;
	begin();
	jvm.owner.has_ids = true;
	put(MONITOR + OWNER, 33, 8);
	assert_true(of_monitor() == WIRE_OWNER(NUMBER, 33));
	put(MONITOR + OWNER, UINT64_MAX, 8);
	assert_true(of_monitor() == WIRE_OWNER(NUMBER, WIRE_OWNER_VALUE_MASK));
}

/* Only where it may be: before, 1 was no thread, and no number of one that waits. */
static void nobody_that_tells(void **state)
{
	(void)state;
	begin();
	jvm.owner.is_anonymous = true;
	put(MONITOR + OWNER, WIRE_MONITOR_ANONYMOUS, 8);
	assert_true(of_monitor() == 0);
	assert_true(asked == MONITOR);
	jvm.owner.is_anonymous = false;
	jvm.owner.has_ids = true;
	assert_true(of_monitor() == WIRE_OWNER(NUMBER, 1));
	assert_true(asked == 0);
}

static void expect_no_monitor(void)
{
	assert_true(of_monitor() == 0);
	assert_true(asked == 0);
}

static void no_monitor(void **state)
{
	(void)state;
	begin();
	put(MONITOR + OWNER, 0, 8);
	expect_no_monitor();
	begin();
	put(OWN + PENDING, 0, 8);
	expect_no_monitor();
	begin();
	put(OWN + PENDING, HEAP_AT + 0x100000, 8);
	expect_no_monitor();
	begin();
	jvm.owner.pending = 0;
	expect_no_monitor();
	/* A thread that is none of the JVM's. */
	begin();
	pthread[SELF / 8] = OTHER;
	expect_no_monitor();
}

/* --- locks of java.util.concurrent ------------------------------------------------------------ */

static uint64_t of_object(void)
{
	struct blocker blocker;

	assert_true(blocker_find(&jvm, &memory, FS_AT, STACK_END - 512, &blocker));
	return lock_owner_of_object(&jvm, &memory, &blocker);
}

static void a_holder(void **state)
{
	(void)state;
	begin();
	assert_true(of_object() == WIRE_OWNER(TID, 4711));
}

/* It has no JavaThread. */
static void a_virtual_holder(void **state)
{
	(void)state;
	begin();
	put(HOLDER + EETOP, 0, 8);
	assert_true(of_object() == WIRE_OWNER(VIRTUAL, 33));
	put(HOLDER + NUMBER, 0, 8);
	assert_true(of_object() == 0);
	/* Or that of its carrier, which may be the one who waits. */
	begin();
	put(HOLDER, 1, 8);
	put(HOLDER + 8, CLASS - HEAP_AT, 4);
	jvm.yielding.klass = CLASS;
	assert_true(of_object() == WIRE_OWNER(VIRTUAL, 33));
	put(HOLDER + EETOP, OWN, 8);
	assert_true(of_object() == WIRE_OWNER(VIRTUAL, 33));
	jvm.yielding.klass = CLASS + 8;
	assert_true(of_object() == 0);
}

static void no_lock(void **state)
{
	(void)state;
	begin();
	put(CLASS + SUPERS, ABOVE + 8, 8);
	assert_true(of_object() == 0);
	begin();
	jvm.owner.synchronizer = 0;
	put(CLASS + SUPERS, 0, 8);
	assert_true(of_object() == 0);
	/* Nobody has it. */
	begin();
	put(LOCK + EXCLUSIVE, 0, 4);
	assert_true(of_object() == 0);
	/* Who waits for itself waits for something else. */
	begin();
	put(HOLDER + EETOP, OWN, 8);
	put(OWN + OS_THREAD, OS, 8);
	assert_true(of_object() == 0);
	/* No thread. */
	begin();
	put(OTHER, FIRST + 8, 8);
	assert_true(of_object() == 0);
	begin();
	put(HOLDER + EETOP, OTHER + 4, 8);
	assert_true(of_object() == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread),	    cmocka_unit_test(a_place),
		cmocka_unit_test(a_number),	    cmocka_unit_test(nobody_that_tells),
		cmocka_unit_test(no_monitor),	    cmocka_unit_test(a_holder),
		cmocka_unit_test(a_virtual_holder), cmocka_unit_test(no_lock),
	};

	return cmocka_run_group_tests_name("lock_owner", tests, NULL, NULL);
}
