/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "html_page.h"
#include "output/html/view_html.h"
#include "view_fixture.h"

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static char *render(const struct profile *p, const char *title)
{
	struct view_options options = { .event = PROFILE_NONE, .title = title };
	size_t len;
	char *page = view_fixture_render(p, &options, view_html_write, &len);

	assert_int_equal(strlen(page), len);
	return page;
}

static void test_page_is_whole(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *page = render(&p, NULL);

		assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
		assert_non_null(strstr(page, "<title>Flame graph of build7</title>"));
		assert_non_null(strstr(page, "class FlameCanvas"));
		assert_non_null(strstr(page, "#legend"));
		assert_null(strstr(page, "{{"));
		assert_int_equal(count(page, "</html>"), 1);
	}
	profile_release(&p);
}

/* Nothing is loaded from anywhere, and only what carries the nonce runs. */
static void test_page_stands_alone(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *page = render(&p, NULL);

		assert_non_null(strstr(page, "default-src 'none'"));
		assert_int_equal(count(page, "src=\""), 0);
		assert_int_equal(count(page, "http://"), 0);
		assert_int_equal(count(page, "https://"), 0);
		assert_int_equal(count(page, "<script"), 2);
		assert_int_equal(count(page, "</script"), 2);
		assert_int_equal(count(page, "nonce=\""), 2);
		assert_int_equal(count(page, "'nonce-"), 2);
	}
	profile_release(&p);
}

/* More than one piece of it is put at a time. */
static void test_much_data(void **state)
{
	char title[12000];
	uint32_t random = 1;
	struct profile p;

	(void)state;
	for (size_t i = 0; i < sizeof(title); i++) {
		random = random * 1103515245 + 12345;
		title[i] = (char)('A' + (random >> 16) % 26);
	}
	title[sizeof(title) - 1] = '\0';
	view_fixture_init(&p);
	{
		_cleanup_free_ char *page = render(&p, title);
		_cleanup_free_ char *json = page_json(page);

		assert_non_null(strstr(json, title));
	}
	profile_release(&p);
}

static void test_data_holds_the_profile(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *page = render(&p, "My title");
		_cleanup_free_ char *json = page_json(page);

		assert_non_null(strstr(json, "\"title\":\"My title\""));
		assert_non_null(strstr(json, "\"host\":\"build7\""));
		assert_non_null(strstr(json, "\"name\":\"cpu\""));
		assert_non_null(strstr(json, "\"name\":\"alloc\""));
		assert_non_null(strstr(json, "\"com.acme.Order.place\""));
		assert_non_null(strstr(json, "\"main\":\"com.acme.Main\""));
		assert_non_null(strstr(json, "\"bad-frame-pointer\":\""));
		assert_non_null(strstr(json, "\"detail\":\"/tmp/gone: removed\""));
	}
	profile_release(&p);
}

static void test_what_events_say_together(void **state)
{
	struct profile p;
	uint32_t thread, frame;

	(void)state;
	profile_init(&p);
	thread = fixture_thread(&p, fixture_process(&p, "one", 1), "one", 1);
	frame = fixture_native(&p, "f");
	fixture_sample(&p, fixture_event(&p, "cycles", "count", 0), thread, 1, 1000, &frame, 1);
	{
		_cleanup_free_ char *page = render(&p, "x");
		_cleanup_free_ char *json = page_json(page);

		assert_null(strstr(json, "\"ratios\""));
	}
	fixture_sample(&p, fixture_event(&p, "instructions", "count", 0), thread, 1, 2000, &frame,
		       1);
	{
		_cleanup_free_ char *page = render(&p, "x");
		_cleanup_free_ char *json = page_json(page);

		assert_non_null(strstr(json, "\"ratios\":[\"2.00 instructions per cycle\"]"));
	}
	profile_release(&p);
}

/* What the page shows first is said in its data; its smallest width holds there. */
static void test_what_is_asked_for_is_in_the_data(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct profile p;
	size_t len;

	(void)state;
	view_fixture_init(&p);
	for (int asked = 0; asked < 2; asked++) {
		options.reverse = asked;
		options.min_percent = asked ? 60 : 0;
		_cleanup_free_ char *page =
			view_fixture_render(&p, &options, view_html_write, &len);
		_cleanup_free_ char *json = page_json(page);

		assert_non_null(strstr(json, asked ? "\"reverse\":true" : "\"reverse\":false"));
		assert_int_equal(count(json, "\"[smaller frames]\"") > 0, asked);
	}
	profile_release(&p);
}

static void test_hostile_names_stay_in_the_data(void **state)
{
	static const char evil[] = "</script><script>evil()</script>";
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	p.host = profile_string(&p, evil);
	p.command = p.host;
	{
		uint32_t process = fixture_process(&p, evil, 66);
		uint32_t thread = fixture_thread(&p, process, evil, 66);
		uint32_t frame = fixture_native(&p, evil);
		fixture_sample(&p, FIXTURE_CPU, thread, 1, 10, FIXTURE_FRAMES(frame));
		_cleanup_free_ char *page = render(&p, NULL);
		_cleanup_free_ char *json = page_json(page);

		assert_null(strstr(page, "evil()<"));
		assert_int_equal(count(page, "evil()"), 2); /* <title> and <h1>, escaped */
		assert_int_equal(count(page, "&lt;script&gt;evil()&lt;/script&gt;"), 2);
		assert_int_equal(count(page, "<script"), 2);
		assert_true(count(json, "evil()") >= 4);
	}
	profile_release(&p);
}

static void test_equal_profiles_give_equal_pages(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *one = render(&p, NULL);
		_cleanup_free_ char *two = render(&p, NULL);
		_cleanup_free_ char *other = render(&p, "other");

		assert_string_equal(one, two);
		assert_string_not_equal(one, other);
	}
	profile_release(&p);
}

static void test_empty_profile_is_a_page(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	{
		_cleanup_free_ char *page = render(&p, NULL);
		_cleanup_free_ char *json = page_json(page);

		assert_non_null(strstr(json, "\"events\":[{"));
		assert_non_null(strstr(json, "\"nodes\":1,"));
	}
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_is_whole),
		cmocka_unit_test(test_page_stands_alone),
		cmocka_unit_test(test_much_data),
		cmocka_unit_test(test_data_holds_the_profile),
		cmocka_unit_test(test_what_is_asked_for_is_in_the_data),
		cmocka_unit_test(test_what_events_say_together),
		cmocka_unit_test(test_hostile_names_stay_in_the_data),
		cmocka_unit_test(test_equal_profiles_give_equal_pages),
		cmocka_unit_test(test_empty_profile_is_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
