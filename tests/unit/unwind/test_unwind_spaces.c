/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "heap_tables.h"
#include "unwind/unwind_spaces.h"

struct fixture {
	struct table_memory *memory;
	struct image_cache *images;
	struct unwind_files *files;
	struct live_processes live;
	struct unwind_spaces *spaces;
	struct wire_sample sample;
	struct wire_miss miss;
	uint64_t now_ns;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->memory = table_memory_new_heap(16, 16, 4096);
	f->images = image_cache_new(NULL);
	f->files = unwind_files_new(f->images, 16, SIZE_MAX);
	f->spaces = unwind_spaces_new(f->memory, f->files, &f->live);
	f->now_ns = clock_now_ns();
	f->miss.tgid = f->miss.tid = f->sample.tgid = f->sample.tid = (uint32_t)getpid();
	f->miss.pc = (uintptr_t)setup;
	f->miss.time_ns = f->sample.time_ns = f->now_ns;
	f->sample.start_ns = 1;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_spaces_free(f->spaces);
	live_processes_release(&f->live);
	unwind_files_free(f->files);
	image_cache_free(f->images);
	table_memory_free_heap(f->memory);
	free(f);
	return 0;
}

static int read_at(struct fixture *f, uint64_t ms)
{
	return unwind_spaces_read(f->spaces, &f->miss, &f->sample, f->now_ns + ms * NSEC_PER_MSEC);
}

static void map_at(struct fixture *f, uint64_t ms, uint64_t start, uint64_t inode)
{
	char path[] = "/nowhere/plugin.so", none[] = "";
	const struct mapping mapping = {
		.start = start, .end = start + 4096, .key.inode = inode, .path = inode ? path : none
	};

	unwind_spaces_note_mapping(f->spaces, f->miss.tgid, &mapping,
				   f->now_ns + ms * NSEC_PER_MSEC);
}

/* Something else is where code was: nothing is published for a second. */
static void replace_code(struct fixture *f)
{
	assert_int_equal(read_at(f, 0), 0);
	map_at(f, 0, f->miss.pc & ~4095ULL, 0);
	assert_int_equal(read_at(f, 900), -EAGAIN);
}

static void test_next_plugin_prolongs(void **state)
{
	struct fixture *f = *state;

	replace_code(f);
	map_at(f, 900, 0x10000, 77);
	assert_int_equal(read_at(f, 1100), -EAGAIN);
	assert_int_equal(read_at(f, 2000), 0);
}

/* A JIT compiler asks for memory all the time. */
static void test_jit_does_not(void **state)
{
	struct fixture *f = *state;

	replace_code(f);
	map_at(f, 900, 0x10000, 0);
	assert_int_equal(read_at(f, 1100), 0);
}

static uint32_t published_jvm(struct fixture *f)
{
	struct wire_space space;

	assert_int_equal(unwind_spaces_get(f->spaces, &f->sample, &space), 0);
	return space.jvm;
}

static void load_libjvm(struct fixture *f, uint64_t start)
{
	char path[] = "/opt/jdk/lib/server/libjvm.so";
	const struct mapping mapping = { .start = start, .end = start + 4096, .path = path };

	unwind_spaces_note_mapping(f->spaces, f->miss.tgid, &mapping, f->now_ns);
}

/* The java launcher loads HotSpot's library some milliseconds after its first sample. */
static void test_becomes_a_jvm(void **state)
{
	struct fixture *f = *state;

	load_libjvm(f, 0x10000); /* nobody knows it yet */
	assert_int_equal(read_at(f, 0), 0);
	assert_int_equal(published_jvm(f), 0);
	assert_null(unwind_spaces_libjvm(f->spaces, &f->sample));
	load_libjvm(f, 0x10000);
	assert_int_equal(published_jvm(f), WIRE_JVM_PENDING);
	assert_int_equal(unwind_spaces_libjvm(f->spaces, &f->sample)->start, 0x10000);
	assert_int_equal(unwind_spaces_set_jvm(f->spaces, &f->sample, 5), 0);
	assert_int_equal(published_jvm(f), 5);
	/* it stays what it is */
	load_libjvm(f, 0x10000);
	assert_int_equal(published_jvm(f), 5);
}

/* Its mappings say that it is none: the library is gone again, or it was another program's. */
static void test_is_no_jvm(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, 0), 0);
	load_libjvm(f, 0x10000);
	assert_int_equal(unwind_spaces_set_jvm(f->spaces, &f->sample, 5), 0);
	assert_int_equal(read_at(f, 1000), 0);
	assert_int_equal(published_jvm(f), 0);
	load_libjvm(f, 0x20000);
	assert_int_equal(published_jvm(f), WIRE_JVM_PENDING);
}

static void test_jvm_of_another_generation(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_at(f, 0), 0);
	load_libjvm(f, 0x10000);
	f->sample.exec_id++;
	assert_null(unwind_spaces_libjvm(f->spaces, &f->sample));
	assert_int_equal(unwind_spaces_set_jvm(f->spaces, &f->sample, 5), -ENOENT);
	assert_int_equal(read_at(f, 0), 0);
	assert_int_equal(published_jvm(f), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_next_plugin_prolongs),
		TEST(test_jit_does_not),
		TEST(test_becomes_a_jvm),
		TEST(test_is_no_jvm),
		TEST(test_jvm_of_another_generation),
	};

	return cmocka_run_group_tests_name("unwind_spaces", tests, NULL, NULL);
}
