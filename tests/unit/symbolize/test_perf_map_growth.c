// SPDX-License-Identifier: Apache-2.0
/* When a perf map is read again, and how much of it at a time. The test is the clock. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "elf/reader/reader_call.h"
#include "fake_clock.h"
#include "peak_memory.h"
#include "perf_text.h"

static char path[64];
static int fd;

static int set_up(void **state)
{
	(void)state;
	fake_begin();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(fd);
	return unlink(path);
}

static void put_at(off_t at, const char *text)
{
	assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
}

static bool has(struct perf_map *map, uint64_t address)
{
	return perf_map_find(map, address) != NULL;
}

static void not_before_its_time(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	put_at(0, "1000 10 one\n");
	map = perf_map_open((uint32_t)getpid());
	assert_true(has(map, 0x1000));
	put_at(12, "2000 10 two\n");
	fake_advance(10 * NSEC_PER_MSEC - 1);
	assert_false(has(map, 0x2000));
	fake_advance(1);
	assert_true(has(map, 0x2000));
	put_at(24, "3000 10 three\n");
	fake_advance(10 * NSEC_PER_MSEC - 1);
	assert_false(has(map, 0x3000));
	fake_advance(1);
	assert_true(has(map, 0x3000));
}

/* 16 MiB each time, and what a reader is asked for at a time; no more than 256 in all. */
static void step_by_step(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	put_at(0, "1000 10 one\n");
	put_at(16 * (off_t)MIB - 20, "\n2000 10 two\n");
	put_at(16 * (off_t)MIB + READER_MAP_BYTES, "\n3000 10 three\n");
	put_at(256 * (off_t)MIB - 20, "\n4000 10 four\n");
	put_at(256 * (off_t)MIB + 20, "\n5000 10 five\n");
	map = perf_map_open((uint32_t)getpid());
	assert_true(has(map, 0x1000));
	assert_true(has(map, 0x2000));
	assert_false(has(map, 0x3000));
	fake_advance(10 * NSEC_PER_MSEC);
	assert_true(has(map, 0x3000));
	for (int i = 2; i < 15; i++) {
		fake_advance(10 * NSEC_PER_MSEC);
		assert_false(has(map, 0x4000));
	}
	for (int i = 0; i < 3; i++) {
		fake_advance(10 * NSEC_PER_MSEC);
		assert_true(has(map, 0x4000));
	}
	assert_false(has(map, 0x5000));
}

/* --- all of it ------------------------------------------------------------------------------------ */

static struct perf_map *read_all(const struct strbuf *text)
{
	struct perf_map *map = perf_map_of_text(text->buf, text->len);

	for (int i = 0; i < 10; i++) {
		fake_advance(NSEC_PER_SEC);
		(void)has(map, 0);
	}
	return map;
}

/* A million of entries is what is kept of a file that goes on. */
static void a_million_of_lines(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	for (unsigned int i = 0; i < (1U << 20) + 1; i++)
		strbuf_addf(&text, "%x 1 f\n", 0x1000 + i);
	map = read_all(&text);
	assert_true(has(map, 0x1000));
	assert_true(has(map, 0x1000 + (1U << 20) - 1));
	assert_false(has(map, 0x1000 + (1U << 20)));
}

/* Names of 500 bytes: what there is no room for is left out, and counted; others have theirs. */
static void what_all_maps_take_is_bounded(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct perf_map *maps[8], *small;
	uint64_t before, after, began;
	uint32_t pid;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++)
		strbuf_addf(&text, "%x 10 %0500u\n", 0x1000 + 0x10 * i, i);
	before = perf_map_left_out(&pid);
	began = peak_begin();
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		maps[i] = read_all(&text);
	/* the text once more while it is taken apart */
	assert_true(peak_end(began) < text.len + 2 * PERF_MAP_BYTES + (8 << 20));
	assert_true(perf_map_budget()->used_bytes <= PERF_MAP_BYTES + 8 * (PERF_MAP_BYTES / 1024));
	after = perf_map_left_out(&pid);
	assert_true(after - before > 1000000);
	assert_non_null(perf_map_find(maps[0], 0x1000));
	assert_null(perf_map_find(maps[0], 0x1000 + 0x10 * 199999));
	small = perf_map_of_text("1000 10 small\n", 14);
	assert_true(has(small, 0x1000));
	perf_map_free(small);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		perf_map_free(maps[i]);
	assert_int_equal(perf_map_budget()->used_bytes, 0);
}

/* A JIT compiler that writes over its code for days. */
static void names_that_were_replaced_go(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		strbuf_addf(&text, "%x 10 %0500u\n", 0x1000 + 0x10 * (i % 10), i);
	map = read_all(&text);
	assert_true(perf_map_budget()->used_bytes < 10000);
	assert_int_equal(atoi(perf_map_find(map, 0x1000)), 9990);
	assert_int_equal(atoi(perf_map_find(map, 0x1090)), 9999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(not_before_its_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(step_by_step, set_up, tear_down),
		cmocka_unit_test(a_million_of_lines),
		cmocka_unit_test(what_all_maps_take_is_bounded),
		cmocka_unit_test(names_that_were_replaced_go),
	};

	return cmocka_run_group_tests_name("perf_map_growth", tests, NULL, NULL);
}
