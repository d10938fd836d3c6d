/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "output/svg/view_svg.h"
#include "view_fixture.h"

static char *render(const struct profile *p, uint32_t event, const char *title)
{
	struct view_options options = { .event = event, .title = title };
	size_t len;
	char *svg = view_fixture_render(p, &options, view_svg_write, &len);

	assert_int_equal(strlen(svg), len);
	return svg;
}

static void expect_part(const char *svg, const char *part)
{
	if (!strstr(svg, part))
		fail_msg("%s is missing in:\n%s", part, svg);
}

static void test_boxes(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *svg = render(&p, PROFILE_NONE, NULL);

		assert_int_equal(strncmp(svg, "<svg xmlns=", 11), 0);
		assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
		expect_part(svg,
			    "<text class=\"title\" x=\"10.0\" y=\"23.0\">Flame graph of build7<");
		expect_part(svg, "cpu: 12 samples, 120 ns in 10 s");
		/* 7 of 12 samples: 58.33 % of 1180 px, at the left edge, seven levels down */
		expect_part(svg, "<title>java.util.HashMap.get (58.33 %, self 58.33 %)</title>"
				 "<rect class=\"k6\" x=\"10.0\" y=\"154.0\" width=\"687.7\"");
		/* beside it */
		expect_part(svg, "<title>[libc.so.6+0x31234] (25.00 %, self 0.00 %)</title>"
				 "<rect class=\"k0\" x=\"698.3\" y=\"137.0\" width=\"294.4\"");
		expect_part(svg, ">[unwind: bad-frame-pointer] (16.67 %");
		expect_part(svg, "fill=\"url(#cut)\"");
	}
	profile_release(&p);
}

static void test_chosen_event(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		_cleanup_free_ char *svg = render(&p, FIXTURE_ALLOC, "Memory");

		expect_part(svg, "<title>Memory</title>");
		expect_part(svg, "byte[] (100.00 %, self 100.00 %)");
		assert_null(strstr(svg, "Order.place"));
	}
	profile_release(&p);
}

static void test_narrow_boxes_are_stated(void **state)
{
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	{
		uint32_t thread = fixture_thread(&p, fixture_process(&p, "big", 5), "big", 5);
		uint32_t frame = fixture_native(&p, "big_function");
		fixture_sample(&p, FIXTURE_CPU, thread, 1000000, 10000000, FIXTURE_FRAMES(frame));
		_cleanup_free_ char *svg = render(&p, PROFILE_NONE, NULL);

		expect_part(svg, "; 12 boxes narrower than 1.0 px (0.00 %) not drawn");
		expect_part(svg, ">big_function (100.00 %");
		assert_null(strstr(svg, "HashMap"));
	}
	profile_release(&p);
}

static void test_names_are_escaped(void **state)
{
	static const char evil[] = "</title><script>evil(\"&\")</script>\x01\xff";
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	p.host = profile_string(&p, evil);
	{
		uint32_t thread = fixture_thread(&p, fixture_process(&p, evil, 6), evil, 6);
		uint32_t frame = fixture_native(&p, evil);
		fixture_sample(&p, FIXTURE_CPU, thread, 9, 90, FIXTURE_FRAMES(frame));
		_cleanup_free_ char *svg = render(&p, PROFILE_NONE, NULL);

		assert_null(strstr(svg, "<script"));
		assert_null(strchr(svg, '\x01'));
		expect_part(svg, "&lt;script&gt;evil(&quot;&amp;&quot;)&lt;/script&gt;"
				 "\xef\xbf\xbd\xef\xbf\xbd");
	}
	profile_release(&p);
}

static void test_empty_profile_is_a_picture(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	{
		_cleanup_free_ char *svg = render(&p, PROFILE_NONE, NULL);

		expect_part(svg, "Flame graph</text>");
		expect_part(svg, "</svg>");
	}
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_chosen_event),
		cmocka_unit_test(test_narrow_boxes_are_stated),
		cmocka_unit_test(test_names_are_escaped),
		cmocka_unit_test(test_empty_profile_is_a_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
