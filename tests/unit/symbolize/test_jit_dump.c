// SPDX-License-Identifier: Apache-2.0
/* Names by a jitdump: which mapped file is one, whose it is, and what its records say of an address. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dump_bytes.h"
#include "fake_clock.h"
#include "symbolize/perf_map.h"

static void assert_name(struct perf_map *map, uint64_t address, const char *expected)
{
	const char *name = perf_map_find(map, address);

	assert_string_equal(name ? name : "nothing", expected);
}

static struct perf_map *map_of(const struct strbuf *dump)
{
	struct perf_map *map = perf_map_of_dump(dump_file(dump), 0);

	assert_non_null(map);
	return map;
}

static void names_by_address(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x100, "old");
	dump_load(&dump, 0x2000, 0x10, "two");
	dump_load(&dump, 0x1000, 0x80, "new");
	map = map_of(&dump);
	assert_name(map, 0x1000, "new");
	assert_name(map, 0x107f, "new");
	assert_name(map, 0x1080, "nothing");
	assert_name(map, 0x200f, "two");
	assert_name(map, 0x2010, "nothing");
}

/* It takes its name along, by way of what was read before or of the last lines. */
static void code_that_moves(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT, more = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;
	int fd;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "one");
	dump_load(&dump, 0x2000, 0x10, "two");
	dump_load(&dump, 0x7000, 0x10, "first");
	dump_load(&dump, 0x7000, 0x10, "second");
	dump_move(&dump, 0x7000, 0x8000, 0x10);
	dump_move(&dump, 0x1000, 0x3000, 0x10);
	dump_move(&dump, 0x3000, 0x4000, 0x10);
	/* Over other code, and from where none is known. */
	dump_move(&dump, 0x9000, 0x2000, 0x10);
	fd = dump_file(&dump);
	map = perf_map_of_dump(dup(fd), 0);
	assert_name(map, 0x3008, "one");
	assert_name(map, 0x4008, "one");
	assert_name(map, 0x8008, "second");
	assert_name(map, 0x2008, "nothing");
	dump_move(&more, 0x4000, 0x5000, 0x10);
	dump_load(&more, 0x1000, 0x10, "another");
	dump_move(&more, 0x1000, 0x6000, 0x10);
	assert_int_equal(file_write_all(fd, more.buf, more.len), 0);
	close(fd);
	fake_advance(NSEC_PER_SEC);
	assert_name(map, 0x5008, "one");
	assert_name(map, 0x6008, "another");
	assert_name(map, 0x1008, "another");
}

/* What replaces other code makes its name go, and names that stay are those of before. */
static void many_moves(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "one");
	for (unsigned int i = 0; i < 3000; i++)
		dump_load(&dump, 0x2000, 0x10, "again");
	dump_move(&dump, 0x2000, 0x3000, 0x10);
	/* Too far back among what is new. */
	dump_move(&dump, 0x1000, 0x4000, 0x10);
	map = map_of(&dump);
	assert_name(map, 0x1000, "one");
	assert_name(map, 0x3000, "again");
	assert_name(map, 0x4000, "nothing");
	assert_true(perf_map_budget()->used_bytes < 1000);
}

/* Behind what is no record nothing is read any more; what was known stays. */
static void a_dump_that_breaks_off(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT, more = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;
	int fd;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "one");
	dump_u64(&dump, 0);
	dump_u64(&dump, 0);
	fd = dump_file(&dump);
	map = perf_map_of_dump(dup(fd), 0);
	fake_advance(NSEC_PER_SEC);
	assert_name(map, 0x1000, "one");
	dump_load(&more, 0x2000, 0x10, "two");
	assert_int_equal(pwrite(fd, more.buf, more.len, (off_t)dump.len - 16), more.len);
	close(fd);
	fake_advance(NSEC_PER_SEC);
	assert_name(map, 0x1000, "one");
	assert_name(map, 0x2000, "nothing");
}

static void which_files_are_dumps(void **state)
{
	(void)state;
	assert_true(perf_map_is_dump("/home/me/jit-1234.dump"));
	assert_true(perf_map_is_dump("/tmp/perf-1.dump"));
	assert_true(perf_map_is_dump("/jit-1.dump (deleted)"));
	assert_true(perf_map_is_dump("jit-1.dump"));
	assert_false(perf_map_is_dump("/tmp/jit-1.dump.so"));
	assert_false(perf_map_is_dump("/tmp/jit-1 (deleted)"));
	assert_false(perf_map_is_dump("/tmp/core.dump"));
	assert_false(perf_map_is_dump("/jit-1.dump/libc.so"));
	assert_false(perf_map_is_dump(""));
	assert_false(perf_map_is_dump(".dump"));
}

/* --- of a process ------------------------------------------------------------------------------ */

struct own {
	char path[64];
	struct mapping mapping;
	void *at;
};

static void own_map(struct own *own)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	_cleanup_close_ int fd = -1;

	snprintf(own->path, sizeof(own->path), "/tmp/jit-%d.dump", getpid());
	unlink(own->path);
	fd = open(own->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "mine");
	assert_int_equal(file_write_all(fd, dump.buf, dump.len), 0);
	own->at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(own->at != MAP_FAILED);
	own->mapping = (struct mapping){ .start = (uintptr_t)own->at,
					 .end = (uintptr_t)own->at + 4096,
					 .path = own->path };
}

static void own_unmap(struct own *own)
{
	munmap(own->at, 4096);
	unlink(own->path);
}

static void expect_own(const struct own *own, const char *name)
{
	_cleanup_(perf_map_freep) struct perf_map *map =
		perf_map_open_dump((uint32_t)getpid(), &own->mapping);

	if (name) {
		assert_non_null(map);
		assert_name(map, 0x1008, name);
	} else {
		assert_null(map);
	}
}

static void the_file_that_is_mapped(void **state)
{
	struct own own;

	(void)state;
	own_map(&own);
	expect_own(&own, "mine");
	/* By its path, where the kernel's link leads nowhere. */
	own.mapping.end += 4096;
	expect_own(&own, "mine");
	unlink(own.path);
	expect_own(&own, NULL);
	own.mapping.end -= 4096;
	if (geteuid() == 0)
		expect_own(&own, "mine");
	own_unmap(&own);
}

static void another_users_file(void **state)
{
	struct own own;

	(void)state;
	own_map(&own);
	if (chown(own.path, 12345, 12345) == 0)
		expect_own(&own, NULL);
	own_unmap(&own);
}

static int set_up(void **state)
{
	(void)state;
	fake_begin();
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup(fn, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_by_address),
		TEST(code_that_moves),
		TEST(many_moves),
		TEST(a_dump_that_breaks_off),
		TEST(which_files_are_dumps),
		TEST(the_file_that_is_mapped),
		TEST(another_users_file),
	};

	return cmocka_run_group_tests_name("jit_dump", tests, NULL, NULL);
}
