/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of JVMs are asked for, published, published again, and taken back. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "heap_tables.h"
#include "unwind/unwind_jvms.h"

#define PID 77

struct fixture {
	struct table_memory *memory;
	struct live_processes live;
	struct unwind_jvms *jvms;
	struct wire_jvm wire; /* what the source gives; serial 0: nothing yet */
	unsigned int urgent, calm;
	long slow_ns;
	uint64_t now_ns;
};

static char path[] = "/opt/jdk/lib/server/libjvm.so";
static const struct mapping libjvm = { .start = 0x10000, .end = 0x20000, .path = path };

static int read_jvm(uint32_t pid, const struct mapping *mapping, bool urgent,
		    struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	assert_true(pid == PID || pid == PID + 1);
	assert_string_equal(mapping->path, path);
	*(urgent ? &f->urgent : &f->calm) += 1;
	if (f->slow_ns)
		nanosleep(&(struct timespec){ .tv_nsec = f->slow_ns }, NULL);
	*ret_wire = f->wire;
	ret_wire->serial += pid - PID;
	return f->wire.serial ? 0 : -ENODATA;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct unwind_jvm_source source = { read_jvm, f };

	*state = f;
	f->memory = table_memory_new_heap(16, 16, 16);
	f->jvms = unwind_jvms_new(f->memory, &source, &f->live);
	f->now_ns = clock_now_ns();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_jvms_free(f->jvms);
	live_processes_release(&f->live);
	table_memory_free_heap(f->memory);
	free(f);
	return 0;
}

static const struct wire_jvm *learn(struct fixture *f, uint32_t pid, uint64_t after_ms)
{
	const struct wire_jvm *wire = NULL;
	int r = unwind_jvms_learn(f->jvms, pid, &libjvm, f->now_ns + after_ms * NSEC_PER_MSEC,
				  &wire);

	assert_int_equal(r, wire ? 0 : -EAGAIN);
	return wire;
}

/* A JVM that is starting is not asked by every sample. */
static void test_starts(void **state)
{
	struct fixture *f = *state;

	assert_false(unwind_jvms_pauses(f->jvms, PID, f->now_ns));
	assert_null(learn(f, PID, 0));
	assert_null(learn(f, PID, 1));
	assert_int_equal(f->urgent, 1);
	assert_true(unwind_jvms_pauses(f->jvms, PID, f->now_ns + NSEC_PER_MSEC));
	assert_false(unwind_jvms_pauses(f->jvms, PID, f->now_ns + 3 * NSEC_PER_SEC));
	f->wire.serial = 5;
	assert_null(learn(f, PID, 1));
	assert_int_equal(learn(f, PID, 3000)->serial, 5);
	assert_false(unwind_jvms_pauses(f->jvms, PID, f->now_ns + 3 * NSEC_PER_SEC));
	assert_int_equal(f->urgent, 2);
	assert_memory_equal(table_memory_heap_jvm(f->memory, 5), &f->wire, sizeof(f->wire));
	/* now it is known */
	assert_ptr_equal(learn(f, PID, 3000), unwind_jvms_find(f->jvms, 5));
	assert_int_equal(f->urgent, 2);
	assert_null(unwind_jvms_find(f->jvms, 6));
	assert_null(unwind_jvms_find(f->jvms, 0));
	assert_null(unwind_jvms_find(f->jvms, WIRE_JVM_PENDING));
}

/* One whose looks are slow: a full machine, or a program that only looks like a JVM. */
static void test_slow_to_ask(void **state)
{
	struct fixture *f = *state;

	f->slow_ns = 3 * NSEC_PER_MSEC;
	assert_null(learn(f, PID, 0));
	assert_null(learn(f, PID, 10));
	assert_int_equal(f->urgent, 1);
	assert_null(learn(f, PID, 10000));
	assert_int_equal(f->urgent, 2);
}

static void test_changes(void **state)
{
	struct fixture *f = *state;

	f->wire.serial = 5;
	learn(f, PID, 0);
	unwind_jvms_turn(f->jvms, f->now_ns + NSEC_PER_SEC);
	assert_int_equal(f->calm, 1);
	f->wire.return_barrier = 0x4711;
	unwind_jvms_turn(f->jvms, f->now_ns + NSEC_PER_SEC + 1); /* too early */
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0);
	unwind_jvms_turn(f->jvms, f->now_ns + 2 * NSEC_PER_SEC);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0x4711);
	assert_int_equal(unwind_jvms_find(f->jvms, 5)->return_barrier, 0x4711);
}

