// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "perf_text.h"

static struct perf_map *parse(const char *text)
{
	return perf_map_of_text(text, strlen(text));
}

static void assert_name(struct perf_map *map, uint64_t address, const char *expected)
{
	const char *name = perf_map_find(map, address);

	if (!name != !expected || (name && strcmp(name, expected) != 0))
		fail_msg("%#lx: got %s, expected %s", (unsigned long)address, name ? name : "NULL",
			 expected ? expected : "NULL");
}

static void names_by_address(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map =
		parse("7f0000002000 80 LazyCompile:*main /app.js:1:2\n"
		      "0x7f0000001000 0x40 Builtin:Call\n"
		      "7F0000003000 10 [Stub] with blanks  \n");

	(void)state;
	assert_name(map, 0x7f0000001000, "Builtin:Call");
	assert_name(map, 0x7f000000103f, "Builtin:Call");
	assert_name(map, 0x7f0000001040, NULL);
	assert_name(map, 0x7f0000002010, "LazyCompile:*main /app.js:1:2");
	assert_name(map, 0x7f0000003001, "[Stub] with blanks  ");
	assert_name(map, 0, NULL);
	assert_name(map, UINT64_MAX, NULL);
}

static void later_code_replaces_earlier(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = parse("1000 1000 old\n"
							       "3000 100 first\n"
							       "1800 100 inner\n"
							       "3000 80 second\n"
							       "0800 a00 over the head\n");

	(void)state;
	assert_name(map, 0x1100, "over the head");
	assert_name(map, 0x1300, "old");
	assert_name(map, 0x1810, "inner");
	assert_name(map, 0x1910, "old");
	assert_name(map, 0x3010, "second");
	assert_name(map, 0x3090, NULL); /* the first one is gone as a whole */
}

/* Small pieces of code lie over the beginning of a large one: so many are looked at. */
static void code_below_other_code(void **state)
{
	(void)state;
	for (unsigned int small = 15; small < 17; small++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		_cleanup_(perf_map_freep) struct perf_map *map = NULL;

		strbuf_addstr(&text, "1000 1000 large\n");
		for (unsigned int i = 1; i <= small; i++)
			strbuf_addf(&text, "%x 1 small\n", 0x1000 + i);
		map = perf_map_of_text(strbuf_str(&text), text.len);
		assert_name(map, 0x1800, small < 16 ? "large" : NULL);
	}
}

static void hostile_text(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map =
		parse("\n \nnot hex\n1000\n1000 \n1000 zz name\n1000 0 empty\n2000 10\n2000 10 \n"
		      "ffffffffffffff00 200 wraps\n10000000000000000 10 too wide\n"
		      "4000 10 good\n5000 10 unterminated");

	(void)state;
	assert_name(map, 0x1000, NULL);
	assert_name(map, 0x2000, NULL);
	assert_name(map, 0xffffffffffffff80, NULL);
	assert_name(map, 0x4008, "good");
	assert_name(map, 0x5008, NULL);
}

static void an_endless_name_is_cut(void **state)
{
	_cleanup_free_ char *text = malloc(100001);
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	memset(text, 'x', 100000);
	memcpy(text, "1000 10 ", 8);
	text[99999] = '\n';
	map = perf_map_of_text(text, 100000);
	assert_int_equal(strlen(perf_map_find(map, 0x1000)), 512);
}

static void own_path(char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", getpid());
}

static void append(const char *text, int flags)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	own_path(path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | flags, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static int remove_own_map(void **state)
{
	char path[64];

	(void)state;
	own_path(path);
	unlink(path);
	return 0;
}

static void a_growing_file(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;

	(void)state;
	append("1000 10 one\n2000 10 tw", O_TRUNC);
	map = perf_map_open((uint32_t)getpid());
	assert_non_null(map);
	assert_name(map, 0x1000, "one");
	assert_name(map, 0x2000, NULL);
	append("o\n1000 10 three\n", 0);
	usleep(50000);
	assert_name(map, 0x2000, "two");
	assert_name(map, 0x1000, "three");
}

static void no_file(void **state)
{
	(void)state;
	assert_null(perf_map_open((uint32_t)getpid()));
	assert_null(perf_map_open(0x7ffffffe));
}

static void a_file_of_another_user(void **state)
{
	char path[64];

	(void)state;
	own_path(path);
	append("1000 10 one\n", O_TRUNC);
	if (chown(path, 12345, 12345) < 0)
		skip(); /* needs root */
	assert_null(perf_map_open((uint32_t)getpid()));
}

static void assert_map_opens(void)
{
	_cleanup_(perf_map_freep) struct perf_map *map = perf_map_open((uint32_t)getpid());

	assert_non_null(map);
	assert_name(map, 0x1000, "one");
}

static void what_is_no_file(void **state)
{
	char path[64];

	(void)state;
	own_path(path);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_null(perf_map_open((uint32_t)getpid()));
	unlink(path);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_null(perf_map_open((uint32_t)getpid()));
	assert_int_equal(rmdir(path), 0);
}

/* /tmp is everybody's: a link may lead anywhere, also to a file of the same user. */
static void a_link_is_not_followed(void **state)
{
	static const char *const targets[] = { "/proc/kmsg", "/proc/self/status", "/dev/zero" };
	char path[64], real[80];

	(void)state;
	own_path(path);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		assert_int_equal(symlink(targets[i], path), 0);
		assert_null(perf_map_open((uint32_t)getpid()));
		assert_int_equal(unlink(path), 0);
	}
	append("1000 10 one\n", O_TRUNC);
	snprintf(real, sizeof(real), "%s.real", path);
	assert_int_equal(rename(path, real), 0);
	assert_int_equal(symlink(real, path), 0);
	assert_null(perf_map_open((uint32_t)getpid()));
	unlink(path);
	assert_int_equal(rename(real, path), 0);
	assert_map_opens();
}

/* Anybody can make one for his own process. */
static void a_hole_of_a_terabyte(void **state)
{
	_cleanup_(perf_map_freep) struct perf_map *map = NULL;
	uint64_t before = clock_now_ns();
	char path[64];

	(void)state;
	own_path(path);
	append("1000 10 one\n", O_TRUNC);
	if (truncate(path, 1LL << 40) < 0)
		skip();
	map = perf_map_open((uint32_t)getpid());
	assert_non_null(map);
	assert_name(map, 0x1000, "one");
	assert_true(clock_now_ns() - before < 10 * NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_by_address),
		cmocka_unit_test(later_code_replaces_earlier),
		cmocka_unit_test(code_below_other_code),
		cmocka_unit_test(hostile_text),
		cmocka_unit_test(an_endless_name_is_cut),
		cmocka_unit_test_teardown(a_growing_file, remove_own_map),
		cmocka_unit_test_teardown(no_file, remove_own_map),
		cmocka_unit_test_teardown(a_file_of_another_user, remove_own_map),
		cmocka_unit_test_teardown(what_is_no_file, remove_own_map),
		cmocka_unit_test_teardown(a_link_is_not_followed, remove_own_map),
		cmocka_unit_test_teardown(a_hole_of_a_terabyte, remove_own_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
