// SPDX-License-Identifier: Apache-2.0
/* Which mappings are read again, when, and what that may cost. Mappings and time are the test's. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fake_clock.h"
#include "process/proc.h"
#include "session/unwind_ranges.h"
#include "session/unwind_spaces.h"

#define MS	   NSEC_PER_MSEC
#define FIRST_PID  100
#define EXEC_PAGES 77

static struct {
	struct table_memory *memory;
	struct unwind_spaces *spaces;
	/* What a read finds, and what it was asked for. */
	struct wire_range ranges[2];
	uint32_t range_count;
	struct mapping libjvm;
	uint64_t cost_ns;
	int read_error, stat_error;
	uint64_t start_ns; /* of the process, as /proc has it */
	unsigned int reads;
	uint32_t pid, tid;
	struct unwind_piece piece; /* what a mapping is found to be */
	uint64_t now_ns;
} f;

/* --- in place of unwind_ranges.c, unwind_files.c, jvm/ and process/ --- */

bool libjvm_is_path(const char *path, size_t len)
{
	return len == strlen(path) && strstr(path, "libjvm.so");
}

int unwind_ranges_read(struct unwind_ranges *ranges, struct unwind_files *files, uint32_t pid,
		       uint32_t tid)
{
	(void)files;
	fake_advance(f.cost_ns);
	f.reads++;
	f.pid = pid;
	f.tid = tid;
	ranges->v.len = 0;
	for (uint32_t i = 0; i < f.range_count; i++)
		vec_push(&ranges->v, f.ranges[i]);
	ranges->exec_pages = EXEC_PAGES;
	ranges->libjvm = f.libjvm;
	return f.read_error;
}

const struct wire_range *unwind_ranges_find(const struct unwind_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->v.len; i++)
		if (address >= ranges->v.items[i].start && address < ranges->v.items[i].end)
			return &ranges->v.items[i];
	return NULL;
}

bool unwind_ranges_equal(const struct unwind_ranges *ranges, const struct wire_range *others,
			 size_t count)
{
	return ranges->v.len == count && ranges->v.items[0].end == others[0].end;
}

void unwind_ranges_release(struct unwind_ranges *ranges)
{
	vec_release(&ranges->v);
}

struct unwind_piece unwind_files_piece(struct unwind_files *files, uint32_t pid,
				       const struct mapping *mapping)
{
	(void)files;
	(void)pid;
	(void)mapping;
	return f.piece;
}

int proc_read_stat(uint32_t pid, struct proc_stat *ret_stat)
{
	(void)pid;
	ret_stat->start_ns = f.start_ns;
	return f.stat_error;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	fake_begin();
	f.memory = table_memory_new_heap(16, 16, 4096);
	f.spaces = unwind_spaces_new(f.memory, NULL);
	f.ranges[0] = (struct wire_range){ .start = 0x1000, .end = 0x2000, .bias = 3, .file = 5 };
	f.ranges[1] = (struct wire_range){ .start = 0x5000, .end = 0x6000 };
	f.range_count = 2;
	f.piece = (struct unwind_piece){ 5, 3 };
	f.now_ns = fake_begun_ns;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unwind_spaces_free(f.spaces);
	table_memory_free_heap(f.memory);
	return 0;
}

/* Of the process FIRST_PID + N. */
static struct wire_sample sample_of(uint32_t n)
{
	return (struct wire_sample){ .tgid = FIRST_PID + n,
				     .tid = FIRST_PID + n + 1000,
				     .start_ns = 1,
				     .time_ns = f.now_ns };
}

static int read_of(uint32_t n)
{
	const struct wire_sample sample = sample_of(n);
	const struct wire_miss miss = { .pc = 0x1234 };

	return unwind_spaces_read(f.spaces, &miss, &sample, f.now_ns);
}

static bool is_published(uint32_t n, struct wire_space *ret_space)
{
	const struct wire_sample sample = sample_of(n);

	return unwind_spaces_get(f.spaces, &sample, ret_space) == 0;
}

static void map(uint32_t n, uint64_t start, uint64_t end)
{
	char path[] = "/lib/x.so";
	const struct mapping mapping = { .start = start, .end = end, .path = path };

	unwind_spaces_note_mapping(f.spaces, FIRST_PID + n, &mapping, f.now_ns);
}

/* How many reads a turn makes that is MS later. */
static unsigned int turn_after(uint64_t ms)
{
	unsigned int before = f.reads;

	f.now_ns += ms * MS;
	unwind_spaces_turn(f.spaces, f.now_ns);
	return f.reads - before;
}

static struct unwind_spaces_stats stats(void)
{
	struct unwind_spaces_stats stats;

	unwind_spaces_get_stats(f.spaces, &stats);
	return stats;
}

