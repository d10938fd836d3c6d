/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "output/text/text_page.h"
#include "output/text/view_text.h"
#include "view_fixture.h"

static char *render(const struct profile *p, const struct view_options *options)
{
	size_t len;

	return view_fixture_render(p, options, view_text_write, &len);
}

static void test_whole_page(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU };
	_cleanup_free_ char *got = NULL;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	got = render(&p, &options);
	assert_string_equal(
		got,
		"cpu: 12 samples (120 ns) in 10 s on build7; also recorded: alloc, live (--event)\n"
		"complete stacks: 83.33 %, lost samples: 1 (10 ns)\n"
		"\nHot methods\n"
		"   self %        self   total %  method\n"
		"  58.33 %           7   58.33 %  java.util.HashMap.get\n"
		"  41.67 %           5   41.67 %  vfs_read\n"
		"   0.00 %           0   83.33 %  clone3\n"
		"   0.00 %           0   83.33 %  com.acme.Order.place\n"
		"   0.00 %           0   83.33 %  java.lang.Thread.run\n"
		"   0.00 %           0   58.33 %  com.acme.Item.price\n"
		"   0.00 %           0   41.67 %  [libc.so.6+0x31234]\n"
		"   0.00 %           0   16.67 %  [unwind: bad-frame-pointer]\n"
		"\nProcesses\n"
		"    share     samples  complete    starts      lost  process\n"
		"  83.33 %          10  100.00 %  100.00 %         0  java-4242 com....n (JVM 17.0.9) in "
		"0123456789ab\n"
		"  16.67 %           2    0.00 %         -         1  sh-99\n"
		"\nHot stacks, leaf first\n"
		"  58.33 %           7  java-4242\n"
		"            java.util.HashMap.get\n"
		"            com.acme.Item.price\n"
		"            com.acme.Order.place\n"
		"            java.lang.Thread.run\n"
		"            clone3\n"
		"  25.00 %           3  java-4242\n"
		"            vfs_read\n"
		"            [libc.so.6+0x31234]\n"
		"            com.acme.Order.place\n"
		"            java.lang.Thread.run\n"
		"            clone3\n"
		"  16.67 %           2  sh-99\n"
		"            vfs_read\n"
		"            [libc.so.6+0x31234]\n"
		"            [unwind: bad-frame-pointer]\n"
		"\nThreads\n"
		"    share     samples  process and thread\n"
		"  83.33 %          10  java-4242 [worker;1 tid=4243]\n"
		"  16.67 %           2  sh-99 [sh tid=99]\n"
		"\nHow stacks ended, all events\n"
		"  83.33 %          10  complete\n"
		"            the walk reached the thread's first frame\n"
		"  16.67 %           2  bad-frame-pointer\n"
		"            the frame pointer does not point up the stack: code without frame "
		"pointers\n"
		"\nWhat was missed\n"
		"                    2  symbols.file-not-read /tmp/gone: removed\n");
	profile_release(&p);
}

static void test_top(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU, .top = 1 };
	_cleanup_free_ char *got = NULL;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	got = render(&p, &options);
	assert_non_null(strstr(got, "  58.33 %           7   58.33 %  java.util.HashMap.get\n"
				    "                       (7 more)\n"));
	assert_non_null(strstr(got, "            clone3\n                       (2 more)\n"));
	assert_non_null(strstr(got, "java-4242 [worker;1 tid=4243]\n"
				    "                       (1 more)\n"));
	profile_release(&p);
}

static void test_other_event_in_its_unit(void **state)
{
	struct view_options options = { .event = FIXTURE_ALLOC, .total = true, .title = "Title" };
	_cleanup_free_ char *got = NULL;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	got = render(&p, &options);
	assert_ptr_equal(strstr(got, "Title\nalloc: 1 sample (4 kB, 12 objects) in 10 s on "
				     "build7; also recorded: cpu, live (--event)\n"
				     "\nHot methods\n"),
			 got);
	assert_non_null(strstr(got, " 100.00 %        4 kB  100.00 %  byte[]\n"));
	assert_null(strstr(got, "vfs_read"));
	profile_release(&p);
}

/* A section for each event, bytes in bytes; how stacks ended is said once, at the end. */
static void test_all_events(void **state)
{
	static const char *const parts[] = {
		"cpu: 12 samples (120 ns) in 10 s on build7\ncomplete stacks: ",
		"\nHot methods\n",
		"  58.33 %           7   58.33 %  java.util.HashMap.get\n",
		"\n\nalloc: 1 sample (4 kB, 12 objects) in 10 s on build7\n\nHot methods\n",
		" 100.00 %        4 kB  100.00 %  byte[]\n",
		"\n\nlive: 1 sample (1 kB, 3 objects) in 10 s on build7\n\nHot methods\n",
		" 100.00 %        1 kB  java-4242 [worker;1 tid=4243]\n",
		"\nHow stacks ended, all events\n",
	};
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_free_ char *got = NULL;
	const char *at;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	at = got = render(&p, &options);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		at = strstr(at, parts[i]);
		assert_non_null(at);
		at += strlen(parts[i]);
	}
	assert_null(strstr(at, "How stacks ended"));
	profile_release(&p);
}

