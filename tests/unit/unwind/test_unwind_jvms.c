/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of JVMs are asked for, published, published again, and taken back. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "fake_clock.h"
#include "heap_tables.h"
#include "heap_use.h"
#include "unwind/unwind_jvms.h"

#define PID 77
#define MS  NSEC_PER_MSEC

struct fixture {
	struct table_memory *memory;
	struct live_processes live;
	struct unwind_jvms *jvms;
	struct wire_jvm wire; /* what the source gives; serial 0: nothing yet */
	unsigned int urgent, calm;
	uint64_t slow_ns;
	uint64_t now_ns;
};

static char path[] = "/opt/jdk/lib/server/libjvm.so";
static const struct mapping libjvm = { .start = 0x10000, .end = 0x20000, .path = path };

static int read_jvm(uint32_t pid, const struct mapping *mapping, bool urgent,
		    struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	assert_in_range(pid, PID, PID + 99);
	assert_string_equal(mapping->path, path);
	*(urgent ? &f->urgent : &f->calm) += 1;
	fake_advance(f->slow_ns);
	*ret_wire = f->wire;
	ret_wire->serial += pid - PID;
	return f->wire.serial ? 0 : -ENODATA;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct unwind_jvm_source source = { read_jvm, f };

	*state = f;
	fake_begin();
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
	int r = unwind_jvms_learn(f->jvms, pid, &libjvm, f->now_ns + after_ms * MS, &wire);

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

static struct unwind_jvms_stats stats_of(struct fixture *f)
{
	struct unwind_jvms_stats stats;

	unwind_jvms_get_stats(f->jvms, &stats);
	return stats;
}

/* Is PID asked once more, so long after it was asked at first? */
static bool is_asked_after(struct fixture *f, uint64_t ns)
{
	const struct wire_jvm *wire;
	bool pauses = unwind_jvms_pauses(f->jvms, PID, f->now_ns + ns);
	unsigned int before = f->urgent;

	unwind_jvms_learn(f->jvms, PID, &libjvm, f->now_ns + ns, &wire);
	assert_int_equal(pauses, f->urgent == before);
	return !pauses;
}

/* Two milliseconds, or so that a look takes a fifth of the time at most. */
static void test_how_often(void **state)
{
	struct fixture *f = *state;

	f->slow_ns = MS / 2;
	assert_null(learn(f, PID, 0));
	assert_false(is_asked_after(f, 0));
	assert_false(is_asked_after(f, 2 * MS - 1));
	f->slow_ns = 3 * MS;
	assert_true(is_asked_after(f, 2 * MS));
	assert_false(is_asked_after(f, 2 * MS + 12 * MS - 1));
	assert_true(is_asked_after(f, 2 * MS + 12 * MS));
	assert_int_equal(f->urgent, 3);
	assert_int_equal(stats_of(f).reads, 3);
	assert_int_equal(stats_of(f).read_ns, 6 * MS + MS / 2);
	assert_int_equal(stats_of(f).waits, 6);
	assert_int_equal(stats_of(f).known, 0);
}

/* A walk wants to know at once what has changed, but not each time. */
static void test_refreshed(void **state)
{
	struct fixture *f = *state;
	const struct wire_jvm *wire;

	f->wire.serial = 5;
	learn(f, PID, 0);
	assert_int_equal(stats_of(f).waits, 0);
	f->wire.return_barrier = 0x4711;
	assert_null(unwind_jvms_refresh(f->jvms, 5, f->now_ns + 2 * MS - 1));
	assert_null(unwind_jvms_refresh(f->jvms, 6, f->now_ns + 2 * MS));
	assert_int_equal(f->urgent, 1);
	wire = unwind_jvms_refresh(f->jvms, 5, f->now_ns + 2 * MS);
	assert_ptr_equal(wire, unwind_jvms_find(f->jvms, 5));
	assert_int_equal(wire->return_barrier, 0x4711);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0x4711);
	assert_int_equal(f->urgent, 2);
	assert_int_equal(stats_of(f).changes, 1);
	/* Nothing has changed, or it is ending. */
	assert_null(unwind_jvms_refresh(f->jvms, 5, f->now_ns + 4 * MS));
	f->wire.serial = 0;
	assert_null(unwind_jvms_refresh(f->jvms, 5, f->now_ns + 6 * MS));
	assert_int_equal(f->urgent, 4);
	assert_int_equal(f->calm, 0);
	assert_int_equal(stats_of(f).changes, 1);
	assert_int_equal(unwind_jvms_find(f->jvms, 5)->return_barrier, 0x4711);
}

static void test_changes(void **state)
{
	struct fixture *f = *state;

	f->wire.serial = 5;
	learn(f, PID, 0);
	unwind_jvms_turn(f->jvms, f->now_ns + NSEC_PER_SEC);
	assert_int_equal(f->calm, 1);
	f->wire.return_barrier = 0x4711;
	unwind_jvms_turn(f->jvms, f->now_ns + 1100 * MS - 1); /* too early */
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0);
	unwind_jvms_turn(f->jvms, f->now_ns + 1100 * MS);
	assert_int_equal(f->calm, 2);
	assert_int_equal(f->urgent, 1);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0x4711);
	assert_int_equal(unwind_jvms_find(f->jvms, 5)->return_barrier, 0x4711);
	assert_int_equal(stats_of(f).changes, 1);
	/* One that is starting is not looked at by a turn. */
	f->wire.serial = 0;
	learn(f, PID + 1, 0);
	unwind_jvms_turn(f->jvms, f->now_ns + 1200 * MS);
	assert_int_equal(f->calm, 3);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0x4711);
}

