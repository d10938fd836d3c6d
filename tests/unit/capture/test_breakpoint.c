// SPDX-License-Identifier: Apache-2.0
/* What -e says of what is to be watched, and what a cpu can. */
#include "test.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "base/macros.h"
#include "capture/events/breakpoint.h"

static struct breakpoint parse(const char *name)
{
	struct breakpoint b;
	struct err err = { 0 };

	if (breakpoint_parse(name, &b, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(b.count, 0);
	return b;
}

static void expect(const char *name, const char *symbol, uint64_t plus, uint32_t len,
		   uint32_t access)
{
	struct breakpoint b = parse(name);

	assert_string_equal(b.symbol, symbol);
	assert_int_equal(b.plus, plus);
	assert_int_equal(b.len, len);
	assert_int_equal(b.access, access);
}

static void all_forms(void **state)
{
	(void)state;
	expect("mem:counter", "counter", 0, 1, HW_BREAKPOINT_RW);
	expect("mem:counter:rw", "counter", 0, 1, HW_BREAKPOINT_RW);
	expect("mem:counter:wr", "counter", 0, 1, HW_BREAKPOINT_RW);
	expect("mem:counter:w", "counter", 0, 1, HW_BREAKPOINT_W);
	expect("mem:main:x", "main", 0, 8, HW_BREAKPOINT_X);
	expect("mem:counter/4", "counter", 0, 4, HW_BREAKPOINT_RW);
	expect("mem:counter+8/2:w", "counter", 8, 2, HW_BREAKPOINT_W);
	expect("mem:counter+0x10", "counter", 16, 1, HW_BREAKPOINT_RW);
	expect("mem:_ZN1a1bEv+4:x", "_ZN1a1bEv", 4, 8, HW_BREAKPOINT_X);
	expect("mem:0x7f00deadbeef/8:w", "", 0, 8, HW_BREAKPOINT_W);
	assert_int_equal(parse("mem:0x7f00deadbeef/8:w").address, 0x7f00deadbeef);
	assert_int_equal(parse("mem:0x1000+0x20").plus, 0x20);
	assert_true(breakpoint_is_name("mem:x"));
	assert_false(breakpoint_is_name("memory:x"));
}

/* No cpu of this kind watches reads alone, and what runs has no length. */
static void malformed(void **state)
{
	static const char *const bad[] = {
		"mem:",
		"mem:+4",
		"mem:x+",
		"mem:x+y",
		"mem:x/",
		"mem:x/3",
		"mem:x/16",
		"mem:x/0",
		"mem:x:",
		"mem:x:r",
		"mem:x:rwx",
		"mem:x:xw",
		"mem:x:w:x",
		"mem:x:w/4",
		"mem:x/4+4",
		"mem:x/4/4",
		"mem:0x",
		"mem:0xg",
		"mem:12",
		"mem:main/8:x",
		"mem:x:W",
		"mem:x/4 ",
		"mem:0x10000000000000000",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct breakpoint b = { .len = 77 };
		struct err err = { 0 };

		if (breakpoint_parse(bad[i], &b, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.hint, "mem:SYMBOL"));
		assert_int_equal(b.len, 77);
	}
}

static void places(void **state)
{
	struct breakpoint b = parse("mem:counter+4/4");
	struct perf_event_attr attr = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(breakpoint_add_place(&b, 0x1000, 17, &err), 0);
	assert_int_equal(breakpoint_add_place(&b, 0x2000, 18, &err), 0);
	assert_int_equal(b.count, 2);
	assert_int_equal(b.places[0].address, 0x1004);
	assert_int_equal(b.places[0].tgid, 17);
	/* Programs that are not moved have it at one address. */
	assert_int_equal(breakpoint_add_place(&b, 0x1000, 19, &err), 0);
	assert_int_equal(b.count, 2);
	assert_int_equal(b.places[0].tgid, 0);
	assert_int_equal(breakpoint_add_place(&b, 0x2000, 18, &err), 0);
	assert_int_equal(b.places[1].tgid, 18);
	breakpoint_fill_attr(&b, 1, &attr);
	assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
	assert_int_equal(attr.bp_addr, 0x2004);
	assert_int_equal(attr.bp_len, 4);
	assert_int_equal(attr.bp_type, HW_BREAKPOINT_RW);
}

static void what_no_cpu_can(void **state)
{
	struct breakpoint b = parse("mem:counter/8:w"), code = parse("mem:main:x");
	struct err err = { 0 };

	(void)state;
	assert_int_equal(breakpoint_add_place(&b, 0x1004, 17, &err), -EINVAL);
	assert_non_null(strstr(err.text, "0x1004 is no multiple of 8"));
	assert_int_equal(b.count, 0);
	assert_int_equal(breakpoint_add_place(&code, 0x1003, 17, &err), 0);
	for (uint32_t i = 0; i < BREAKPOINT_MAX_PLACES; i++)
		assert_int_equal(breakpoint_add_place(&b, 0x1000 + 8 * i, 17 + i, &err), 0);
	assert_int_equal(breakpoint_add_place(&b, 0x3000, 30, &err), -E2BIG);
	assert_non_null(strstr(err.text, "4 addresses at most"));
	assert_int_equal(b.count, BREAKPOINT_MAX_PLACES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms),
		cmocka_unit_test(malformed),
		cmocka_unit_test(places),
		cmocka_unit_test(what_no_cpu_can),
	};

	return cmocka_run_group_tests_name("breakpoint", tests, NULL, NULL);
}
