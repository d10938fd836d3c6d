// SPDX-License-Identifier: Apache-2.0
/* The small steps of the /proc parsers: each ends where it is said, whatever stands behind. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/text_cursor.h"
#include "process/mappings.h"
#include "process/proc.h"

/* The first LEN bytes of TEXT. */
static struct text_cursor of(const char *text, size_t len)
{
	return (struct text_cursor){ text, text + len };
}

static void numbers(void **state)
{
	static const char digits[] = "0129afAFgx";
	struct text_cursor text = of(digits, 3);
	uint64_t value = 7;

	(void)state;
	assert_true(text_take_number(&text, 10, &value));
	assert_int_equal(value, 12);
	assert_ptr_equal(text.at, text.end);
	assert_false(text_take_number(&text, 10, &value)); /* though a digit follows */
	assert_int_equal(value, 12);
	text = of(digits, strlen(digits));
	assert_true(text_take_number(&text, 16, &value));
	assert_int_equal(value, 0x129afaf);
	assert_string_equal(text.at, "gx");
	text = of("18446744073709551615", 20);
	assert_true(text_take_number(&text, 10, &value));
	assert_true(value == UINT64_MAX);
	text = of("18446744073709551616", 20);
	assert_false(text_take_number(&text, 10, &value));
	text = of("10000000000000000", 17);
	assert_false(text_take_number(&text, 16, &value));
	assert_string_equal(text.at, "10000000000000000");
}

static void characters(void **state)
{
	struct text_cursor text = of("ab", 1);

	(void)state;
	assert_false(text_take_char(&text, 'b'));
	assert_true(text_take_char(&text, 'a'));
	assert_false(text_take_char(&text, 'b'));
	assert_string_equal(text.at, "b");
	text = of(" \t  x", 3);
	text_skip_blanks(&text);
	assert_ptr_equal(text.at, text.end);
	text = of("0x10", 1);
	assert_false(text_take_prefix(&text, "0x"));
	text = of("0x10", 2);
	assert_true(text_take_prefix(&text, "0x"));
	assert_ptr_equal(text.at, text.end);
	text = of("0X10", 4);
	assert_false(text_take_prefix(&text, "0x"));
}

static void lines(void **state)
{
	struct text_cursor text = of("a\n\nbc\nd", 5), line;

	(void)state;
	assert_true(text_next_line(&text, &line));
	assert_int_equal(line.end - line.at, 1);
	assert_true(text_next_line(&text, &line));
	assert_ptr_equal(line.at, line.end);
	assert_true(text_next_line(&text, &line));
	assert_int_equal(line.end - line.at, 2);
	assert_false(text_next_line(&text, &line));
}

static void newlines_in_paths(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "/tmp/a\\012", "/tmp/a\n" },	    { "\\012/b", "\n/b" },
		{ "/c\\012\\012d", "/c\n\nd" },	    { "/c\\01", "/c\\01" },
		{ "/c\\011d\\12", "/c\\011d\\12" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct maps_line line = { .path = cases[i].text,
						.path_len = strlen(cases[i].text) };
		char *path = maps_line_path(&line);

		assert_string_equal(path, cases[i].path);
		free(path);
	}
}

static void permissions_end(void **state)
{
	static const char text[] = "1000-2000 r-xp 00000000 08:01 5 /bin/a\n";
	struct maps_line line;

	(void)state;
	memset(&line, 0x41, sizeof(line));
	assert_int_equal(proc_parse_maps_line(text, strlen(text), &line), strlen(text));
	assert_string_equal(line.perms, "r-xp");
}

/* What there is up to the first page that is not, whatever the page's place in the request. */
static void pages_up_to_a_hole(void **state)
{
	char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[4 * 4096];
	uint64_t at = (uintptr_t)pages;

	(void)state;
	memset(pages, 'x', 4 * 4096);
	munmap(pages + 2 * 4096, 4096);
	assert_int_equal(proc_read_pages((uint32_t)getpid(), at + 100, got, sizeof(got) - 100),
			 2 * 4096 - 100);
	assert_int_equal(proc_read_pages((uint32_t)getpid(), at, got, 4096), 4096);
	assert_int_equal(proc_read_pages((uint32_t)getpid(), at + 8191, got, 2), 1);
	assert_int_equal(proc_read_pages((uint32_t)getpid(), at + 8192, got, 2), -EFAULT);
	errno = EIO;
	assert_int_equal(proc_read_pages((uint32_t)getpid(), at, got, 0), 0);
	munmap(pages, 2 * 4096);
	munmap(pages + 3 * 4096, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),	   cmocka_unit_test(characters),
		cmocka_unit_test(lines),	   cmocka_unit_test(newlines_in_paths),
		cmocka_unit_test(permissions_end), cmocka_unit_test(pages_up_to_a_hole),
	};

	return cmocka_run_group_tests_name("proc_text", tests, NULL, NULL);
}
