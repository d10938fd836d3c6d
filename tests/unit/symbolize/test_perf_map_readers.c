// SPDX-License-Identifier: Apache-2.0
/* Perf maps when readers end: one that was killed is replaced, and one map ends three of them at most. */
#include "reader_world.h"

#include "perf_text.h"

/* Growth is looked for every 10 ms, or less often. */
static const char *wait_for(struct perf_map *map, uint64_t address)
{
	uint64_t end_ns = clock_now_ns() + NEVER_NS;
	const char *name;

	while (!(name = perf_map_find(map, address)) && clock_now_ns() < end_ns)
		usleep(2000);
	return name ? name : "nothing";
}

static void append(int fd, const char *text)
{
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static void the_next_reader_reads_on(void **state)
{
	_cleanup_close_ int fd = memfd_create("perf map", MFD_CLOEXEC);
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	append(fd, "1000 10 one\n2000 10 tw");
	map = perf_map_of(dup(fd), 0);
	assert_string_equal(wait_for(map, 0x1000), "one");
	for (unsigned int i = 0; i < 10; i++) {
		char line[32];

		signal_reader(SIGKILL);
		expect_no_reader();
		snprintf(line, sizeof(line), "o%u\n%x 10 tw", i, 0x3000 + 16 * i);
		append(fd, line);
		snprintf(line, sizeof(line), "two%u", i);
		assert_string_equal(wait_for(map, i ? 0x3000 + 16 * (i - 1) : 0x2000), line);
	}
}

static int64_t dies(struct wall_call *call, int fd, int *ret_fd)
{
	(void)call;
	(void)fd;
	(void)ret_fd;
	_exit(1);
}

static void a_map_that_ends_readers(void **state)
{
	struct trade trade = reader_trade;
	struct perf_map *map;
	struct reader_figures figures;
	uint64_t end_ns = clock_now_ns() + NEVER_NS;
	struct err err;

	(void)state;
	trade.carry_out = dies;
	reader_set_trade(&trade);
	assert_int_equal(wall_begin(&trade, NULL, &err), 0);
	map = perf_map_of_text("1000 10 one\n", 12);
	do {
		assert_null(perf_map_find(map, 0x1000));
		usleep(2000);
		reader_get_figures(&figures);
	} while (!figures.refused && clock_now_ns() < end_ns);
	assert_int_equal(figures.deaths, 3);
	assert_int_equal(figures.refused, 1);
	assert_string_equal(figures.first, "the perf map of process 0");
	/* Nobody has to die of it any more. */
	for (int i = 0; i < 5; i++) {
		usleep(50000);
		assert_null(perf_map_find(map, 0x1000));
	}
	reader_get_figures(&figures);
	assert_int_equal(figures.deaths, 3);
	perf_map_free(map);
	without(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_next_reader_reads_on, with_readers, without),
		cmocka_unit_test(a_map_that_ends_readers),
	};

	return cmocka_run_group_tests_name("perf_map_readers", tests, NULL, NULL);
}