static void test_forgotten(void **state)
{
	struct fixture *f = *state;
	struct unwind_jvms_stats stats;

	f->wire.serial = 5;
	learn(f, PID, 0);
	learn(f, PID + 1, 0);
	unwind_jvms_forget(f->jvms, PID);
	unwind_jvms_forget(f->jvms, PID);
	assert_null(table_memory_heap_jvm(f->memory, 5));
	assert_non_null(table_memory_heap_jvm(f->memory, 6));
	assert_null(unwind_jvms_find(f->jvms, 5));
	unwind_jvms_get_stats(f->jvms, &stats);
	assert_int_equal(stats.known, 1);
}

/* The pid runs another JVM now, which was not reported yet. */
static void test_other_program(void **state)
{
	const struct mapping other = { .start = 0x90000, .end = 0xa0000, .path = path };
	struct fixture *f = *state;
	const struct wire_jvm *wire;

	f->wire.serial = 5;
	learn(f, PID, 0);
	f->wire.serial = 9;
	assert_int_equal(unwind_jvms_learn(f->jvms, PID, &other, f->now_ns, &wire), 0);
	assert_int_equal(wire->serial, 9);
	assert_null(table_memory_heap_jvm(f->memory, 5));
}

/* The same, found out only after the old one's layout was published once more. */
static void test_other_serial(void **state)
{
	struct fixture *f = *state;
	struct unwind_jvms_stats stats;

	f->wire.serial = 5;
	learn(f, PID, 0);
	f->wire.serial = 9;
	unwind_jvms_turn(f->jvms, f->now_ns + NSEC_PER_SEC);
	assert_null(table_memory_heap_jvm(f->memory, 5));
	assert_non_null(table_memory_heap_jvm(f->memory, 9));
	unwind_jvms_get_stats(f->jvms, &stats);
	assert_int_equal(stats.known, 1);
}

static int full_at_one(uint32_t serial, const struct wire_jvm *value, void *data)
{
	static uint32_t held;

	(void)data;
	if (!value)
		held = held == serial ? 0 : held;
	else if (held && held != serial)
		return -E2BIG;
	else
		held = serial;
	return 0;
}

/* The map is full: the JVM that was asked longest ago goes. */
static void test_full(void **state)
{
	struct fixture *f = *state;

	f->memory->set_jvm = full_at_one;
	f->wire.serial = 5;
	assert_non_null(learn(f, PID, 0));
	assert_non_null(learn(f, PID + 1, 1));
	assert_null(unwind_jvms_find(f->jvms, 5));
	assert_non_null(learn(f, PID, 3));
	assert_null(unwind_jvms_find(f->jvms, 6));
}

static void test_far_blob(void **state)
{
	const struct wire_jvm wire = { .serial = 5, .log2_segment = 7 };
	const struct wire_far_key key = { .segment = 0x1000080, .serial = 5 };
	struct fixture *f = *state;

	unwind_jvms_note_far(f->jvms, &wire, 0x10000ff, 0xff0000);
	assert_int_equal(table_memory_heap_far_blob(f->memory, &key), 0xff0000);
}

/* Of a process that is gone: nothing is published. */
static void test_late(void **state)
{
	const struct mapping none = { 0 };
	struct fixture *f = *state;
	struct wire_jvm wire;

	assert_int_equal(unwind_jvms_read(f->jvms, PID, &none, &wire), -ENODATA);
	assert_int_equal(unwind_jvms_read(f->jvms, PID, &libjvm, &wire), -ENODATA);
	f->wire.serial = 5;
	assert_int_equal(unwind_jvms_read(f->jvms, PID, &libjvm, &wire), 0);
	assert_int_equal(wire.serial, 5);
	assert_null(table_memory_heap_jvm(f->memory, 5));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_starts),	  TEST(test_slow_to_ask), TEST(test_changes),
		TEST(test_forgotten),	  TEST(test_full),	  TEST(test_far_blob),
		TEST(test_other_program), TEST(test_late),	  TEST(test_other_serial),
	};

	return cmocka_run_group_tests_name("unwind_jvms", tests, NULL, NULL);
}