static void a_miss(void **state)
{
	struct wire_sample sample = sample_of(0);
	struct wire_space space;

	(void)state;
	f.cost_ns = 3 * MS;
	f.start_ns = f.now_ns;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(f.pid, FIRST_PID);
	assert_int_equal(f.tid, FIRST_PID + 1000);
	assert_true(is_published(0, &space));
	assert_int_equal(space.count, 2);
	assert_int_equal(space.exec_pages, EXEC_PAGES);
	assert_int_equal(space.jvm, 0);
	assert_false(unwind_spaces_read_since(f.spaces, &sample));
	sample.time_ns--;
	assert_true(unwind_spaces_read_since(f.spaces, &sample));
	assert_false(is_published(1, &space));
	assert_int_equal(read_of(1), 0);
	assert_int_equal(stats().reads, 2);
	assert_int_equal(stats().read_ns, 6 * MS);
	assert_int_equal(stats().store.puts, 2);
}

static void another_program(void **state)
{
	struct wire_sample sample = sample_of(0);
	struct wire_miss miss = { .pc = 0x2000 };
	struct wire_space space;

	(void)state;
	assert_int_equal(unwind_spaces_read(f.spaces, &miss, &sample, f.now_ns), -ESTALE);
	f.start_ns = f.now_ns + 1;
	assert_int_equal(read_of(0), -ESTALE);
	f.start_ns = 0;
	f.stat_error = -ESRCH;
	assert_int_equal(read_of(0), -ESRCH);
	f.stat_error = 0;
	f.read_error = -EACCES;
	assert_int_equal(read_of(0), -EACCES);
	assert_false(is_published(0, &space));
}

static void what_is_stale_is_read_once(void **state)
{
	struct wire_space space;

	(void)state;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(turn_after(200), 0);
	assert_int_equal(read_of(0), 0);
	map(0, 0x9000, 0xa000);
	map(0, 0xa000, 0xb000);
	map(7, 0xa000, 0xb000); /* nobody knows it */
	f.ranges[0].end = 0x2800;
	assert_int_equal(turn_after(99), 0);
	assert_int_equal(turn_after(1), 1);
	assert_int_equal(f.pid, FIRST_PID);
	assert_int_equal(turn_after(500), 0);
	assert_int_equal(stats().store.puts, 3);
	/* Nothing has changed: what is published stays. */
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(500), 1);
	assert_int_equal(stats().store.puts, 3);
	assert_int_equal(stats().refuted, 0);
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(99), 0); /* read again counts as read */
	assert_int_equal(turn_after(1), 1);
	/* It is ending. */
	f.read_error = -ESRCH;
	f.range_count = 1;
	map(0, 0x9000, 0xa000);
	assert_int_equal(turn_after(500), 1);
	assert_true(is_published(0, &space));
	assert_int_equal(space.count, 2);
	assert_int_equal(turn_after(500), 0);
}

static void one_that_was_evicted(void **state)
{
	(void)state;
	assert_int_equal(read_of(0), 0);
	map(0, 0x9000, 0xa000);
	f.memory->set_space(FIRST_PID, NULL, f.memory->data);
	assert_int_equal(turn_after(100), 0);
	assert_int_equal(read_of(0), 0); /* a miss brings it back */
}

/* --- costs --- */

/* 50 ms at once, then two per cent of the time. */
static void reads_have_a_budget(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(read_of(i), 0);
		map(i, 0x9000, 0xa000);
	}
	f.cost_ns = 50 * MS;
	assert_int_equal(turn_after(3600000), 2); /* 50, 0, -50 */
	assert_int_equal(turn_after(2499), 0);
	assert_int_equal(turn_after(1), 1);
	assert_int_equal(turn_after(2400), 0);
	assert_int_equal(turn_after(99), 0);
	assert_int_equal(turn_after(1), 1);
	/* No more than that is saved. */
	map(0, 0x9000, 0xa000);
	map(1, 0x9000, 0xa000);
	f.cost_ns = 50 * MS + MS / 2;
	assert_int_equal(turn_after(7200000), 1);
	assert_int_equal(turn_after(20), 0);
	assert_int_equal(turn_after(20), 1);
}

/* Of a process that is not known a miss is always read. */
static void misses_in_debt(void **state)
{
	(void)state;
	f.cost_ns = 50 * MS;
	assert_int_equal(read_of(0), 0);
	assert_int_equal(read_of(0), 0); /* 0 is no debt */
	assert_int_equal(read_of(0), -EAGAIN);
	assert_int_equal(read_of(1), 0);
	f.now_ns += 99 * MS;
	assert_int_equal(read_of(0), -EAGAIN);
	f.now_ns += MS;
	assert_int_equal(read_of(0), 0);
}

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
	next.exec_id = 1;
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
	sample.exec_id = 1;
	assert_int_equal(unwind_spaces_get(f.spaces, &sample, &space), -ENOENT);
	assert_null(unwind_spaces_libjvm(f.spaces, &sample));
	sample.exec_id = 0;
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
		TEST(a_miss),
		TEST(another_program),
		TEST(what_is_stale_is_read_once),
		TEST(one_that_was_evicted),
		TEST(reads_have_a_budget),
		TEST(misses_in_debt),
		TEST(it_counts_otherwise),
		TEST(it_was_right),
		TEST(another_file_where_code_was),
		TEST(plugins),
		TEST(ended),
		TEST(swept),
		TEST(a_jvm_that_is_read_again),
		TEST(a_jvms_pid),
	};

	return cmocka_run_group_tests_name("unwind_spaces_turn", tests, NULL, NULL);
}
