// SPDX-License-Identifier: Apache-2.0
/* Lines of perf maps that a reader brings are those of the file, and nothing it says of them is believed. */
#include "reader_world.h"

#include "elf/reader/reader_perf_map.h"
#include "wall/futex.h"

static int file_of(const char *text, size_t len)
{
	int fd = memfd_create("perf map", MFD_CLOEXEC);

	assert_int_equal(file_write_all(fd, text, len), 0);
	return fd;
}

static const char *name_at(const struct reader_perf_map *map, uint32_t line)
{
	return reader_map_name(map, &map->line[line]);
}

static void lines_of_a_file(void **state)
{
	static const char text[] = "1000 10 one\nno line\n0x2000 0X20 two words \n"
				   "ffffffffffffff00 200 wraps\n3000 10 half";
	_cleanup_close_ int fd = file_of(text, strlen(text));
	_cleanup_free_ struct reader_perf_map *map = xmalloc(sizeof(*map));
	uint64_t half = strlen(text) - strlen("3000 10 half");
	struct err err;

	(void)state;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), 0);
	assert_int_equal(map->lines, 2);
	assert_int_equal(map->taken, half);
	assert_true(map->line[0].start == 0x1000 && map->line[0].end == 0x1010);
	assert_true(map->line[1].start == 0x2000 && map->line[1].end == 0x2020);
	assert_string_equal(name_at(map, 0), "one");
	assert_string_equal(name_at(map, 1), "two words ");
	/* It is read on from where it was, wherever the file's own place is. */
	assert_int_equal(reader_perf_map(fd, 1, half, UINT64_MAX, map, &err), 0);
	assert_int_equal(map->taken, 0);
	assert_int_equal(pwrite(fd, "\n", 1, (off_t)strlen(text)), 1);
	assert_int_equal(reader_perf_map(fd, 1, half, UINT64_MAX, map, &err), 0);
	assert_int_equal(map->lines, 1);
	assert_string_equal(name_at(map, 0), "half");
}

/* More than one answer has room for: short lines, and long names. */
static void all_lines_in_pieces(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ struct reader_perf_map *map = xmalloc(sizeof(*map));
	_cleanup_close_ int fd = -1;
	uint64_t at = 0, lines = 0, address = 0x1000;
	struct err err;

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		strbuf_addf(&text, "%x 1 %0*u\n", 0x1000 + i, i % 2 ? 1 : 600, i);
	fd = file_of(text.buf, text.len);
	do {
		assert_int_equal(reader_perf_map(fd, 1, at, UINT64_MAX, map, &err), 0);
		for (uint32_t i = 0; i < map->lines; i++, address++) {
			assert_int_equal(map->line[i].start, address);
			assert_in_range(strlen(name_at(map, i)), 1, READER_MAP_NAME);
		}
		lines += map->lines;
		at += map->taken;
	} while (map->taken);
	assert_int_equal(lines, 10000);
	assert_int_equal(at, text.len);
}

static void no_file(void **state)
{
	_cleanup_free_ struct reader_perf_map *map = xmalloc(sizeof(*map));
	_cleanup_close_ int fd = open("/tmp", O_RDONLY | O_CLOEXEC);
	struct err err;

	(void)state;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), -EISDIR);
}

/* --- lies -------------------------------------------------------------------------------------- */

static unsigned int lie;

/* Two lines, "a" and "b", of 12 bytes. */
static int64_t damage(struct reader_perf_map *map, int64_t r)
{
	char *text = (char *)&map->line[2];

	switch (lie) {
	case 0: map->lines = READER_MAP_LINES + 1; break;
	case 1: map->lines = 1; break;
	case 2: map->text_bytes++; break;
	case 3: map->text_bytes = UINT32_MAX; break;
	case 4: map->taken = READER_MAP_BYTES + 1; break;
	case 5: map->taken = 11; break; /* too few for two lines */
	case 6: map->line[0].end = map->line[0].start; break;
	case 7: map->line[1].name = 4; break;
	case 8: map->line[1].name = UINT64_MAX; break;
	case 9: text[3] = 'b'; break; /* no end */
	case 10: text[0] = '\0'; break;
	case 11: return 8;
	case 12: return INT64_MAX;
	default: break;
	}
	return r;
}

#define LIES 13U

static int64_t lies(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);

	return call->op == READER_PERF_MAP ? damage((void *)call->data, r) : r;
}

/* More lines than there are in an answer, each of which is sound. */
static int64_t many_lines(struct wall_call *call, int fd, int *ret_fd)
{
	struct reader_perf_map *map = (void *)call->data;
	const struct reader_map_line line = { 1, 2, 0, 0 };

	(void)fd;
	*ret_fd = -1;
	*map = (struct reader_perf_map){ .taken = READER_MAP_BYTES,
					 .lines = READER_MAP_LINES + lie,
					 .text_bytes = 2 };
	for (uint32_t i = 0; i < map->lines; i++)
		memcpy(&map->line[0] + i, &line, sizeof(line));
	memcpy(&map->line[0] + map->lines, "a", 2);
	return (int64_t)(offsetof(struct reader_perf_map, line) + map->lines * sizeof(line) + 2);
}

/* A name of one byte more than there can be. */
static int64_t long_name(struct wall_call *call, int fd, int *ret_fd)
{
	struct reader_perf_map *map = (void *)call->data;

	(void)fd;
	*ret_fd = -1;
	*map = (struct reader_perf_map){ .taken = 6, .lines = 1, .text_bytes = 600 };
	map->line[0] = (struct reader_map_line){ 1, 2, 0, 0 };
	memset(&map->line[1], 'n', 600);
	((char *)&map->line[1])[lie] = '\0';
	return (int64_t)offsetof(struct reader_perf_map, line) + (int64_t)sizeof(map->line[0]) +
	       600;
}

static void what_it_says_is_not_believed(void **state)
{
	_cleanup_free_ struct reader_perf_map *map = xmalloc(sizeof(*map));
	_cleanup_close_ int fd = file_of("1 1 a\n2 1 b\n", 12);
	struct trade trade = reader_trade;
	struct err err;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	for (lie = 0; lie < LIES; lie++)
		assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), -EBADMSG);
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), 0);
	assert_string_equal(name_at(map, 1), "b");
	trade.carry_out = many_lines;
	lie = 0;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), 0);
	lie = 1;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), -EBADMSG);
	trade.carry_out = long_name;
	lie = READER_MAP_NAME;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), 0);
	lie = READER_MAP_NAME + 1;
	assert_int_equal(reader_perf_map(fd, 1, 0, UINT64_MAX, map, &err), -EBADMSG);
	reader_end();
	reader_set_trade(&reader_trade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_file),
		cmocka_unit_test_setup_teardown(lines_of_a_file, with_readers, without),
		cmocka_unit_test(all_lines_in_pieces),
		cmocka_unit_test_setup_teardown(all_lines_in_pieces, with_readers, without),
		cmocka_unit_test_setup_teardown(no_file, with_readers, without),
		cmocka_unit_test(what_it_says_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
