// SPDX-License-Identifier: Apache-2.0
/* What becomes of a process that changes: by BPF's word, by the side-band, by its end. */
#include "heap_use.h"
#include "spaces_world.h"

/* --- what BPF says --- */

static void differs_at(uint64_t time_ns)
{
	unwind_spaces_note_differs(f.spaces, FIRST_PID, time_ns);
	unwind_spaces_note_differs(f.spaces, FIRST_PID + 7, time_ns);
}

static void it_counts_otherwise(void **state)
{
	struct wire_sample next = sample_of(0);
	const struct wire_miss miss = { .pc = 0x1234 };
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	differs_at(f.now_ns); /* from before the read */
	assert_int_equal(turn_after(200), 0);
	differs_at(f.now_ns);
	assert_int_equal(turn_after(0), 1);
	assert_int_equal(stats().refuted, 0);
	assert_true(is_published(0, &space));
	assert_int_equal(space.exec_pages, EXEC_PAGES);
	/* The second time it is told not to compare. */
	differs_at(f.now_ns + 1);
	assert_int_equal(turn_after(100), 1);
	assert_int_equal(stats().refuted, 1);
	assert_true(is_published(0, &space));
	assert_int_equal(space.exec_pages, 0);
	/* Another program in that process begins anew. */
	next.exec_id = 4;
	assert_int_equal(unwind_spaces_read(f.spaces, &miss, &next, f.now_ns), 0);
	assert_int_equal(unwind_spaces_get(f.spaces, &next, &space), 0);
	assert_int_equal(space.exec_pages, EXEC_PAGES);
}

/* What a mapping led to is no refutation; nor is a change that was really there. */
static void it_was_right(void **state)
{
	(void)state;
	assert_int_equal(read_of(0), 0);
	for (int i = 0; i < 4; i++) {
		differs_at(f.now_ns + 1);
		f.ranges[0].end += 0x100;
		assert_int_equal(turn_after(200), 1);
		map(0, 0x9000, 0xa000);
		assert_int_equal(turn_after(200), 1);
	}
	assert_int_equal(stats().refuted, 0);
	assert_int_equal(stats().store.puts, 5);
}

/* A file of its could not be had when its mappings were read. */
static void a_file_that_is_there_now(void **state)
{
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(turn_after(200), 0);
	unwind_spaces_note_warmed(f.spaces, FIRST_PID + 7);
	assert_int_equal(turn_after(200), 0);
	unwind_spaces_note_warmed(f.spaces, FIRST_PID);
	f.ranges[0].end += 0x100;
	unwind_spaces_note_warmed(f.spaces, FIRST_PID);
	assert_int_equal(turn_after(200), 1);
	assert_int_equal(turn_after(200), 0);
	assert_true(is_published(0, &space));
	assert_int_equal(stats().refuted, 0);
}

/* --- code that is replaced --- */

static void another_file_where_code_was(void **state)
{
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	map(0, 0x2000, 0x3000); /* beside it */
	map(0, 0x0800, 0x1000);
	f.piece.file = 6;
	map(0, 0x2000, 0x5000);
	map(0, 0x5000, 0x6000); /* code without a file */
	assert_true(is_published(0, &space));
	f.piece.file = 5;
	map(0, 0x1000, 0x2000); /* the same once more */
	assert_true(is_published(0, &space));
	f.piece.bias = 4;
	map(0, 0x1fff, 0x3000);
	assert_false(is_published(0, &space));
	f.now_ns += 999 * MS;
	assert_int_equal(read_of(0), -EAGAIN);
	f.now_ns += MS;
	assert_int_equal(read_of(0), 0);
	f.piece = (struct unwind_piece){ 6, 3 };
	map(0, 0x0800, 0x1001);
	assert_false(is_published(0, &space));
	/* Another process is another matter; and each of its ranges is looked at. */
	f.ranges[1].file = 5;
	assert_int_equal(read_of(1), 0);
	map(1, 0x5800, 0x5900);
	assert_false(is_published(1, &space));
}

