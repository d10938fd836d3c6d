// SPDX-License-Identifier: Apache-2.0
/* Events of PMUs: fields, their places in the kernel's words, and names that PMUs give them. */
#include "fake_sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/event.h"
#include "capture/events/pmu_event.h"

/* As an Intel core has them, and one field that is in three pieces. */
static const struct sysfs_file core[] = {
	{ "cpu/type", "4\n" },
	{ "cpu/format/event", "config:0-7\n" },
	{ "cpu/format/umask", "config:8-15\n" },
	{ "cpu/format/edge", "config:18\n" },
	{ "cpu/format/cmask", "config:24-31\n" },
	{ "cpu/format/ldlat", "config1:0-15\n" },
	{ "cpu/format/all", "config2:0-63\n" },
	{ "cpu/format/pieces", "config:0-3,16-17,63\n" },
	{ "cpu/format/odd", "config9:0-3\n" },
	{ "cpu/events/cache-misses", "event=0x2e,umask=0x41\n" },
	{ "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3" },
	{ "cpu/events/wants", "event=?,umask=1\n" },
	{ "cpu/events/nested", "mem-loads\n" },
	{ "software/type", "1\n" },
	{ "tracepoint/type", "2\n" },
	{ "breakpoint/type", "5\n" },
	{ NULL, NULL },
};

/* There are counters. */
int access(const char *path, int mode)
{
	return strcmp(path, PMU_SYSFS "/cpu") ? faccessat(AT_FDCWD, path, mode, 0) : 0;
}

static int setup(void **state)
{
	(void)state;
	sysfs_files = core;
	return 0;
}

static struct pmu_event parse(const char *name)
{
	struct pmu_event event;
	struct err err = { 0 };