/* a calls b calls a: its total is not counted twice. */
static void test_recursion(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_free_ char *got = NULL;
	struct profile p;
	uint32_t thread, a, b, c;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(&p, fixture_process(&p, "x", 1), "x", 1);
	a = fixture_native(&p, "aa");
	b = fixture_native(&p, "bb");
	c = fixture_native(&p, "cc");
	fixture_sample(&p, 0, thread, 5, 5, FIXTURE_FRAMES(a, b, a, b));
	fixture_sample(&p, 0, thread, 2, 2, FIXTURE_FRAMES(a, b, c));
	fixture_sample(&p, 0, thread, 3, 3, FIXTURE_FRAMES(b, a));
	got = render(&p, &options);
	assert_non_null(strstr(got, "  50.00 %           5  100.00 %  bb\n"
				    "  30.00 %           3  100.00 %  aa\n"
				    "  20.00 %           2   20.00 %  cc\n"));
	profile_release(&p);
}

static void test_deep_stack_is_cut_in_the_middle(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_free_ char *got = NULL;
	struct profile p;
	uint32_t thread, frames[60];

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(&p, fixture_process(&p, "x", 1), "x", 1);
	for (int i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%02d", i);
		frames[i] = fixture_native(&p, name);
	}
	fixture_sample(&p, 0, thread, 1, 1, frames, 60);
	got = render(&p, &options);
	assert_non_null(strstr(got, " 100.00 %           1  x-1\n            f59\n"));
	assert_non_null(strstr(got, "            f36\n            (30 more frames)\n"
				    "            f05\n"));
	assert_non_null(strstr(got, "            f00\n"));
	profile_release(&p);
}

static void expect_fit(const char *s, uint32_t columns, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	text_fit(&sb, s, columns);
	assert_string_equal(strbuf_str(&sb), expected);
}

static void test_fit(void **state)
{
	(void)state;
	expect_fit("abc", 3, "abc");
	expect_fit("abcdefghijkl", 9, "ab...ijkl");
	expect_fit("\xc3\xa4\xc3\xb6\xc3\xbc", 3, "\xc3\xa4\xc3\xb6\xc3\xbc");
	expect_fit("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 6,
		   "\xc3\xa4...\xc3\xbc\xc3\x9f");
	expect_fit("\033[31mred\n\xc2\x9b", 20, "?[31mred??");
	expect_fit("abcdef", 2, "");
}

/* 24 lines of at most 100 columns, whatever the names are. */
static void test_summary_fits_a_screen(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_free_ char *got = NULL;
	struct profile p;
	size_t len;
	int lines = 0;

	(void)state;
	view_fixture_init(&p);
	for (uint32_t i = 0; i < 40; i++) {
		char name[200];
		uint32_t thread, frame;

		memset(name, 'a' + (int)(i % 26), sizeof(name));
		snprintf(name + 150, 50, "%u", i);
		thread = fixture_thread(&p, fixture_process(&p, name, 1000 + i), name, 1000 + i);
		frame = fixture_native(&p, name);
		fixture_sample(&p, FIXTURE_CPU, thread, 1, 1, &frame, 1);
	}
	got = view_fixture_render(&p, &options, view_text_write_summary, &len);
	for (const char *line = got; *line; line = strchr(line, '\n') + 1, lines++)
		assert_true(strcspn(line, "\n") <= TEXT_COLUMNS);
	assert_in_range(lines, 20, 24);
	/* Names are cut, columns are not. */
	assert_non_null(
		strstr(got, "\n   1.92 %           1         -         -         0  aaaaa"));
	profile_release(&p);
}

static int count_of(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* Once on each page, whichever event is shown. */
static void test_what_events_say_together(void **state)
{
	static const char sentence[] = "\n0.50 instructions per cycle\n";
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;
	uint32_t thread, frame, cycles, instructions;

	(void)state;
	profile_init(&p);
	thread = fixture_thread(&p, fixture_process(&p, "one", 1), "one", 1);
	frame = fixture_native(&p, "f");
	cycles = fixture_event(&p, "cycles", "count", 0);
	instructions = fixture_event(&p, "instructions", "count", 0);
	fixture_sample(&p, cycles, thread, 1, 1000, &frame, 1);
	fixture_sample(&p, instructions, thread, 1, 500, &frame, 1);
	for (int i = 0; i < 3; i++) {
		_cleanup_free_ char *got = NULL;
		size_t len;

		options.event = i == 1 ? instructions : PROFILE_NONE;
		got = view_fixture_render(&p, &options,
					  i < 2 ? view_text_write : view_text_write_summary, &len);
		assert_int_equal(count_of(got, sentence), 1);
	}
	profile_release(&p);
}

static void test_empty(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_free_ char *got = NULL;
	struct profile p;

	(void)state;
	profile_init(&p);
	got = render(&p, &options);
	assert_string_equal(got, "no events\n");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_page),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_other_event_in_its_unit),
		cmocka_unit_test(test_all_events),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_deep_stack_is_cut_in_the_middle),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_summary_fits_a_screen),
		cmocka_unit_test(test_what_events_say_together),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