/* What was dropped for it is read with the next miss, and once. */
static void code_that_was_replaced_is_read_once(void **state)
{
	(void)state;
	assert_int_equal(read_of(0), 0);
	f.piece.file = 6;
	map(0, 0x1000, 0x2000);
	f.now_ns += 1000 * MS;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(turn_after(200), 0);
}

/* A second after the last one it is no longer the next plugin. */
static void plugins(void **state)
{
	char path[] = "/lib/plugin.so";
	const struct mapping plugin = {
		.start = 0x9000, .end = 0xa000, .key.inode = 7, .path = path
	};

	(void)state;
	assert_int_equal(read_of(0), 0);
	f.piece.file = 6;
	map(0, 0x1000, 0x2000);
	f.now_ns += 1000 * MS - 1;
	unwind_spaces_note_mapping(f.spaces, FIRST_PID, &plugin, f.now_ns);
	f.now_ns += 1000 * MS - 1;
	assert_int_equal(read_of(0), -EAGAIN);
	f.now_ns++;
	unwind_spaces_note_mapping(f.spaces, FIRST_PID, &plugin, f.now_ns);
	assert_int_equal(read_of(0), 0);
}

/* --- ends --- */

static bool libjvm_is_known(uint32_t n)
{
	const struct wire_sample sample = sample_of(n);

	return unwind_spaces_libjvm(f.spaces, &sample) != NULL;
}

static void ended(void **state)
{
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	map(0, 0x9000, 0xa000);
	unwind_spaces_forget(f.spaces, FIRST_PID, f.now_ns);
	unwind_spaces_forget(f.spaces, FIRST_PID + 1, f.now_ns);
	assert_false(is_published(0, &space));
	assert_int_equal(turn_after(500), 0);
	/* Its pid again: it is not stale by what the other one was. */
	assert_int_equal(read_of(0), 0);
	assert_int_equal(turn_after(500), 0);
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(500), 1);
}