	if (pmu_event_parse(name, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(event.type, 4);
	return event;
}

static void fields(void **state)
{
	struct pmu_event event = parse("cpu/event=0x3c,umask=0x1/");

	(void)state;
	assert_int_equal(event.configs[0], 0x13c);
	assert_int_equal(event.configs[1], 0);
	assert_int_equal(event.period, 0);
	assert_int_equal(parse("cpu/event=60/").configs[0], 60);
	assert_int_equal(parse("cpu/event=0x3c,edge/").configs[0], 0x4003c);
	assert_int_equal(parse("cpu/edge=0,cmask=255/").configs[0], 0xff000000);
	/* The last one counts. */
	assert_int_equal(parse("cpu/event=0xff,event=0x1/").configs[0], 1);
	event = parse("cpu/ldlat=65535,all=0xffffffffffffffff/");
	assert_int_equal(event.configs[0], 0);
	assert_int_equal(event.configs[1], 65535);
	assert_int_equal(event.configs[2], UINT64_MAX);
}

static void whole_words(void **state)
{
	struct pmu_event event = parse("cpu/config=0x1,config1=0x22,config2=0x333,period=100000/");

	(void)state;
	assert_int_equal(event.configs[0], 1);
	assert_int_equal(event.configs[1], 0x22);
	assert_int_equal(event.configs[2], 0x333);
	assert_int_equal(event.period, 100000);
}

static void names(void **state)
{
	struct pmu_event event = parse("cpu/mem-loads/");

	(void)state;
	assert_int_equal(event.configs[0], 0x1cd);
	assert_int_equal(event.configs[1], 3);
	assert_int_equal(parse("cpu/cache-misses/").configs[0], 0x412e);
	/* What follows counts. */
	assert_int_equal(parse("cpu/mem-loads,ldlat=30/").configs[1], 30);
}

static void expect(const char *name, int error, const char *sentence)
{
	struct pmu_event event = { .type = 77 };
	struct err err = { 0 };

	if (pmu_event_parse(name, &event, &err) != error || !strstr(err.text, sentence))
		fail_msg("%s: %d, %s", name, err.code, err.text);
	assert_int_equal(event.type, 77);
}

static void refused(void **state)
{
	static const char *const malformed[] = {
		"cpu/",		 "cpu//",	"/event=1/", "cpu/event=1",	 "cpu/event=1/x",
		"cpu/event=1//", "../cpu/a=1/", "./a=1/",    "software/config/", "tracepoint/id=1/",
		"breakpoint/x/",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++)
		expect(malformed[i], -EINVAL, "is no event of a PMU");
	expect("uncore/event=1/", -ENOENT, "no PMU 'uncore'");
	expect("cpu/nothing=1/", -EINVAL, "neither a field nor an event 'nothing'");
	expect("cpu/nothing/", -EINVAL, "neither a field nor an event 'nothing'");
	expect("cpu/../type/", -EINVAL, "is no event of a PMU");
	expect("cpu/..=1/", -EINVAL, "neither");
	expect("cpu/nested/", -EINVAL, "'mem-loads'");
	expect("cpu/event=256/", -EINVAL, "event goes up to 0xff");
	expect("cpu/edge=2/", -EINVAL, "edge goes up to 0x1");
	expect("cpu/event=/", -EINVAL, "'' is no number for event");
	expect("cpu/event=-1/", -EINVAL, "'-1' is no number");
	expect("cpu/event=0x/", -EINVAL, "is no number");
	expect("cpu/event=1z/", -EINVAL, "is no number");
	expect("cpu/event=0x10000000000000000/", -EINVAL, "is no number");
	expect("cpu/period=0/", -EINVAL, "neither");
	expect("cpu/odd=1/", -EINVAL, "format of 'odd'");
	expect("cpu/wants/", -EINVAL, "'?' is no number for event");
}

static struct capture_event parse_event(const char *name, const char *its_name)
{
	struct capture_event event;
	struct err err = { 0 };

	if (capture_event_parse(name, 99, &event, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_string_equal(event.name, its_name);
	assert_int_equal(event.type, 4);
	assert_string_equal(event.unit, "count");
	assert_false(event.fell_back);
	return event;
}

static void as_events(void **state)
{
	struct capture_event event =
		parse_event("cpu/event=0x3c,ldlat=7,all=9/", "cpu/event=0x3c,ldlat=7,all=9/");

	(void)state;
	assert_int_equal(event.config, 0x3c);
	assert_int_equal(event.more_configs[0], 7);
	assert_int_equal(event.more_configs[1], 9);
	assert_int_equal(event.period, 0);
	assert_int_equal(event.freq_hz, 99);
	event = parse_event("cpu/event=0x3c,period=500/", "cpu/event=0x3c,period=500/");
	assert_int_equal(event.period, 500);
	assert_int_equal(event.freq_hz, 0);
	event = parse_event("cpu/event=0x3c,period=500/=1k", "cpu/event=0x3c,period=500/");
	assert_int_equal(event.period, 1000);
}

static void pieces(void **state)
{
	struct pmu_field field;
	uint64_t configs[PMU_CONFIGS] = { 0xffff0000, 7, 7 };

	(void)state;
	assert_int_equal(pmu_field_find("cpu", "pieces", &field), 0);
	assert_int_equal(field.config, 0);
	assert_int_equal(field.mask, 1ULL << 63 | 3ULL << 16 | 0xf);
	assert_int_equal(pmu_field_limit(&field), 0x7f);
	pmu_field_put(&field, 0x55, configs);
	assert_int_equal(configs[0], 1ULL << 63 | 0xfffd0005);
	assert_int_equal(configs[1], 7);
	assert_int_equal(pmu_field_find("cpu", "no", &field), -ENOENT);
	assert_int_equal(pmu_field_find("cpu", "odd", &field), -EBADMSG);
}

static void formats(void **state)
{
	static const char *const bad[] = { "",
					   "config",
					   "config:",
					   "config:64",
					   "config:7-0",
					   "config:-3",
					   "config:0-",
					   "config:0,",
					   "config3:0",
					   "config:0 ",
					   "config:0-7x",
					   "umask:0-7",
					   "config:0-18446744073709551616" };
	struct pmu_field field = { 9, 9 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (pmu_field_parse(bad[i], &field) != -EBADMSG)
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(field.mask, 9);
	assert_int_equal(pmu_field_parse("config1:32-63\n", &field), 0);
	assert_int_equal(field.config, 1);
	assert_int_equal(field.mask, 0xffffffff00000000);
	assert_int_equal(pmu_field_parse("config2:0-63", &field), 0);
	assert_int_equal(field.mask, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fields, setup),
		cmocka_unit_test_setup(whole_words, setup),
		cmocka_unit_test_setup(names, setup),
		cmocka_unit_test_setup(refused, setup),
		cmocka_unit_test_setup(as_events, setup),
		cmocka_unit_test_setup(pieces, setup),
		cmocka_unit_test_setup(formats, setup),
	};

	return cmocka_run_group_tests_name("pmu_event", tests, NULL, NULL);
}
