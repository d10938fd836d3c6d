// SPDX-License-Identifier: Apache-2.0
/* What -e says of the kernel's functions and of probes that programs have in themselves. */
#include "fake_sysfs.h"

#include "base/macros.h"
#include "capture/probes/kprobe.h"
#include "capture/probes/usdt.h"

static const struct sysfs_file whole[] = {
	{ "kprobe/type", "6\n" }, { "kprobe/format/retprobe", "config:3\n" },
	{ "uprobe/type", "8\n" }, { "uprobe/format/ref_ctr_offset", "config:32-63\n" },
	{ NULL, NULL },
};
static const struct sysfs_file others[] = {
	{ "kprobe/type", "6\n" }, { "kprobe/format/retprobe", "config1:0\n" },
	{ "uprobe/type", "8\n" }, { "uprobe/format/ref_ctr_offset", "config:0-31\n" },
	{ NULL, NULL },
};
static const struct sysfs_file typeless[] = { { "kprobe/format/retprobe", "config:3\n" },
					      { "uprobe/format/ref_ctr_offset", "config:32-63\n" },
					      { NULL, NULL } };
static const struct sysfs_file none[] = { { NULL, NULL } };

static int setup(void **state)
{
	(void)state;
	sysfs_files = whole;
	return 0;
}

/* --- kprobes --- */

static struct kprobe kprobe(const char *name)
{
	struct kprobe probe;
	struct err err = { 0 };

	if (kprobe_parse(name, &probe, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(probe.type, 6);
	return probe;
}

static void functions_of_the_kernel(void **state)
{
	struct kprobe p = kprobe("kprobe:vfs_read");

	(void)state;
	assert_string_equal(p.function, "vfs_read");
	assert_int_equal(p.plus, 0);
	assert_int_equal(p.config, 0);
	assert_false(p.is_return);
	p = kprobe("kprobe:f.isra.0+0x1c");
	assert_string_equal(p.function, "f.isra.0");
	assert_int_equal(p.plus, 0x1c);
	assert_int_equal(kprobe("kprobe:f+12").plus, 12);
	p = kprobe("kretprobe:vfs_read");
	assert_true(p.is_return);
	assert_int_equal(p.config, 1 << 3);
	assert_true(kprobe_is_name("kprobe:"));
	assert_true(kprobe_is_name("kretprobe:x"));
	assert_false(kprobe_is_name("kprobes:x"));
	assert_false(kprobe_is_name("uprobe:x"));
}

static void no_functions(void **state)
{
	static const char *const bad[] = {
		"kprobe:",     "kprobe:+4",  "kprobe:f+",  "kprobe:f+x",  "kprobe:f+0x",
		"kprobe:f+-1", "kprobe:f 1", "kprobe:a/b", "kprobe:f+4:", "kretprobe:f+4"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct kprobe probe;
		struct err err = { 0 };

		if (kprobe_parse(bad[i], &probe, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.hint, "kprobe:FUNC"));
	}
}

static void kernels_without(void **state)
{
	static const struct sysfs_file *const kernels[] = { none, typeless, others };
	struct kprobe kernel;
	struct usdt usdt;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		sysfs_files = kernels[i];
		err = (struct err){ 0 };
		assert_int_equal(kprobe_parse("kprobe:f", &kernel, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "no kprobes"));
		assert_non_null(strstr(err.hint, "CONFIG_KPROBE_EVENTS"));
		assert_int_equal(usdt_parse("usdt:l:p:n", &usdt, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "no uprobes with semaphores"));
	}
}

static void what_perf_is_told_of_functions(void **state)
{
	const struct kprobe probe = { .function = "vfs_read", .plus = 7, .type = 6, .config = 8 };
	struct perf_event_attr attr = { 0 };

	(void)state;
	kprobe_fill_attr(&probe, &attr);
	assert_ptr_equal((const char *)(uintptr_t)attr.kprobe_func, probe.function);
	assert_int_equal(attr.probe_offset, 7);
	assert_int_equal(attr.type, 6);
	assert_int_equal(attr.config, 8);
}

/* --- USDT --- */

static struct usdt usdt(const char *name)
{
	struct usdt probe;
	struct err err = { 0 };

	if (usdt_parse(name, &probe, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(probe.type, 8);
	assert_int_equal(probe.count, 0);
	return probe;
}

static void probes_of_programs(void **state)
{
	struct usdt p = usdt("usdt:libjvm.so:hotspot:gc__begin");

	(void)state;
	assert_string_equal(p.library, "libjvm.so");
	assert_string_equal(p.provider, "hotspot");
	assert_string_equal(p.name, "gc__begin");
	p = usdt("usdt:/opt/a:b/x,y.so:p:n");
	assert_string_equal(p.library, "/opt/a:b/x,y.so");
	assert_string_equal(p.provider, "p");
	assert_string_equal(p.name, "n");
	assert_true(usdt_is_name("usdt:"));
	assert_false(usdt_is_name("usdts:x"));
}

static void no_probes(void **state)
{
	static const char *const bad[] = { "usdt:",	"usdt:lib",    "usdt:lib:p",
					   "usdt::p:n", "usdt:lib::n", "usdt:lib:p:" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct usdt probe;
		struct err err = { 0 };

		if (usdt_parse(bad[i], &probe, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.hint, "usdt:LIB:PROVIDER:NAME"));
	}
}

static void what_perf_is_told_of_places(void **state)
{
	static const struct usdt probe = { .path = "/lib/x.so",
					   .type = 8,
					   .places = { { 0x10, 0 }, { 0x20, 0x87654321 } } };
	struct perf_event_attr attr = { 0 };

	(void)state;
	usdt_fill_attr(&probe, 1, &attr);
	assert_ptr_equal((const char *)(uintptr_t)attr.uprobe_path, probe.path);
	assert_int_equal(attr.type, 8);
	assert_int_equal(attr.probe_offset, 0x20);
	assert_int_equal(attr.config, 0x8765432100000000);
	usdt_fill_attr(&probe, 0, &attr);
	assert_int_equal(attr.probe_offset, 0x10);
	assert_int_equal(attr.config, 0);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_of_the_kernel),
		TEST(no_functions),
		TEST(kernels_without),
		TEST(what_perf_is_told_of_functions),
		TEST(probes_of_programs),
		TEST(no_probes),
		TEST(what_perf_is_told_of_places),
	};

	return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
