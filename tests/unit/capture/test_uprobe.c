// SPDX-License-Identifier: Apache-2.0
/* What -e says of a probe; sysfs is the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "capture/probes/uprobe.h"

static struct {
	bool absent;
	const char *format;
} sysfs;

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	(void)limit;
	if (sysfs.absent)
		return -ENOENT;
	if (strcmp(path, "/sys/bus/event_source/devices/uprobe/type") == 0)
		strbuf_addstr(out, "8\n");
	else if (strcmp(path, "/sys/bus/event_source/devices/uprobe/format/retprobe") == 0)
		strbuf_addstr(out, sysfs.format ? sysfs.format : "config:0\n");
	else
		fail_msg("%s", path);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&sysfs, 0, sizeof(sysfs));
	return 0;
}

static struct uprobe parse(const char *name)
{
	struct uprobe probe;
	struct err err = { 0 };

	if (uprobe_parse(name, &probe, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(probe.type, 8);
	return probe;
}

static void a_call(void **state)
{
	struct uprobe p = parse("uprobe:libc.so.6:malloc");

	(void)state;
	assert_string_equal(p.library, "libc.so.6");
	assert_string_equal(p.function, "malloc");
	assert_int_equal(p.plus, 0);
	assert_false(p.is_return);
	assert_int_equal(p.config, 0);
	p = parse("uprobe:/opt/a:b/lib.so:_ZN1a1bEv+0x1c");
	assert_string_equal(p.library, "/opt/a:b/lib.so");
	assert_string_equal(p.function, "_ZN1a1bEv");
	assert_int_equal(p.plus, 0x1c);
	assert_int_equal(parse("uprobe:x:f+12").plus, 12);
	assert_int_equal(parse("uprobe:x:f+012").plus, 12);
}

static void a_return(void **state)
{
	struct uprobe p = parse("uretprobe:libc.so.6:malloc");

	(void)state;
	assert_true(p.is_return);
	assert_int_equal(p.config, 1);
	sysfs.format = "config:17\n";
	assert_int_equal(parse("uretprobe:x:f").config, 1 << 17);
	assert_int_equal(parse("uprobe:x:f").config, 0);
}

static void which_names_are_probes(void **state)
{
	(void)state;
	assert_true(uprobe_is_name("uprobe:"));
	assert_true(uprobe_is_name("uretprobe:x"));
	assert_false(uprobe_is_name("uprobes:x"));
	assert_false(uprobe_is_name("sched:uprobe:"));
	assert_false(uprobe_is_name("cpu"));
}

static void malformed(void **state)
{
	static const char *const names[] = { "uprobe:",		"uprobe:lib",
					     "uprobe::f",	"uprobe:lib:",
					     "uprobe:lib:+4",	"uprobe:lib:f+",
					     "uprobe:lib:f+x",	"uprobe:lib:f+-1",
					     "uprobe:lib:f+4y", "uretprobe:lib:f+4" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct uprobe probe;
		struct err err = { 0 };

		if (uprobe_parse(names[i], &probe, &err) != -EINVAL)
			fail_msg("'%s' was taken", names[i]);
		assert_non_null(strstr(err.hint, "uprobe:LIB:FUNC"));
	}
}

static void a_kernel_without(void **state)
{
	struct uprobe probe;
	struct err err = { 0 };

	(void)state;
	sysfs.absent = true;
	assert_int_equal(uprobe_parse("uprobe:x:f", &probe, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "no uprobes"));
	assert_non_null(strstr(err.hint, "CONFIG_UPROBE_EVENTS"));
	sysfs.absent = false;
	sysfs.format = "config2:0\n";
	assert_int_equal(uprobe_parse("uprobe:x:f", &probe, &err), -EOPNOTSUPP);
	sysfs.format = "config:64\n";
	assert_int_equal(uprobe_parse("uprobe:x:f", &probe, &err), -EOPNOTSUPP);
}

static void what_perf_is_told(void **state)
{
	const struct uprobe probe = {
		.path = "/lib/x.so", .offset = 0x4560, .type = 8, .config = 2
	};
	struct perf_event_attr attr = { 0 };

	(void)state;
	uprobe_fill_attr(&probe, &attr);
	assert_ptr_equal((const char *)(uintptr_t)attr.config1, probe.path);
	assert_int_equal(attr.type, 8);
	assert_int_equal(attr.config, 2);
	assert_int_equal(attr.config2, 0x4560);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_call),	 TEST(a_return),	 TEST(which_names_are_probes),
		TEST(malformed), TEST(a_kernel_without), TEST(what_perf_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