/* What the store has evicted is forgotten some time later, one that is unsteady is not. */
static void swept(void **state)
{
	char path[] = "/jdk/libjvm.so";

	(void)state;
	f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
	assert_int_equal(turn_after(20000), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(read_of(i), 0);
	f.memory->set_space(FIRST_PID, NULL, f.memory->data);
	turn_after(9000);
	f.piece.file = 6;
	map(1, 0x1000, 0x2000);
	turn_after(1000);
	assert_true(libjvm_is_known(0));
	f.now_ns++;
	turn_after(0);
	assert_false(libjvm_is_known(0));
	assert_false(libjvm_is_known(1)); /* for a second only */
	assert_true(libjvm_is_known(2));
	map(2, 0x1000, 0x2000);
	turn_after(9500);
	map(2, 0x1000, 0x2000);
	assert_int_equal(read_of(1), 0);
	turn_after(501);
	assert_true(libjvm_is_known(1));
}

/* Wherever it stands in a table. */
static void each_is_swept(void **state)
{
	char path[] = "/jdk/libjvm.so";

	(void)state;
	f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
	for (uint32_t i = 0; i < 60; i++) {
		assert_int_equal(read_of(i), 0);
		f.memory->set_space(FIRST_PID + i, NULL, f.memory->data);
		turn_after(10001);
		assert_false(libjvm_is_known(i));
	}
	unwind_spaces_free(NULL);
}

/* Those that ended, and at last those that live. */
static void all_are_freed(void **state)
{
	char path[2000];
	size_t before;

	memset(path, 'x', sizeof(path));
	memcpy(path + sizeof(path) - 11, "/libjvm.so", 11);
	tear_down(state);
	before = heap_use();
	set_up(state);
	f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(read_of(i), 0);
	for (uint32_t i = 0; i < 10; i++)
		unwind_spaces_forget(f.spaces, FIRST_PID + i, f.now_ns);
	for (uint32_t i = 10; i < 20; i++)
		f.memory->set_space(FIRST_PID + i, NULL, f.memory->data);
	turn_after(20000);
	assert_false(libjvm_is_known(9) || libjvm_is_known(19));
	assert_true(libjvm_is_known(20));
	tear_down(state);
	assert_true(heap_use() < before + 8000);
	/* One alone, wherever it stands. */
	for (uint32_t i = 0; i < 60; i++) {
		if (i == 10)
			before = heap_use();
		set_up(state);
		f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
		assert_int_equal(read_of(i), 0);
		tear_down(state);
	}
	assert_true(heap_use() < before + 1000);
	set_up(state);
}

/* --- JVMs --- */

static uint32_t jvm_of(uint32_t n)
{
	struct wire_space space;

	assert_true(is_published(n, &space));
	return space.jvm;
}

static void a_jvm_that_is_read_again(void **state)
{
	const struct wire_sample sample = sample_of(0);
	char path[] = "/jdk/libjvm.so";

	(void)state;
	f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
	assert_int_equal(read_of(0), 0);
	assert_int_equal(jvm_of(0), WIRE_JVM_PENDING);
	assert_string_equal(unwind_spaces_libjvm(f.spaces, &sample)->path, path);
	assert_ptr_not_equal(unwind_spaces_libjvm(f.spaces, &sample)->path, path);
	assert_int_equal(unwind_spaces_set_jvm(f.spaces, &sample, 5), 0);
	f.ranges[0].end = 0x2100;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(jvm_of(0), 5);
	f.libjvm.start = 0x7800;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(jvm_of(0), WIRE_JVM_PENDING);
	/* A file of another name makes none. */
	assert_int_equal(unwind_spaces_set_jvm(f.spaces, &sample, 6), 0);
	memset(&f.libjvm, 0, sizeof(f.libjvm));
	assert_int_equal(read_of(0), 0);
	assert_int_equal(jvm_of(0), 0);
	map(0, 0x9000, 0xa000);
	assert_false(libjvm_is_known(0));
	assert_int_equal(jvm_of(0), 0);
}

/* The next owner of the pid is no JVM because the last one was. */
static void a_jvms_pid(void **state)
{
	char path[] = "/jdk/libjvm.so";
	struct wire_sample sample = sample_of(0);
	const struct wire_miss miss = { .pc = 0x1234 };
	struct wire_space space;

	(void)state;
	f.libjvm = (struct mapping){ .start = 0x7000, .end = 0x8000, .path = path };
	assert_int_equal(read_of(0), 0);
	assert_int_equal(unwind_spaces_set_jvm(f.spaces, &sample, 5), 0);
	sample.exec_id = 4;
	assert_int_equal(unwind_spaces_get(f.spaces, &sample, &space), -ENOENT);
	assert_null(unwind_spaces_libjvm(f.spaces, &sample));
	sample.exec_id = 3;
	sample.start_ns = 2;
	assert_int_equal(unwind_spaces_get(f.spaces, &sample, &space), -ENOENT);
	assert_null(unwind_spaces_libjvm(f.spaces, &sample));
	assert_int_equal(unwind_spaces_set_jvm(f.spaces, &sample, 7), -ENOENT);
	assert_int_equal(unwind_spaces_read(f.spaces, &miss, &sample, f.now_ns), 0);
	assert_int_equal(unwind_spaces_get(f.spaces, &sample, &space), 0);
	assert_int_equal(space.jvm, WIRE_JVM_PENDING);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_counts_otherwise),
		TEST(it_was_right),
		TEST(a_file_that_is_there_now),
		TEST(another_file_where_code_was),
		TEST(code_that_was_replaced_is_read_once),
		TEST(plugins),
		TEST(ended),
		TEST(swept),
		TEST(each_is_swept),
		TEST(all_are_freed),
		TEST(a_jvm_that_is_read_again),
		TEST(a_jvms_pid),
	};

	return cmocka_run_group_tests_name("unwind_spaces_changes", tests, NULL, NULL);
}
