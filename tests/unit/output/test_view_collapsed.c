/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "output/view_collapsed.h"
#include "profile/frame_kind.h"
#include "view_fixture.h"

static void expect_text(const struct profile *p, const struct view_options *options,
			const char *expected)
{
	size_t len;
	_cleanup_free_ char *got = view_fixture_render(p, options, view_collapsed_write, &len);

	assert_string_equal(got, expected);
}

static void test_lines(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	expect_text(
		&p, &options,
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;"
		"[libc.so.6+0x31234];vfs_read 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;"
		"java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234];vfs_read 2\n");
	options.event = FIXTURE_ALLOC;
	options.total = true;
	expect_text(&p, &options, "java-4242;clone3;java.lang.Thread.run;byte[] 4096\n");
	profile_release(&p);
}

static void test_threads_and_names(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU,
					.threads = true,
					.annotate = true,
					.lines = true,
					.total = true };
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	expect_text(&p, &options,
		    "java-4242;[worker:1 tid=4243];clone3;java.lang.Thread.run:833_[0];"
		    "com.acme.Order.place:10_[j];[libc.so.6+0x31234];vfs_read_[k] 30\n"
		    "java-4242;[worker:1 tid=4243];clone3;java.lang.Thread.run:833_[0];"
		    "com.acme.Order.place:10_[j];com.acme.Item.price:20_[i];"
		    "java.util.HashMap.get:30_[i] 70\n"
		    "sh-99;[sh tid=99];[unwind: bad-frame-pointer];[libc.so.6+0x31234];"
		    "vfs_read_[k] 20\n");
	profile_release(&p);
}

static void test_filters(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU, .all_kernel = true };
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	expect_text(&p, &options, "java-4242;vfs_read 3\nsh-99;vfs_read 2\n");
	options.all_kernel = false;
	options.all_user = true;
	expect_text(
		&p, &options,
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;"
		"[libc.so.6+0x31234] 3\n"
		"java-4242;clone3;java.lang.Thread.run;com.acme.Order.place;com.acme.Item.price;"
		"java.util.HashMap.get 7\n"
		"sh-99;[unwind: bad-frame-pointer];[libc.so.6+0x31234] 2\n");
	profile_release(&p);
}

/* Overloads are one line, and two when they are asked for; a line has no ';' but between frames. */
static void test_signatures(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;
	uint32_t run, of_int, of_text;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	run = fixture_overload(&p, FRAME_JAVA_INTERPRETED, "java.lang.Thread", "run", "()V");
	of_int = fixture_overload(&p, FRAME_JAVA_JIT, "A", "go", "(I)V");
	of_text = fixture_overload(&p, FRAME_JAVA_JIT, "A", "go", "(Ljava/lang/String;)V");
	fixture_sample(&p, 0, PROFILE_NONE, 3, 3, FIXTURE_FRAMES(run, of_int));
	fixture_sample(&p, 0, PROFILE_NONE, 4, 4, FIXTURE_FRAMES(run, of_text));
	expect_text(&p, &options, "[unknown];java.lang.Thread.run;A.go 7\n");
	options.names = FRAME_NAMES_SIGNATURES;
	expect_text(&p, &options,
		    "[unknown];java.lang.Thread.run()V;A.go(I)V 3\n"
		    "[unknown];java.lang.Thread.run()V;A.go(Ljava/lang/String|)V 4\n");
	profile_release(&p);
}

/* What would read as a separator or as another line, and equal lines of different frames. */
static void test_hostile_names(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;
	uint32_t thread, a, b;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(&p, fixture_process(&p, "a;b\n1\033c", 5), "t", 5);
	a = fixture_native(&p, "f;g\r\nh 7");
	b = fixture_java(&p, FRAME_JAVA_C1, "", "f:g;\nh 7", 0);
	fixture_sample(&p, 0, thread, 2, 2, FIXTURE_FRAMES(a));
	fixture_sample(&p, 0, thread, 3, 3, FIXTURE_FRAMES(b));
	fixture_sample(&p, 0, thread, 5, 5, FIXTURE_FRAMES(fixture_native(&p, "f:g  h 7")));
	fixture_sample(&p, 0, thread, 4, 4, NULL, 0);
	expect_text(&p, &options, "a:b 1?c-5 4\na:b 1?c-5;f:g  h 7 7\na:b 1?c-5;f:g: h 7 3\n");
	profile_release(&p);
}

static void test_empty(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;

	(void)state;
	profile_init(&p);
	expect_text(&p, &options, "");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	      cmocka_unit_test(test_threads_and_names),
		cmocka_unit_test(test_filters),	      cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
