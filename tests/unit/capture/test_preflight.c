// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "capture/preflight/preflight.h"
#include "capture/preflight/preflight_parse.h"

static void test_release(void **state)
{
	unsigned int major, minor;

	(void)state;
	assert_int_equal(preflight_parse_release("6.18.44-fc-v657", &major, &minor), 0);
	assert_int_equal(major, 6);
	assert_int_equal(minor, 18);
	assert_int_equal(preflight_parse_release("5.10", &major, &minor), 0);
	assert_int_equal(major, 5);
	assert_int_equal(minor, 10);
	assert_int_equal(preflight_parse_release("", &major, &minor), -EBADMSG);
	assert_int_equal(preflight_parse_release("6", &major, &minor), -EBADMSG);
	assert_int_equal(preflight_parse_release("6.x", &major, &minor), -EBADMSG);
	assert_int_equal(preflight_parse_release("-6.1", &major, &minor), -EBADMSG);
}

static void test_capabilities(void **state)
{
	uint64_t caps = 1;

	(void)state;
	assert_int_equal(preflight_parse_capabilities("Name:\tx\nCapPrm:\t00000000ffffffff\n"
						      "CapEff:\t000001fffeffffff\nCapBnd:\t0\n",
						      &caps),
			 0);
	assert_true(caps == 0x1fffeffffffULL);
	assert_int_equal(preflight_parse_capabilities("Name:\tCapEff:\t1\n", &caps), -ENODATA);
	assert_int_equal(preflight_parse_capabilities("\nCapEff:\tzz\n", &caps), -EBADMSG);
	assert_int_equal(preflight_parse_capabilities("\nCapEff:\t1ffffffffffffffff\n", &caps),
			 -EBADMSG);
}

static void test_sysctl(void **state)
{
	long value;

	(void)state;
	assert_int_equal(preflight_parse_long("-1\n", &value), 0);
	assert_int_equal(value, -1);
	assert_int_equal(preflight_parse_long("100000", &value), 0);
	assert_int_equal(value, 100000);
	assert_int_equal(preflight_parse_long("", &value), -EBADMSG);
	assert_int_equal(preflight_parse_long("2 3\n", &value), -EBADMSG);
}

static void test_lockdown(void **state)
{
	char mode[32];

	(void)state;
	assert_int_equal(preflight_parse_lockdown("none [integrity] confidentiality\n", mode), 0);
	assert_string_equal(mode, "integrity");
	assert_int_equal(preflight_parse_lockdown("none integrity\n", mode), -EBADMSG);
	assert_int_equal(preflight_parse_lockdown("[]", mode), -EBADMSG);
	assert_int_equal(
		preflight_parse_lockdown("[0123456789012345678901234567890123456789]", mode),
		-EBADMSG);
}

/* Every row says what, what for and what to do, and finds something on any machine. */
static void test_rows(void **state)
{
	static const char *const ids[] = { "kernel", "btf", "cap-bpf", "cap-perfmon", "lockdown" };
	size_t seen = 0;

	(void)state;
	for (const struct preflight_check *c = preflight_checks; c->id; c++) {
		struct preflight_result result = { .found = "" };

		assert_true(strlen(c->title) > 0 && strlen(c->needed) > 0 && strlen(c->mend) > 0);
		c->run(&result);
		if (!result.found[0])
			fail_msg("check %s found nothing to say", c->id);
		for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
			seen += strcmp(ids[i], c->id) == 0;
	}
	assert_int_equal(seen, ARRAY_SIZE(ids));
}

/* The explanation is that of the first failed row, or there is none. */
static void test_explain_agrees_with_rows(void **state)
{
	struct err err = { 0 };
	int r = preflight_explain(&err);

	(void)state;
	for (const struct preflight_check *c = preflight_checks; c->id; c++) {
		struct preflight_result result;

		c->run(&result);
		if (result.state != PREFLIGHT_FAIL)
			continue;
		assert_true(r == -EPERM || r == -EOPNOTSUPP);
		assert_non_null(strstr(err.text, c->title));
		assert_string_equal(err.hint, c->mend);
		return;
	}
	assert_int_equal(r, 0);
	assert_int_equal(err.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release), cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_sysctl),	cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_rows),	cmocka_unit_test(test_explain_agrees_with_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
