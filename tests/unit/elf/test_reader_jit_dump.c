// SPDX-License-Identifier: Apache-2.0
/* What a reader brings of a jitdump: code that was made or has moved, whatever else is in it, and nothing of what is no dump. */
#include "reader_world.h"

#include "dump_bytes.h"
#include "elf/reader/reader_perf_map.h"

static struct reader_perf_map lines;

static int ask(const struct strbuf *dump, uint64_t offset, uint64_t len)
{
	_cleanup_close_ int fd = dump_file(dump);
	struct err err;

	return reader_jit_dump(fd, 1, offset, len, &lines, &err);
}

static void assert_line(uint32_t i, uint64_t start, uint64_t end, const char *name)
{
	assert_true(i < lines.lines);
	assert_int_equal(lines.line[i].start, start);
	assert_int_equal(lines.line[i].end, end);
	assert_string_equal(reader_map_name(&lines, &lines.line[i]), name);
}

/* All kinds of records: lines of source, unwinding information, an end, one of the future. */
static void records_of_a_file(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;

	(void)state;
	dump_header(&dump);
	dump_record(&dump, 2, 100);
	dump_noise(&dump, 100);
	dump_record(&dump, 4, 33);
	dump_noise(&dump, 33);
	dump_load(&dump, 0x1000, 0x20, "JS:*f /app.js:1:2");
	dump_record(&dump, 77, 0);
	dump_move(&dump, 0x1000, 0x5000, 0x20);
	dump_load(&dump, 0x2000, 0, "empty");
	dump_load(&dump, 0x3000, 1, "");
	dump_load(&dump, UINT64_MAX - 4, 16, "wraps");
	dump_move(&dump, 0, 0x6000, 0x20);
	dump_load(&dump, 0x4000, 0x10, "last");
	dump_record(&dump, 3, 0);
	assert_int_equal(ask(&dump, 0, UINT64_MAX), 0);
	assert_int_equal(lines.taken, dump.len);
	assert_int_equal(lines.lines, 3);
	assert_line(0, 0x1000, 0x1020, "JS:*f /app.js:1:2");
	assert_int_equal(lines.line[0].from, 0);
	assert_line(1, 0x5000, 0x5020, "");
	assert_int_equal(lines.line[1].from, 0x1000);
	assert_line(2, 0x4000, 0x4010, "last");
}

/* Who writes it is at any byte of a record. */
static void a_record_that_is_being_written(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	size_t whole, len;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x20, "one");
	whole = dump.len;
	dump_load(&dump, 0x2000, 0x20, "two");
	len = dump.len;
	for (dump.len = 0; dump.len < len; dump.len++) {
		uint64_t taken = dump.len < 40 ? 0 : dump.len < whole ? 40 : whole;

		assert_int_equal(ask(&dump, 0, UINT64_MAX), 0);
		assert_int_equal(lines.taken, taken);
		assert_int_equal(lines.lines, taken == whole);
	}
	dump.len = len;
	/* What is looked at is there, and the machine code behind it is not. */
	dump_load(&dump, 0x3000, 3000, "three");
	dump.len--;
	assert_int_equal(ask(&dump, len, UINT64_MAX), 0);
	assert_int_equal(lines.taken, 0);
	dump.len++;
	assert_int_equal(ask(&dump, len, dump.len - len - 1), 0);
	assert_int_equal(lines.taken, 0);
	assert_int_equal(ask(&dump, len, dump.len - len), 0);
	assert_line(0, 0x3000, 0x3000 + 3000, "three");
	dump.len = len;
	assert_int_equal(ask(&dump, whole, UINT64_MAX), 0);
	assert_int_equal(lines.taken, len - whole);
	assert_line(0, 0x2000, 0x2020, "two");
	/* No more of it than was asked for. */
	assert_int_equal(ask(&dump, 0, len - 1), 0);
	assert_int_equal(lines.taken, whole);
}