static void test_forgotten(void **state)
{
	struct fixture *f = *state;

	f->wire.serial = 5;
	learn(f, PID, 0);
	learn(f, PID + 1, 0);
	unwind_jvms_forget(f->jvms, PID);
	unwind_jvms_forget(f->jvms, PID);
	assert_null(table_memory_heap_jvm(f->memory, 5));
	assert_non_null(table_memory_heap_jvm(f->memory, 6));
	assert_null(unwind_jvms_find(f->jvms, 5));
	assert_int_equal(stats_of(f).known, 1);
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

	f->wire.serial = 5;
	learn(f, PID, 0);
	f->wire.serial = 9;
	unwind_jvms_turn(f->jvms, f->now_ns + NSEC_PER_SEC);
	assert_null(table_memory_heap_jvm(f->memory, 5));
	assert_non_null(table_memory_heap_jvm(f->memory, 9));
	assert_int_equal(stats_of(f).known, 1);
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
	assert_int_equal(stats_of(f).known, 1);
	assert_non_null(learn(f, PID, 3));
	assert_null(unwind_jvms_find(f->jvms, 6));
	assert_int_equal(stats_of(f).known, 1);
}

static int room;

static int full_at_three(uint32_t serial, const struct wire_jvm *value, void *data)
{
	(void)serial, (void)data;
	if (value && room <= 0)
		return -E2BIG;
	room += value ? -1 : 1;
	return 0;
}

static void test_who_goes(void **state)
{
	struct fixture *f = *state;

	f->memory->set_jvm = full_at_three;
	f->wire.serial = 5;
	room = 3;
	learn(f, PID + 1, 20);
	learn(f, PID, 10);
	learn(f, PID + 2, 30);
	f->wire.serial = 0;
	assert_null(learn(f, PID + 4, 1)); /* has no entry to give up */
	f->wire.serial = 5;
	assert_non_null(learn(f, PID + 3, 40));
	assert_null(unwind_jvms_find(f->jvms, 5));
	for (uint32_t serial = 6; serial <= 8; serial++)
		assert_non_null(unwind_jvms_find(f->jvms, serial));
	/* A map that takes none: nobody is left to go. */
	room = -100;
	assert_null(learn(f, PID + 4, 50));
	assert_int_equal(stats_of(f).known, 0);
}

/* Wherever it stands in a table. */
static void test_each_of_many(void **state)
{
	struct fixture *f = *state;

	f->memory->set_jvm = full_at_one;
	f->wire.serial = 5;
	for (uint32_t i = 0; i < 60; i++) {
		f->now_ns += NSEC_PER_SEC;
		assert_int_equal(learn(f, PID + i, 0)->serial, 5 + i); /* in place of the last */
		assert_non_null(unwind_jvms_find(f->jvms, 5 + i));
		f->wire.return_barrier++;
		unwind_jvms_turn(f->jvms, f->now_ns);
		assert_int_equal(unwind_jvms_find(f->jvms, 5 + i)->return_barrier, i + 1);
		assert_int_equal(stats_of(f).known, 1);
	}
	unwind_jvms_free(NULL);
}

/* The live processes end with it, as they do with an unwinder. */
static void end(struct fixture *f)
{
	unwind_jvms_free(f->jvms);
	f->jvms = NULL;
	live_processes_release(&f->live);
}

/* Those that have ended, and at last those that live. */
static void test_freed(void **state)
{
	struct fixture *f = *state;
	const struct unwind_jvm_source source = { read_jvm, f };
	size_t before = heap_use();

	f->memory->set_jvm = full_at_three;
	room = 1000;
	end(f);
	f->jvms = unwind_jvms_new(f->memory, &source, &f->live);
	f->wire.serial = 5;
	for (uint32_t i = 0; i < 99; i++)
		learn(f, PID + i, 0);
	for (uint32_t i = 0; i < 49; i++)
		unwind_jvms_forget(f->jvms, PID + i);
	assert_int_equal(stats_of(f).known, 50);
	end(f);
	assert_true(heap_use() < before + 20 * sizeof(struct wire_jvm));
	/* One alone, wherever it stands. */
	for (uint32_t i = 0; i < 99; i++) {
		if (i == 10)
			before = heap_use();
		f->jvms = unwind_jvms_new(f->memory, &source, &f->live);
		learn(f, PID + i, 0);
		end(f);
	}
	assert_true(heap_use() < before + sizeof(struct wire_jvm));
}

static int no_far_blob(const struct wire_far_key *key, uint64_t blob, void *data)
{
	(void)key, (void)blob, (void)data;
	return -E2BIG;
}

static void test_far_blob(void **state)
{
	const struct wire_jvm wire = { .serial = 5, .log2_segment = 7 };
	const struct wire_far_key key = { .segment = 0x1000080, .serial = 5 };
	struct fixture *f = *state;

	unwind_jvms_note_far(f->jvms, &wire, 0x10000ff, 0xff0000);
	assert_int_equal(table_memory_heap_far_blob(f->memory, &key), 0xff0000);
	assert_int_equal(stats_of(f).far_blobs, 1);
	f->memory->set_far_blob = no_far_blob;
	unwind_jvms_note_far(f->jvms, &wire, 0x10000ff, 0xff0000);
	assert_int_equal(stats_of(f).far_blobs, 1);
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
		TEST(test_starts),	 TEST(test_how_often),	   TEST(test_refreshed),
		TEST(test_changes),	 TEST(test_forgotten),	   TEST(test_full),
		TEST(test_who_goes),	 TEST(test_each_of_many),  TEST(test_freed),
		TEST(test_far_blob),	 TEST(test_other_program), TEST(test_late),
		TEST(test_other_serial),
	};

	return cmocka_run_group_tests_name("unwind_jvms", tests, NULL, NULL);
}
