// SPDX-License-Identifier: Apache-2.0
/* When a perf map is read again, and how much of it at a time. The test is the clock. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake_clock.h"
#include "symbolize/perf_map.h"

#define MIB ((off_t)1 << 20)

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

/* 16 MiB each time, and no more than 256 in all. */
static void step_by_step(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	put_at(0, "1000 10 one\n");
	put_at(16 * MIB - 20, "\n2000 10 two\n");
	put_at(16 * MIB + 20, "\n3000 10 three\n");
	put_at(256 * MIB - 20, "\n4000 10 four\n");
	put_at(256 * MIB + 20, "\n5000 10 five\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(not_before_its_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(step_by_step, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("perf_map_growth", tests, NULL, NULL);
}