/* Code of megabytes is skipped; a name that lies across what one call looks at is there in the next. */
static void large_records(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	uint64_t at = 0;
	unsigned int found = 0;

	(void)state;
	dump_header(&dump);
	dump_load(&dump, 0x100000, 3000000, "huge");
	for (unsigned int i = 0; i < 3000; i++)
		dump_load(&dump, 0x1000000 + 0x100 * i, 0x31, "a name of some length...");
	do {
		assert_int_equal(ask(&dump, at, UINT64_MAX), 0);
		for (uint32_t i = 0; i < lines.lines; i++, found++)
			assert_line(i, found ? 0x1000000 + 0x100 * (found - 1) : 0x100000,
				    found ? 0x1000031 + 0x100 * (found - 1) : 0x100000 + 3000000,
				    found ? "a name of some length..." : "huge");
		at += lines.taken;
	} while (lines.taken);
	assert_int_equal(found, 3001);
	assert_int_equal(at, dump.len);
}

static void names_without_an_end(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;
	char name[1001];

	(void)state;
	memset(name, 'n', 1000);
	name[1000] = '\0';
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, name);
	/* The record ends before the name does. */
	dump_record(&dump, 0, 43);
	dump_u64(&dump, 77);
	dump_u64(&dump, 0);
	dump_u64(&dump, 0x2000);
	dump_u64(&dump, 0x10);
	dump_u64(&dump, 2);
	dump_add(&dump, "abc", 3);
	dump_record(&dump, 0x41414141, 8);
	dump_noise(&dump, 8);
	/* And before it begins; a move without its last word. */
	dump_record(&dump, 0, 40);
	for (unsigned int i = 0; i < 5; i++)
		dump_u64(&dump, 0x5000);
	dump_record(&dump, 0, 8);
	dump_u64(&dump, 0x5000);
	dump_record(&dump, 1, 40);
	for (unsigned int i = 0; i < 5; i++)
		dump_u64(&dump, 0x5000);
	dump_record(&dump, 0x41414141, 48);
	dump_noise(&dump, 48);
	assert_int_equal(ask(&dump, 0, UINT64_MAX), 0);
	assert_int_equal(lines.lines, 2);
	assert_int_equal(strlen(reader_map_name(&lines, &lines.line[0])), READER_MAP_NAME);
	assert_line(1, 0x2000, 0x2010, "abc");
	assert_int_equal(lines.taken, dump.len);
}

static void expect_no_dump(size_t at, uint32_t value)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;

	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "one");
	memcpy(dump.buf + at, &value, sizeof(value));
	assert_int_equal(ask(&dump, 0, UINT64_MAX), -EBADMSG);
}

static void what_is_no_dump(void **state)
{
	_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;

	(void)state;
	expect_no_dump(0, 0x4454694a); /* the other byte order */
	expect_no_dump(8, 39);
	expect_no_dump(8, 5000);
	expect_no_dump(12, 183); /* another machine's */
	dump_header(&dump);
	dump_load(&dump, 0x1000, 0x10, "one");
	dump_u32(&dump, 0);
	dump_u32(&dump, 15);
	dump_noise(&dump, 8);
	/* What is sound in front of what is not counts. */
	assert_int_equal(ask(&dump, 0, UINT64_MAX), 0);
	assert_int_equal(lines.taken, dump.len - 16);
	assert_int_equal(ask(&dump, lines.taken, UINT64_MAX), -EBADMSG);
}

/* A name for code that has moved, and none for such that has not. */
static int64_t lies(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);
	struct reader_perf_map *map = (void *)call->data;

	map->line[0].from = !map->line[0].from;
	return r;
}

static void what_it_says_is_not_believed(void **state)
{
	struct trade trade = reader_trade;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	for (int moved = 0; moved < 2; moved++) {
		_cleanup_strbuf_ struct strbuf dump = STRBUF_INIT;

		dump_header(&dump);
		if (moved)
			dump_move(&dump, 0x1000, 0x2000, 0x10);
		else
			dump_load(&dump, 0x1000, 0x10, "one");
		assert_int_equal(ask(&dump, 0, UINT64_MAX), -EBADMSG);
	}
	reader_end();
	reader_set_trade(&reader_trade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_a_file),
		cmocka_unit_test_setup_teardown(records_of_a_file, with_readers, without),
		cmocka_unit_test(a_record_that_is_being_written),
		cmocka_unit_test(large_records),
		cmocka_unit_test(names_without_an_end),
		cmocka_unit_test(what_is_no_dump),
		cmocka_unit_test(what_it_says_is_not_believed),
	};

	return cmocka_run_group_tests_name("reader_jit_dump", tests, NULL, NULL);
}
